/** What processes share through the allowance file, and what happens if the file is corrupt, wrong or unreachable. */
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import * as AllowanceFile from "../../../src/client/allowance/AllowanceFile.ts"
import { onClockAhead, type SharedAllowance } from "../../../src/client/allowance/AllowanceStore.ts"
import { share } from "../../../src/client/allowance/OwnProcesses.ts"
import { bootClock } from "../../../src/client/files/Boot.ts"
import { stampNow } from "../../../src/client/files/Stamp.ts"
import { monotonicMillis } from "../../../src/client/time/Monotonic.ts"
import { steps } from "../../steppingClock.ts"
import { knowing, makeEstimate } from "./storeContract.ts"

/** The content of the file. */
type Kept = SharedAllowance & { readonly bootMillis: number; readonly bootClock: string }

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "berth-allowance-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

/** Shares an estimate for a moment; returns the estimate at the start, and the log. */
const shareOnce = (path: string, estimate = makeEstimate()) =>
  Effect.gen(function* () {
    const logged: Array<string> = []
    const state = yield* AllowanceFile.make(path).pipe(
      Effect.flatMap((store) => share(store, estimate)),
      Effect.andThen(Effect.sync(estimate.get)),
      Effect.scoped,
      Effect.provide(Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))]))
    )
    return { state, logged }
  })

const informed = knowing(7)

const modeOf = (path: string) => Effect.promise(async () => (await stat(path)).mode & 0o777)

