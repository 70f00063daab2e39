/**
 * What processes leave each other in the allowance file, and what becomes of one that is damaged, wrong or out of reach.
 */
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import * as AllowanceFile from "../../../src/client/allowance/AllowanceFile.ts"
import { onClockAhead, type SharedAllowance } from "../../../src/client/allowance/AllowanceStore.ts"
import { share } from "../../../src/client/allowance/OwnProcesses.ts"
import { bootClock, stampNow } from "../../../src/client/files/Boot.ts"
import { monotonicMillis } from "../../../src/client/time/Monotonic.ts"
import { steps } from "../../steppingClock.ts"

/** The file, read. */
type Kept = SharedAllowance & { readonly bootMillis: number; readonly bootClock: string }
import * as Estimator from "../../../src/client/allowance/Estimator.ts"

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "berth-allowance-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

/** An estimate that nobody but the file tells anything. */
const makeEstimate = (state = Estimator.initial) => ({
  get: () => state,
  change: (change: (state: Estimator.State) => Estimator.State) => {
    state = change(state)
  }
})

/** Shares an estimate for a moment; gives what it was when it began, and what was logged. */
const shareOnce = (path: string, estimate = makeEstimate()) =>
  Effect.gen(function* () {
    const said: Array<string> = []
    const state = yield* AllowanceFile.make(path).pipe(
      Effect.flatMap((store) => share(store, estimate)),
      Effect.andThen(Effect.sync(estimate.get)),
      Effect.scoped,
      Effect.provide(Logger.layer([Logger.make(({ message }) => void said.push(String(message)))]))
    )
    return { state, said }
  })

/** An estimate after one reply that left so many of 10. */
const knowing = (remaining: number) =>
  Effect.map(monotonicMillis, (now) =>
    makeEstimate(
      Estimator.received(Estimator.sent(Estimator.initial, now), {
        ...Estimator.sending(Estimator.initial, now),
        receivedAt: now,
        refused: false,
        fault: false,
        retryAfterMillis: null,
        wallAheadMillis: 0,
        date: null,
        limit: 10,
        remaining,
        reset: 3600
      })
    )
  )

const informed = knowing(7)

const modeOf = (path: string) => Effect.promise(async () => (await stat(path)).mode & 0o777)

