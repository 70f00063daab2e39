/**
 * The folder of intents: who may use it, what is removed, and what is left alone.
 */
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile
} from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Program } from "@berthkit/testing/Program"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Logger, Option } from "effect"
import { TestClock } from "effect/testing"
import { type Intent, IntentStore } from "../../../src/client/creation/IntentStore.ts"
import { layerDirectory, makeDirectory } from "../../../src/client/creation/IntentFolder.ts"
import { nameOf, self } from "../../../src/client/creation/KeyLock.ts"
import { besideOf } from "../../../src/client/creation/Reconciliation.ts"
import { NodeId } from "../../../src/domain/Node.ts"
import { intent, sentAt } from "./intent.ts"
import { intentContract } from "./intentContract.ts"

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "berth-intents-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

/** The store that a process has in a folder. */
const storeOf = (path: string) =>
  Effect.flatMap(IntentStore, Effect.fromNullishOr).pipe(Effect.provide(layerDirectory(path), { local: true }))

/** The folder of the intents whose nodes are not known. */
const openIn = (path: string) => join(path, "open")

const modeOf = (path: string) => Effect.promise(async () => (await stat(path)).mode & 0o777)
const namesIn = (path: string) => Effect.promise(async () => (await readdir(path)).toSorted())
const write = (path: string, text: string) => Effect.promise(() => writeFile(path, text, { mode: 0o600 }))

/** The number of a process that has ended. */
const endedProcess = Effect.promise(async () => {
  const { child, ended } = new Program(process.execPath, ["-e", "0"])
  await ended
  return child.pid!
})

/** Runs an effect and returns the warnings that it logged. */
const warningsOf = <A, E, R>(effect: Effect.Effect<A, E, R>) => {
  const warnings: Array<string> = []
  const logger = Logger.make(({ message }) => void warnings.push(String(message)))
  return Effect.as(Effect.provide(effect, Logger.layer([logger])), warnings)
}

intentContract(
  "a folder",
  Effect.map(folder, (path) => ({
    open: Effect.sync(() => makeDirectory(path)),
    words: ["folder", path],
    // Takes the lock like a process of another machine, which concludes after a minute that the owner has ended.
    takeOver: (_, key) =>
      Effect.promise(async () => {
        const lock = join(openIn(path), `${key}.lock`)
        const [held] = await readdir(lock)
        const other = { machine: "another", namespace: "", pid: 1, startTime: "", id: "x" }
        await rename(join(lock, held!), join(lock, nameOf(other)))
      })
  }))
)

