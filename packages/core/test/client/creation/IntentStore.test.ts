/**
 * The folder of intents: who may use it, what holds up whom, and what is cleaned away.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises"
import { hostname, tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Option } from "effect"
import type { Intent } from "../../../src/client/creation/Intent.ts"
import { IntentStore, layerDirectory } from "../../../src/client/creation/IntentStore.ts"
import { NodeId } from "../../../src/domain/Node.ts"

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "berth-intents-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

/** The store that a process has of a folder. */
const storeOf = (path: string) =>
  Effect.flatMap(IntentStore, Effect.fromNullishOr).pipe(
    Effect.provide(Layer.provide(layerDirectory(path), NodeServices.layer))
  )

const intent = (key: string, nodeId: number | null = null): Intent => ({
  key,
  name: "web",
  plan: "P",
  image: "I",
  newerThan: 7,
  sentAtMillis: 0,
  serviceTimeMillis: 0,
  nodeId: nodeId === null ? null : NodeId.make(nodeId)
})

const modeOf = (path: string) => Effect.promise(async () => (await stat(path)).mode & 0o777)
const namesIn = (path: string) => Effect.promise(async () => (await readdir(path)).toSorted())

/** Number of a process that has ended. */
const endedProcess = Effect.promise(async () => {
  const child = spawn(process.execPath, ["-e", "0"])
  await once(child, "exit")
  return child.pid!
})

/** What a process leaves in the folder that is killed while it holds a key. */
const leaveHold = (path: string, key: string, holder: { host?: string; pid: number; forMillis?: number }) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.promise(() => {
      const { forMillis = 60_000, host = hostname(), pid } = holder
      return writeFile(join(path, `${key}.hold`), JSON.stringify({ host, pid, untilMillis: now + forMillis }))
    })
  )

describe("a folder of intents", () => {
  it.live("is for the user alone", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "account", "intents")
      const store = yield* storeOf(path)
      yield* store.save(intent("job"))
      const found = yield* store.holding("job", Number.POSITIVE_INFINITY)(namesIn(path))
      assert.deepStrictEqual(found, ["job.hold", "job.json"])
      assert.strictEqual(yield* modeOf(path), 0o700)
      assert.strictEqual(yield* modeOf(join(path, "job.json")), 0o600)
      assert.deepStrictEqual(yield* namesIn(path), ["job.json"])
    })
  )

  it.live("that cannot be made fails at once, and says which", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "file")
      yield* Effect.promise(() => writeFile(file, ""))
      const { _tag, message } = yield* Effect.flip(storeOf(join(file, "intents")))
      assert.strictEqual(_tag, "IntentStoreFailed")
      assert.include(message, join(file, "intents"))
    })
  )

  it.live("names the intent that is damaged to whoever asks for it, and gives the others to the rest", () =>
    Effect.gen(function* () {
      const path = yield* folder
      yield* Effect.promise(() => writeFile(join(path, "job.json"), "{"))
      const store = yield* storeOf(path)
      yield* store.save(intent("other"))
      assert.strictEqual((yield* Effect.flip(store.find("job"))).detail, `${join(path, "job.json")} is damaged`)
      assert.deepStrictEqual(
        (yield* store.all).map(({ key }) => key),
        ["other"]
      )
    })
  )

  it.live("keeps the intents under a caller's key, and of the rest nothing that is older than a day", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const old = ["job.json", "job.json.new", "job.hold", "_drawn.json", "job.hold.ended-1"]
      const twoDaysAgo = (yield* Clock.currentTimeMillis) / 1000 - 2 * 86_400
      yield* Effect.promise(async () => {
        for (const name of [...old, "_young.json", "young.hold"]) await writeFile(join(path, name), "")
        for (const name of old) await utimes(join(path, name), twoDaysAgo, twoDaysAgo)
      })
      yield* storeOf(path)
      assert.deepStrictEqual(yield* namesIn(path), ["_young.json", "job.json", "young.hold"])
    })
  )

  it.live("gives out, once, what processes that were killed were at without a key", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const store = yield* storeOf(path)
      yield* store.save(intent("_killed"))
      yield* leaveHold(path, "_killed", { pid: yield* endedProcess })
      yield* store.save(intent("job"))
      yield* store.save(intent("_running"))
      const taken = yield* store.holding("_running", Number.POSITIVE_INFINITY)(store.takeAbandoned)
      assert.deepStrictEqual(taken, [intent("_killed")])
      assert.deepStrictEqual(yield* namesIn(path), ["_running.json", "job.json"])
    })
  )
})

describe("a key that is held", () => {
  it.live("is waited for, also by another client of the same folder", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const [one, other] = [yield* storeOf(path), yield* storeOf(path)]
      let running = 0
      const alone = Effect.gen(function* () {
        assert.strictEqual(++running, 1)
        yield* Effect.sleep(50)
        running--
      })
      const until = (yield* Clock.currentTimeMillis) + 60_000
      yield* Effect.all([one.holding("job", until)(alone), other.holding("job", until)(alone)], {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(yield* namesIn(path), [])
    })
  )

  it.live("is free when its process has ended, or its time is up", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const store = yield* storeOf(path)
      const pid = yield* endedProcess
      for (const [holder, isFree] of [
        [{ pid }, true],
        [{ pid: process.pid }, false],
        [{ pid: process.pid, forMillis: -10_000 }, true],
        [{ pid, host: "elsewhere" }, false],
        [{ pid, host: "elsewhere", forMillis: -10_000 }, true]
      ] as const) {
        yield* leaveHold(path, "job", holder)
        const until = (yield* Clock.currentTimeMillis) + 60_000
        const held = yield* Effect.timeoutOption(store.holding("job", until)(Effect.void), 1000)
        assert.strictEqual(Option.isSome(held), isFree, JSON.stringify(holder))
      }
    })
  )

  it.live("whose process was killed while it wrote that down is free a moment later", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const store = yield* storeOf(path)
      yield* Effect.promise(() => mkdir(path, { recursive: true }))
      yield* Effect.promise(() => writeFile(join(path, "job.hold"), ""))
      const until = (yield* Clock.currentTimeMillis) + 60_000
      const job = store.holding("job", until)(Effect.void)
      assert.isTrue(Option.isNone(yield* Effect.timeoutOption(job, 500)))
      yield* job
    })
  )
})