describe("an allowance file", () => {
  it.live("tells whoever begins later what is left, and is for the user alone", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "state", "account", "allowance.json")
      yield* shareOnce(path, yield* informed)
      const { said, state } = yield* shareOnce(path)
      assert.deepInclude(state.report, { limit: 10, remaining: 7 })
      assert.deepStrictEqual(said, [])
      assert.strictEqual(yield* modeOf(path), 0o600)
      for (const made of [dirname(path), dirname(dirname(path)), `${path}.members`]) {
        assert.strictEqual(yield* modeOf(made), 0o700)
      }
    })
  )

  it.live("takes the place of nothing that is no file: a device, or what leads to a file of somebody else", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const path = join(place, "allowance.json")
      yield* Effect.promise(async () => {
        await writeFile(join(place, "notes"), "mine")
        await symlink(join(place, "notes"), path)
      })
      const { said } = yield* shareOnce(path, yield* informed)
      assert.isTrue(yield* Effect.promise(async () => (await lstat(path)).isSymbolicLink()))
      assert.strictEqual(yield* Effect.promise(() => readFile(join(place, "notes"), "utf8")), "mine")
      assert.lengthOf(said, 1)
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
      const { said } = yield* shareOnce(path, yield* informed)
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(join(place, "elsewhere"))), [])
      assert.lengthOf(said, 1)
      assert.include(said[0]!, "is a link")
    })
  )

  const foreign: ReadonlyArray<readonly [what: string, text: string, why: string]> = [
    ["of a later version", '{"version":2,"reports":[]}', "a later version of Berth wrote it"],
    ["of another program", '{"name":"settings"}', "it is not an allowance file; remove it, or name another"],
    ["that is a list", "[1]", "it is not an allowance file; remove it, or name another"],
    ["of text", "to do: water the plants", "it is not an allowance file; remove it, or name another"]
  ]
  for (const [what, text, why] of foreign) {
    it.live(`${what} is left alone, and said once`, () =>
      Effect.gen(function* () {
        const place = yield* folder
        const path = join(place, "allowance.json")
        yield* Effect.promise(() => writeFile(path, text))
        const { said, state } = yield* shareOnce(path, yield* informed)
        assert.deepStrictEqual(said, [
          `The shared allowance at ${path} is done without (${why}): this client goes by its own replies.`
        ])
        assert.deepInclude(state.report, { remaining: 7 })
        assert.strictEqual(yield* Effect.promise(() => readFile(path, "utf8")), text)
        assert.deepStrictEqual(yield* Effect.promise(() => readdir(place)), ["allowance.json"])
      })
    )
  }

  for (const text of ["", " \n", "\0\0\0\0", '{"vers', '{"version":1,"writtenAt":17900', '{"version":1,"report":7}']) {
    it.live(`of ours that a power failure left as ${JSON.stringify(text)} is replaced`, () =>
      Effect.gen(function* () {
        const path = join(yield* folder, "allowance.json")
        yield* Effect.promise(() => writeFile(path, text))
        yield* shareOnce(path, yield* informed)
        const { said, state } = yield* shareOnce(path)
        assert.deepInclude(state.report, { limit: 10, remaining: 7 })
        assert.deepStrictEqual(said, [])
      })
    )
  }

  /** What one process wrote, changed before another reads it. */
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

  /** The same, as a wall clock so far ahead would have had it. */
  const ahead = (millis: number) => (kept: Kept) => ({ ...kept, ...onClockAhead(kept, millis) })

  for (const [name, millis] of steps) {
    it.live(`says the same instants after a step of the wall clock by ${name}, and that one has to ask`, () =>
      Effect.gen(function* () {
        const { read, written } = yield* changed(ahead(-millis))
        for (const instant of ["sentAt", "receivedAt", "resetBy", "resetAround"] as const) {
          assert.closeTo(read.report![instant], written.report![instant], 1, instant)
        }
        assert.isAtMost(read.report!.askBy, yield* monotonicMillis)
      })
    )
  }

  it.live("without a step is believed as it is told", () =>
    Effect.gen(function* () {
      const { read } = yield* changed((kept) => kept)
      assert.isAbove(read.report!.askBy, yield* monotonicMillis)
    })
  )

  it.live("of another boot goes by the wall clock, and tells nothing of the service's", () =>
    Effect.gen(function* () {
      const { read, written } = yield* changed((kept) => ({
        ...ahead(-60_000)(kept),
        bootClock: "another",
        bootMillis: 5,
        clock: { aheadAtLeastMillis: 0, aheadAtMostMillis: 1000 }
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

  it.live("of an older version, which has no stamps, is read by the wall clock", () =>
    Effect.gen(function* () {
      const { read } = yield* changed((kept) =>
        JSON.parse(JSON.stringify({ ...kept, bootClock: undefined, bootMillis: undefined }))
      )
      assert.deepInclude(read.report, { limit: 10, remaining: 7 })
    })
  )

  it.live("is left as it is by whoever has nothing to add", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "allowance.json")
      yield* shareOnce(path, yield* informed)
      // Whoever writes replaces it.
      const written = Effect.promise(async () => (await stat(path)).ino)
      const before = yield* written
      yield* shareOnce(path)
      assert.strictEqual(yield* written, before)
      yield* shareOnce(path, yield* knowing(6))
      assert.notStrictEqual(yield* written, before)
    })
  )

  it.live("from the future tells nothing, for the clock that wrote it was wrong", () =>
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

  it.live("forgets the processes that ended without a word, whatever their clock said", () =>
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

  it.live("that cannot be written is told once, and done without", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "file")
      yield* Effect.promise(() => writeFile(file, ""))
      // It is looked at when sharing begins and when it ends.
      const { said, state } = yield* shareOnce(join(file, "allowance.json"), yield* informed)
      assert.lengthOf(said, 1)
      assert.match(said[0]!, /allowance\.json is done without \(ENOTDIR.*\): this client goes by its own replies\.$/)
      assert.deepInclude(state.report, { remaining: 7 })
    })
  )
})
