import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { afterAll, describe, expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { claimState, loadState, pauseAfterSaveMillis } from "../../src/state/stateKeeper.ts"

it("a change that just missed a save is in the file within a second, where a save takes up to 400 ms", () => {
  const noticeMillis = 50
  for (const tookMillis of [0, 2, 50, 120, 250, 400]) {
    const waited = tookMillis + pauseAfterSaveMillis(tookMillis) + noticeMillis + tookMillis
    expect([tookMillis, waited]).toEqual([tookMillis, 850])
  }
  expect(pauseAfterSaveMillis(1_000)).toBe(0)
})

describe("a state file", () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-state-"))
  afterAll(() => rmSync(folder, { recursive: true }))

  it.effect("that is empty is a new state", () =>
    Effect.gen(function* () {
      const file = join(folder, "empty")
      writeFileSync(file, "")
      expect(Option.isNone(yield* loadState(file))).toBe(true)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("that is a link to nothing is refused, and the link stays", () =>
    Effect.gen(function* () {
      const file = join(folder, "link")
      symlinkSync(join(folder, "nowhere"), file)
      const { message } = yield* Effect.flip(Effect.scoped(claimState(file)))
      expect(message).toBe(`cannot use the state file ${file}: it is a link to a file that does not exist`)
      expect(readdirSync(folder).filter((name) => /lock|nowhere/.test(name))).toEqual([])
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("whose lock is another file is refused, and that file stays", () =>
    Effect.gen(function* () {
      const file = join(folder, "state")
      writeFileSync(`${file}.lock`, "notes".repeat(1000))
      const { message } = yield* Effect.flip(Effect.scoped(claimState(file)))
      expect(message).toBe(`cannot use the state file ${file}: ${file}.lock is not a lock: file is not a database`)
      expect(readFileSync(`${file}.lock`, "utf8")).toBe("notes".repeat(1000))
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
