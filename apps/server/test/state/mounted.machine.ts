/**
 * A state file that is mounted as a single file, as containers do, so the system does not let another file replace it. Needs Linux and
 * root.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { run } from "../cli/berthServer.ts"

const folder = mkdtempSync(join(tmpdir(), "berth-mounted-"))
const file = join(folder, "state.json")
const source = join(folder, "source")

beforeAll(() => {
  for (const path of [file, source]) writeFileSync(path, "")
  execFileSync("mount", ["--bind", source, file])
})
afterAll(() => {
  execFileSync("umount", [file])
  rmSync(folder, { recursive: true })
})

it.live("is refused in a sentence that says what to mount, and nothing is left beside it", () =>
  Effect.gen(function* () {
    const { code, stderr } = yield* run(["--port", "0", "--state", file])
    expect([code, stderr]).toEqual([
      2,
      `berth-server: cannot write the state file ${file}: it is mounted by itself and cannot be replaced; mount its directory instead\n`
    ])
    expect(readdirSync(folder).toSorted()).toEqual(["source", "state.json", "state.json.lock"])
    expect(readFileSync(file, "utf8")).toBe("")
  })
)