describe("an allowance file", () => {
  it.live("shares what is left with later processes, readable by the user alone", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "state", "account", "allowance.json")
      yield* shareOnce(path, yield* informed)
      const { logged, state } = yield* shareOnce(path)
      assert.deepInclude(state.report, { limit: 10, remaining: 7 })
      assert.deepStrictEqual(logged, [])
      assert.strictEqual(yield* modeOf(path), 0o600)
      for (const made of [dirname(path), dirname(dirname(path)), `${path}.members`]) {
        assert.strictEqual(yield* modeOf(made), 0o700)
      }
    })
  )

  it.live("does not replace a link to a file", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const path = join(place, "allowance.json")
      yield* Effect.promise(async () => {
        await writeFile(join(place, "notes"), "mine")
        await symlink(join(place, "notes"), path)
      })
      const { logged } = yield* shareOnce(path, yield* informed)
      assert.isTrue(yield* Effect.promise(async () => (await lstat(path)).isSymbolicLink()))
      assert.strictEqual(yield* Effect.promise(() => readFile(join(place, "notes"), "utf8")), "mine")
      assert.lengthOf(logged, 1)
    })
  )

  it.live("does not put its folder where a link leads", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const path = join(place, "allowance.json")
      yield* Effect.promise(async () => {
        await mkdir(join(place, "elsewhere"))
        await symlink(join(place, "elsewhere"), `${path}.members`)
      })
      const { logged } = yield* shareOnce(path, yield* informed)
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(join(place, "elsewhere"))), [])
      assert.lengthOf(logged, 1)
      assert.include(logged[0]!, "is a link")
    })
  )

  const foreign: ReadonlyArray<readonly [what: string, text: string, why: string]> = [
    ["of a later version", '{"version":2,"reports":[]}', "a later version of Berth wrote it"],
    ["of another program", '{"name":"settings"}', "it is not an allowance file; remove it, or name another"],
    ["that is a list", "[1]", "it is not an allowance file; remove it, or name another"],
    ["of text", "to do: water the plants", "it is not an allowance file; remove it, or name another"]
  ]
  for (const [what, text, why] of foreign) {
    it.live(`${what} is not touched, and reported once`, () =>
      Effect.gen(function* () {
        const place = yield* folder
        const path = join(place, "allowance.json")
        yield* Effect.promise(() => writeFile(path, text))
        const { logged, state } = yield* shareOnce(path, yield* informed)
        assert.deepStrictEqual(logged, [
          `Cannot share the allowance through ${path} (${why}): this client relies only on its own replies.`
        ])
        assert.deepInclude(state.report, { remaining: 7 })
        assert.strictEqual(yield* Effect.promise(() => readFile(path, "utf8")), text)
        assert.deepStrictEqual(yield* Effect.promise(() => readdir(place)), ["allowance.json"])
      })
    )
  }

  for (const text of ["", " \n", "\0\0\0\0", '{"vers', '{"version":1,"writtenAt":17900', '{"version":1,"report":7}']) {
    it.live(`of ours that a power failure cut off to ${JSON.stringify(text)} is replaced`, () =>
      Effect.gen(function* () {
        const path = join(yield* folder, "allowance.json")
        yield* Effect.promise(() => writeFile(path, text))
        yield* shareOnce(path, yield* informed)
        const { logged, state } = yield* shareOnce(path)
        assert.deepInclude(state.report, { limit: 10, remaining: 7 })
        assert.deepStrictEqual(logged, [])
      })
    )
  }

  /** Changes the file after one process has written it and before another one reads it. */
  const changed = Effect.fnUntraced(function* (change: (kept: Kept) => Kept) {
    const path = join(yield* folder, "allowance.json")
    const writer = yield* informed
    yield* shareOnce(path, writer)
    yield* Effect.promise(async () =>
      writeFile(path, JSON.stringify(change(JSON.parse(await readFile(path, "utf8")) as Kept)))
    )
    const { state } = yield* shareOnce(path)
    return { written: writer.get(), read: state }
  })

  /** The same content as a process writes it whose wall clock is this far ahead. */
  const ahead = (millis: number) => (kept: Kept) => ({ ...kept, ...onClockAhead(kept, millis) })

  for (const [name, millis] of steps) {
    it.live(`has the same instants after a step of the wall clock by ${name}, and makes one request ask`, () =>
      Effect.gen(function* () {
        const { read, written } = yield* changed(ahead(-millis))
        for (const instant of ["sentAt", "receivedAt", "resetBy", "resetAround"] as const) {
          assert.closeTo(read.report![instant], written.report![instant], 1, instant)
        }
        assert.isAtMost(read.report!.askBy, yield* monotonicMillis)
      })
    )
  }

  it.live("is believed as written without a step", () =>
    Effect.gen(function* () {
      const { read } = yield* changed((kept) => kept)
      assert.isAbove(read.report!.askBy, yield* monotonicMillis)
    })
  )

  it.live("of another boot is read by the wall clock, without the service's clock", () =>
    Effect.gen(function* () {
      const { read, written } = yield* changed((kept) => ({
        ...ahead(-60_000)(kept),
        bootClock: "another",
        bootMillis: 5,
        clock: { minAheadMillis: 0, maxAheadMillis: 1000 }
      }))
      assert.closeTo(read.report!.receivedAt, written.report!.receivedAt - 60_000, 100)
      assert.isUndefined(read.clock)
    })
  )

  it.live("of another boot is too old after a day", () =>
    Effect.gen(function* () {
      const { read } = yield* changed((kept) => ({ ...ahead(-87_000_000)(kept), bootClock: "another" }))
      assert.isUndefined(read.report)
    })
  )

  it.live("is not written by a process that has nothing to add", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "allowance.json")
      yield* shareOnce(path, yield* informed)
      // Each write replaces the file, so the inode shows whether there was a write.
      const written = Effect.promise(async () => (await stat(path)).ino)
      const before = yield* written
      yield* shareOnce(path)
      assert.strictEqual(yield* written, before)
      yield* shareOnce(path, yield* knowing(6))
      assert.notStrictEqual(yield* written, before)
    })
  )

  it.live("from the future is ignored, because the clock that wrote it was wrong", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "allowance.json")
      yield* shareOnce(path, yield* informed)
      const right = JSON.parse(yield* Effect.promise(() => readFile(path, "utf8")))
      const ahead = 10 * 365 * 86_400_000
      const wrong = {
        ...right,
        bootClock: "another boot",
        writtenAt: right.writtenAt + ahead,
        pausedUntil: right.writtenAt + ahead
      }
      yield* Effect.promise(() => writeFile(path, JSON.stringify(wrong)))
      assert.strictEqual((yield* shareOnce(path)).state.pausedUntil, 0)
      assert.strictEqual((yield* shareOnce(path)).state.pausedUntil, 0)
    })
  )

  it.live("does not count killed processes, for any time of their clocks", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "allowance.json")
      const members = `${path}.members`
      const now = yield* Effect.flatMap(bootClock, stampNow)
      const seenAfter = (millis: number, bootClock = now.bootClock) =>
        JSON.stringify({ wallMillis: now.wallMillis + millis, bootMillis: now.bootMillis + millis, bootClock })
      yield* Effect.promise(async () => {
        await mkdir(members, { recursive: true, mode: 0o700 })
        await writeFile(join(members, "1-alive"), seenAfter(-100))
        await writeFile(join(members, "2-killed"), seenAfter(-60_000))
        await writeFile(join(members, "3-ahead"), seenAfter(86_400_000, "another boot"))
        await writeFile(join(members, "5-garbage"), "null")
        await writeFile(join(members, "4-cut.new"), "{")
      })
      assert.strictEqual((yield* shareOnce(path)).state.ownProcesses.count, 1)
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(members)), ["1-alive"])
    })
  )

  it.live("that cannot be written is reported once, and the client continues without it", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "file")
      yield* Effect.promise(() => writeFile(file, ""))
      // The file is read when the exchange begins and when it ends, but there is only one warning.
      const { logged, state } = yield* shareOnce(join(file, "allowance.json"), yield* informed)
      assert.lengthOf(logged, 1)
      assert.match(logged[0]!, /allowance\.json \(ENOTDIR.*\): this client relies only on its own replies\.$/)
      assert.deepInclude(state.report, { remaining: 7 })
    })
  )
})