describe("a folder of intents", () => {
  it.live("is for the user alone", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "account", "intents")
      const store = yield* storeOf(path)
      yield* store.save(intent("job"))
      for (const each of [path, openIn(path)]) assert.strictEqual(yield* modeOf(each), 0o700)
      assert.strictEqual(yield* modeOf(join(openIn(path), "job.json")), 0o600)
      assert.deepStrictEqual(yield* namesIn(openIn(path)), ["job.json"])
    })
  )

  it.live("that cannot be made fails at once, and is named", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "file")
      yield* write(file, "")
      const { _tag, message } = yield* Effect.flip(storeOf(join(file, "intents")))
      assert.strictEqual(_tag, "IntentStoreFailed")
      assert.include(message, join(file, "intents"))
    })
  )

  it.live("that others may write to, or that is a link, is not used", () =>
    Effect.gen(function* () {
      const path = yield* folder
      yield* Effect.promise(() => chmod(path, 0o777))
      assert.include((yield* Effect.flip(storeOf(path))).message, "can be written by other users (chmod 700")
      yield* Effect.promise(() => chmod(path, 0o700))
      const link = join(yield* folder, "link")
      yield* Effect.promise(() => symlink(path, link))
      assert.include((yield* Effect.flip(storeOf(link))).message, "is a link")
      assert.deepStrictEqual(yield* namesIn(path), [])
    })
  )

  it.live("is the user's own for as many levels as are given", () =>
    Effect.gen(function* () {
      const top = yield* folder
      const path = join(top, "accounts", "hash", "intents")
      yield* storeOf(path)
      yield* Effect.promise(() => chmod(join(top, "accounts", "hash"), 0o777))
      const { message } = yield* Effect.flip(makeDirectory(path, 3).find("job"))
      assert.include(message, "hash can be written by other users")
      yield* makeDirectory(path, 1).find("job")
    })
  )

  it.live("has intents that are links neither read nor written through", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const target = join(yield* folder, "target")
      yield* write(target, "precious")
      const store = yield* storeOf(path)
      yield* Effect.promise(() => symlink(target, join(openIn(path), "job.json")))
      assert.include((yield* Effect.flip(store.find("job"))).detail, "is a link")
      assert.include((yield* Effect.flip(store.save(intent("job")))).detail, "is not a file")
      assert.strictEqual(yield* Effect.promise(() => readFile(target, "utf8")), "precious")
    })
  )

  for (const [what, text, why] of [
    ["damaged", "{", "is damaged, or not Berth's"],
    ["not Berth's", `{"hello":"world"}`, "is damaged, or not Berth's"],
    ["of a later version", `{"version":2,"key":"job"}`, "is of a later version of Berth"],
    ["that of another key", JSON.stringify({ ...intent("other") }), "is damaged, or not Berth's"]
  ] as const) {
    it.live(`names a file that is ${what} to the callers who use its key, warns of it once, and leaves it alone`, () =>
      Effect.gen(function* () {
        const path = yield* folder
        const store = yield* storeOf(path)
        const file = join(openIn(path), "job.json")
        yield* write(file, text)
        yield* store.save(intent("mine"))
        assert.strictEqual((yield* Effect.flip(store.find("job"))).detail, `${file} ${why}`)
        const warnings = yield* warningsOf(Effect.andThen(store.unsettled, store.unsettled))
        assert.deepStrictEqual(warnings, [`${file} ${why}: it is left alone.`])
        assert.deepStrictEqual(
          (yield* store.unsettled).map(({ key }) => key),
          ["mine"]
        )
        assert.strictEqual(yield* Effect.promise(() => readFile(file, "utf8")), text)
      })
    )
  }

  it.live("loses drafts that are a day old, and no file that is not its own", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const drafts = ["job.json.abc.new", "job.lock.abc.new"]
      const others = ["job.json", "notes.txt", "old.hold", "thesis.new", "_drawn.json"]
      const twoDaysAgo = (yield* Clock.currentTimeMillis) / 1000 - 2 * 86_400
      yield* storeOf(path)
      yield* Effect.promise(async () => {
        for (const name of [...drafts, ...others, "young.json.abc.new"]) await writeFile(join(openIn(path), name), "")
        for (const name of [...drafts, ...others]) await utimes(join(openIn(path), name), twoDaysAgo, twoDaysAgo)
      })
      yield* storeOf(path)
      assert.deepStrictEqual(yield* namesIn(openIn(path)), [...others, "young.json.abc.new"].toSorted())
    })
  )

  it.live("gives out, once, the creates without a key that killed processes had sent", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const store = yield* storeOf(path)
      const me = yield* self
      const dead = { ...me, pid: yield* endedProcess }
      const elsewhere = { ...me, namespace: "1" }
      const leave = (key: string, owner: typeof me, over: Partial<Intent> = {}) =>
        write(join(openIn(path), `${key}.json`), JSON.stringify({ ...intent(key, over), owner }))
      yield* leave("_killed", dead)
      yield* leave("_unsent", dead, { sentAt: null })
      yield* leave("_container", elsewhere)
      yield* leave("job", dead)
      yield* store.save(intent("_running"))
      const taken = yield* store.takeAbandoned
      assert.deepStrictEqual(
        taken.map(({ key }) => key),
        ["_killed"]
      )
      assert.deepStrictEqual(yield* store.takeAbandoned, [])
      const left = ["_container.json", "_killed.json", "_running.json", "job.json"]
      assert.deepStrictEqual(yield* namesIn(openIn(path)), left)
    })
  )

  it.live("counts a killed create of another spec as well as a lost one, even after it was reported", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const store = yield* storeOf(path)
      const dead = { ...(yield* self), pid: yield* endedProcess }
      const killed = { ...intent("_killed", { spec: "other" }), owner: dead }
      yield* write(join(openIn(path), "_killed.json"), JSON.stringify(killed))
      const lost = { ...intent("job", { fate: "lost" }), sentAt }
      const beside = Effect.map(store.unsettled, (others) => besideOf(lost, others, new Map(), sentAt))
      assert.deepInclude((yield* beside).lost[0], { key: "_killed", spec: "other" })
      yield* store.takeAbandoned
      assert.deepInclude((yield* beside).lost[0], { key: "_killed", spec: "other" })
    })
  )

  it.live("keeps what a create without a key came to for an hour, and reports none of it as interrupted", () =>
    Effect.gen(function* () {
      const path = yield* folder
      yield* Effect.promise(() => mkdir(openIn(path)))
      const dead = { ...(yield* self), pid: yield* endedProcess }
      const now = yield* Clock.currentTimeMillis
      for (const [age, at] of [
        ["new", now / 1000],
        ["old", now / 1000 - 3700]
      ] as const) {
        for (const [what, over] of [
          ["made", { nodeId: NodeId.make(7) }],
          ["told", { fate: "reported" }],
          ["open", {}]
        ] as const) {
          const file = join(openIn(path), `_${age}-${what}.json`)
          yield* write(file, JSON.stringify({ ...intent(`_${age}-${what}`, over), owner: dead }))
          yield* Effect.promise(() => utimes(file, at, at))
        }
      }
      const store = yield* storeOf(path)
      assert.deepStrictEqual(yield* namesIn(openIn(path)), [
        "_new-made.json",
        "_new-open.json",
        "_new-told.json",
        "_old-open.json"
      ])
      const keys = (yield* store.takeAbandoned).map(({ key }) => key)
      assert.deepStrictEqual(keys.toSorted(), ["_new-open", "_old-open"])
    })
  )

  it.effect("has only the keyless creates of the last hour, however long its process runs", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const store = makeDirectory(path)
      for (let i = 0; i < 300; i++) {
        const over = i % 2 === 0 ? { nodeId: NodeId.make(100 + i) } : { fate: "reported" as const }
        yield* store.save(intent(`_${i}`))
        yield* store.save(intent(`_${i}`, over))
        yield* TestClock.adjust("10 minutes")
      }
      const left = ["_293", "_294", "_295", "_296", "_297", "_298", "_299"]
      assert.deepStrictEqual(
        yield* namesIn(openIn(path)),
        left.map((key) => `${key}.json`)
      )
    })
  )

  it.live("closes an intent that is already settled, for example if its process was killed in between", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const store = yield* storeOf(path)
      yield* store.save(intent("job", { nodeId: NodeId.make(9) }))
      const dead = { ...(yield* self), pid: yield* endedProcess }
      yield* write(join(openIn(path), "job.json"), JSON.stringify({ ...intent("job"), owner: dead }))
      assert.strictEqual(Option.getOrThrow(yield* store.find("job")).nodeId, NodeId.make(9))
      assert.deepStrictEqual(yield* namesIn(openIn(path)), [])
    })
  )

  it.live(
    "loses a create with a key that was never sent, or was refused for the rate limit, after 90 days, and no other",
    () =>
      Effect.gen(function* () {
        const path = yield* folder
        yield* Effect.promise(() => mkdir(openIn(path)))
        const owner = { ...(yield* self), pid: yield* endedProcess }
        const now = yield* Clock.currentTimeMillis
        for (const [age, days] of Object.entries({ new: 89, old: 91 })) {
          for (const [what, over] of Object.entries({
            lost: {},
            refused: { fate: "refused" as const },
            unsent: { sentAt: null }
          })) {
            const file = join(openIn(path), `${age}-${what}.json`)
            yield* write(file, JSON.stringify({ ...intent(`${age}-${what}`, over), owner }))
            const at = now / 1000 - days * 86_400
            yield* Effect.promise(() => utimes(file, at, at))
          }
        }
        yield* storeOf(path)
        assert.deepStrictEqual(yield* namesIn(openIn(path)), [
          "new-lost.json",
          "new-refused.json",
          "new-unsent.json",
          "old-lost.json"
        ])
      })
  )

  it.live("keeps the node that the reply named, for every process", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const told = {
        ...intent("job", { fate: "lost" }),
        told: { id: NodeId.make(8), difference: "the name db instead of web", others: [NodeId.make(9)] }
      }
      yield* (yield* storeOf(path)).save(told)
      const later = yield* storeOf(path)
      assert.deepInclude(Option.getOrThrow(yield* later.find("job")), { told: told.told, nodeId: null })
      assert.deepInclude((yield* later.unsettled)[0], { told: told.told })
    })
  )

  it.live("has the intents of ended processes as lost", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const store = yield* storeOf(path)
      const dead = { ...(yield* self), pid: yield* endedProcess }
      yield* write(join(openIn(path), "dead.json"), JSON.stringify({ ...intent("dead"), owner: dead }))
      yield* store.save(intent("mine"))
      const fates = Object.fromEntries((yield* store.unsettled).map(({ fate, key }) => [key, fate]))
      assert.deepStrictEqual(fates, { dead: "lost", mine: "open" })
    })
  )

  it.live("that is removed while it is used is made again", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "intents")
      const store = yield* storeOf(path)
      yield* Effect.promise(() => rm(path, { recursive: true }))
      yield* store.withKeyLock("job")(() => store.save(intent("job")))
      assert.deepStrictEqual(yield* namesIn(openIn(path)), ["job.json"])
    })
  )

  it.live("that is removed while it is used gets the intents again that are under way, as they were last known", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "intents")
      const store = yield* storeOf(path)
      for (const key of ["sent", "unsent", "removed", "settled"]) yield* store.save(intent(key))
      yield* store.save(intent("unsent", { sentAt: null }))
      yield* store.remove("removed")
      yield* store.save(intent("settled", { nodeId: NodeId.make(9) }))
      yield* Effect.promise(() => rm(path, { recursive: true }))
      // A write under a key whose lock is gone fails. But this write is about a request that was sent.
      const lost = intent("sent", { fate: "lost" })
      assert.strictEqual((yield* Effect.flip(store.save(lost))).code, "ENOENT")
      assert.deepStrictEqual(yield* (yield* storeOf(path)).find("sent"), Option.none())
      assert.deepInclude(Option.getOrThrow(yield* store.find("sent")), lost)
      assert.deepStrictEqual(yield* namesIn(openIn(path)), ["sent.json"])
    })
  )

  it.live("that is removed while it is used keeps what another process has written in it since", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "intents")
      const [store, other] = [yield* storeOf(path), makeDirectory(path)]
      yield* store.save(intent("job"))
      yield* Effect.promise(() => rm(path, { recursive: true }))
      yield* other.withKeyLock("job")(() => other.save(intent("job", { newerThan: 8 })))
      assert.strictEqual(Option.getOrThrow(yield* store.find("job")).newerThan, 8)
    })
  )
})

describe("an open intent next to a settled intent of the same key", () => {
  for (const [what, newerThan, names] of [
    ["is removed if it is of the same create, which was cut off while it was settled", 7, []],
    ["stays if it is of another create, because that may have made a node", 20, ["k.json"]]
  ] as const) {
    it.live(what, () =>
      Effect.gen(function* () {
        const path = yield* folder
        const store = yield* storeOf(path)
        yield* store.save(intent("k"))
        const text = yield* Effect.promise(() => readFile(join(openIn(path), "k.json"), "utf8"))
        yield* store.save(intent("k", { nodeId: NodeId.make(9) }))
        yield* write(join(openIn(path), "k.json"), JSON.stringify({ ...JSON.parse(text), newerThan }))
        assert.strictEqual(Option.getOrThrow(yield* store.find("k")).nodeId, 9)
        assert.deepStrictEqual(yield* namesIn(openIn(path)), [...names])
      }).pipe(Effect.scoped)
    )
  }
})
