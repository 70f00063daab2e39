/**
 * Settled intents cost a later create nothing. The tests also check how long they are kept, and that nothing is lost if two accounts turn
 * out to be one.
 */
import { existsSync } from "node:fs"
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isSoak } from "@berthkit/testing/chance"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import type { Intent } from "../../../src/client/creation/IntentStore.ts"
import { makeAccount, makeDirectory } from "../../../src/client/creation/IntentFolder.ts"
import { goOnIn, type IntentPlace } from "../../../src/client/creation/IntentPlace.ts"
import { NodeId } from "../../../src/domain/Node.ts"

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "berth-settled-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const dayMillis = 86_400_000
const startMillis = 700 * 30 * dayMillis

const intent = (key: string, node: number | null, serviceMillis = 0): Intent => ({
  version: 1,
  key,
  name: "web",
  plan: "P",
  image: "I",
  spec: null,
  newerThan: 7,
  sentAt: { wallMillis: 1, bootMillis: 1, bootClock: null, serviceMillis },
  fate: "lost",
  nodeId: node === null ? null : NodeId.make(node)
})

const nodeOf = (found: Option.Option<Intent>) =>
  Option.match(found, { onNone: () => "none", onSome: (of) => of.nodeId })
const namesIn = (path: string) => Effect.promise(async () => (await readdir(path)).toSorted())

const ids = { key: "1".repeat(32), rotated: "2".repeat(32), name: "3".repeat(32) }

const placeIn = (accounts: string, over: Partial<IntentPlace> = {}): IntentPlace => ({
  accounts: join(accounts, "accounts"),
  origin: "https://service.example",
  id: ids.key,
  key: undefined,
  ...over
})

describe("a settled intent", () => {
  it.effect("is kept apart from the open intents, and is found by its key and by its node", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const store = makeDirectory(path)
      yield* store.save(intent("open", null))
      for (let i = 0; i < 20; i++) {
        yield* store.save(intent(`job-${i}`, null))
        yield* store.save(intent(`job-${i}`, 100 + i))
      }
      assert.deepStrictEqual(
        (yield* store.unsettled).map(({ key }) => key),
        ["open"]
      )
      assert.deepStrictEqual(yield* namesIn(join(path, "open")), ["open.json"])
      assert.strictEqual(nodeOf(yield* makeDirectory(path).find("job-3")), NodeId.make(103))
      const owners = yield* makeDirectory(path).ownersOf([NodeId.make(99), NodeId.make(103)])
      assert.deepStrictEqual(Array.from(owners), [[NodeId.make(103), "job-3"]])
    })
  )

  it.effect("tells the newest node that a create made, also after an older one was asked for again", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const store = makeDirectory(path)
      assert.strictEqual(yield* store.newestNode, 0)
      yield* TestClock.setTime(startMillis)
      yield* store.save(intent("old", 8, startMillis))
      yield* TestClock.setTime(startMillis + 31 * dayMillis)
      yield* store.save(intent("new", 1001, startMillis + 31 * dayMillis))
      yield* TestClock.setTime(startMillis + 62 * dayMillis)
      yield* store.find("old")
      assert.strictEqual(yield* makeDirectory(path).newestNode, 1001)
      yield* store.save({ ...intent("_drawn", 1005), fate: "open" })
      assert.strictEqual(yield* store.newestNode, 1005)
    })
  )

  it.live("tells the newest node, whichever of many at once is settled last, and leaves one mark of it", () =>
    Effect.gen(function* () {
      const path = yield* folder
      yield* Effect.forEach(
        [105, 101, 119, 103, 110, 118],
        (node) => makeDirectory(path).save(intent(`job-${node}`, node)),
        {
          concurrency: "unbounded"
        }
      )
      yield* makeDirectory(path).save(intent("older", 3))
      assert.strictEqual(yield* makeDirectory(path).newestNode, 119)
      assert.deepStrictEqual(yield* namesIn(join(path, "newest")), ["119"])
    })
  )

  it.effect("is kept for 90 days after it was last asked for, and then removed as others are settled", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const store = makeDirectory(path)
      yield* TestClock.setTime(startMillis)
      for (const [i, key] of ["asked", "forgotten"].entries()) yield* store.save(intent(key, 100 + i, startMillis))
      const settleAt = Effect.fnUntraced(function* (days: number) {
        const now = startMillis + days * dayMillis
        yield* TestClock.setTime(now)
        yield* store.save(intent(`day-${days}`, 1000 + days, now))
      })
      yield* settleAt(80)
      yield* store.find("asked")
      yield* settleAt(119)
      assert.strictEqual(nodeOf(yield* store.find("forgotten")), NodeId.make(101))
      yield* settleAt(150 + 30)
      assert.strictEqual(nodeOf(yield* store.find("asked")), NodeId.make(100))
      yield* settleAt(500)
      for (let i = 0; i < 10; i++) yield* settleAt(501 + i)
      assert.strictEqual(nodeOf(yield* store.find("asked")), "none")
      assert.deepStrictEqual(yield* namesIn(join(path, "settled")), ["716", "717"])
    })
  )

  it.effect("is not removed on the word of one clock, which may have stepped", () =>
    Effect.gen(function* () {
      const store = makeDirectory(yield* folder)
      yield* TestClock.setTime(startMillis)
      yield* store.save(intent("job", 100, startMillis))
      const years = startMillis + 4000 * dayMillis
      yield* store.save(intent("of a service that is years ahead".replaceAll(" ", "-"), 101, years))
      yield* TestClock.setTime(years)
      yield* store.save(intent("of-a-wall-clock-that-is", 102, startMillis))
      yield* store.save(intent("of-a-service-that-tells-no-time", 103))
      assert.strictEqual(nodeOf(yield* store.find("job")), NodeId.make(100))
    })
  )
})

describe("an account", () => {
  it.live("with a name has the creates of its key, and a new key continues them, named or not", () =>
    Effect.gen(function* () {
      const accounts = yield* folder
      yield* makeAccount(placeIn(accounts)).save(intent("before", 8))
      const named = makeAccount(placeIn(accounts, { id: ids.name, key: ids.key }))
      assert.strictEqual(nodeOf(yield* named.find("before")), NodeId.make(8))
      yield* named.save(intent("named", 9))
      const rotated = makeAccount(placeIn(accounts, { id: ids.name, key: ids.rotated }))
      const unnamed = makeAccount(placeIn(accounts, { id: ids.rotated }))
      for (const store of [rotated, unnamed, makeAccount(placeIn(accounts))]) {
        for (const [key, node] of [
          ["before", 8],
          ["named", 9]
        ] as const) {
          assert.strictEqual(nodeOf(yield* store.find(key)), NodeId.make(node))
        }
      }
    })
  )

  it.live(
    "tells the newest node of those that it goes on with, settled or left open by a process that was killed",
    () =>
      Effect.gen(function* () {
        for (const [settled, left] of [
          [20, 10],
          [10, 20]
        ] as const) {
          const accounts = yield* folder
          const [before, after] = [placeIn(accounts), placeIn(accounts, { id: ids.rotated })]
          yield* makeAccount(after).save(intent("settled", settled))
          yield* makeAccount(after).save({ ...intent("_drawn", left), fate: "open" })
          yield* makeAccount(before).save(intent("own", 5))
          yield* goOnIn(after, before)
          assert.strictEqual(yield* makeAccount(before).newestNode, 20)
        }
      })
  )

  it.live("continues under a new key, even if that key has its own creates", () =>
    Effect.gen(function* () {
      const accounts = yield* folder
      const [before, after] = [placeIn(accounts), placeIn(accounts, { id: ids.rotated })]
      yield* makeAccount(before).save(intent("old", 8))
      yield* makeAccount(before).save(intent("open", null))
      yield* makeAccount(after).save(intent("new", 9))
      assert.isTrue(yield* goOnIn(after, before))
      for (const place of [before, after]) {
        const store = makeAccount(place)
        assert.deepStrictEqual(
          [nodeOf(yield* store.find("old")), nodeOf(yield* store.find("new")), nodeOf(yield* store.find("open"))],
          [NodeId.make(8), NodeId.make(9), null]
        )
      }
    })
  )

  it.live("keeps its own node of a key that the joined account has settled, too, later or at the same time", () =>
    Effect.gen(function* () {
      const accounts = yield* folder
      const [before, after] = [placeIn(accounts), placeIn(accounts, { id: ids.rotated })]
      yield* makeAccount(before).save(intent("job", 8))
      yield* makeAccount(after).save(intent("job", 9))
      const settledOf = ({ accounts, id }: IntentPlace) => join(accounts, id, "creates/settled")
      const [[period = ""]] = [yield* namesIn(settledOf(before))]
      for (const later of [0, 1]) {
        yield* goOnIn(after, before)
        const names = yield* namesIn(settledOf(before))
        const imported = names.find((name) => name.includes("."))!
        // The order in which a file system lists folders is its own.
        const renamed = `${Number(period) + later}.0`
        yield* Effect.promise(() => rename(join(settledOf(before), imported), join(settledOf(before), renamed)))
        assert.strictEqual(nodeOf(yield* makeAccount(before).find("job")), NodeId.make(8))
      }
    })
  )

  const killed = {
    "behind the mark": [],
    "behind the open ones": ["open"],
    "behind the first settled ones": ["open", "settled/600"]
  }
  for (const [when, moved] of Object.entries(killed)) {
    it.live(`has all of its creates after a process was killed ${when} of a join with a name`, () =>
      Effect.gen(function* () {
        const accounts = yield* folder
        const placeNow = placeIn(accounts, { id: ids.name, key: ids.key })
        const creates = (id: string) => join(placeNow.accounts, id, "creates")
        const unjoined = makeAccount(placeIn(accounts, { id: ids.key }))
        yield* unjoined.save(intent("settled", 8))
        yield* unjoined.save(intent("open", null))
        yield* makeAccount(placeIn(accounts, { id: ids.name })).save(intent("named", 9))
        yield* Effect.promise(async () => {
          await mkdir(join(creates(ids.key), "settled", "600"), { recursive: true })
          const mark = JSON.stringify({ version: 1, account: ids.name, note: "" })
          await writeFile(join(placeNow.accounts, ids.key, "account.json"), mark, { mode: 0o600 })
          for (const [i, name] of moved.entries()) {
            const to = name === "open" ? "import.abc" : `600.abc${i}`
            await rename(join(creates(ids.key), name), join(creates(ids.name), "settled", to))
          }
        })
        for (const store of [makeAccount(placeNow), makeAccount(placeNow)]) {
          const found = yield* Effect.forEach(["settled", "open", "named"], (key) => store.find(key))
          assert.deepStrictEqual(found.map(nodeOf), [NodeId.make(8), null, NodeId.make(9)])
        }
      })
    )
  }

  it.live("has all of its creates after a killed join, also under another key", () =>
    Effect.gen(function* () {
      const accounts = yield* folder
      const named = placeIn(accounts, { id: ids.name, key: ids.rotated })
      const joining = join(named.accounts, ids.name, "joining")
      yield* makeAccount(placeIn(accounts)).save(intent("job", 8))
      yield* makeAccount(named).find("job")
      yield* Effect.promise(async () => {
        await mkdir(joining, { recursive: true, mode: 0o700 })
        assert.deepStrictEqual(await readdir(joining), [])
        await writeFile(join(joining, ids.key), "", { mode: 0o600 })
      })
      assert.strictEqual(nodeOf(yield* makeAccount(named).find("job")), "none")
      const mark = JSON.stringify({ version: 1, account: ids.name, note: "" })
      yield* Effect.promise(() => writeFile(join(named.accounts, ids.key, "account.json"), mark, { mode: 0o600 }))
      assert.strictEqual(nodeOf(yield* makeAccount(named).find("job")), NodeId.make(8))
      assert.deepStrictEqual(yield* namesIn(joining), [])
    })
  )

  it.live("may be joined with a name by several at once", () =>
    Effect.gen(function* () {
      const accounts = yield* folder
      const many = Array.from({ length: isSoak ? 500 : 100 }, (_, i) =>
        intent(`job-${i}`, i % 10 === 0 ? null : 100 + i)
      )
      const unnamed = makeAccount(placeIn(accounts))
      for (const each of many) yield* unnamed.save(each)
      const named = placeIn(accounts, { id: ids.name, key: ids.key })
      const all = Effect.forEach(many, ({ key, nodeId }) =>
        Effect.map(makeAccount(named).find(key), (found) => assert.strictEqual(nodeOf(found), nodeId))
      )
      yield* Effect.all([all, all, all], { concurrency: "unbounded" })
    })
  )

  it.live("has the intents that a process settles after a join in a folder that it opened before", () =>
    Effect.gen(function* () {
      const accounts = yield* folder
      const running = makeAccount(placeIn(accounts))
      yield* running.save(intent("job", null))
      const named = placeIn(accounts, { id: ids.name, key: ids.key })
      yield* makeAccount(named).find("job")
      yield* Effect.ignore(running.save(intent("job", 9)))
      assert.strictEqual(nodeOf(yield* makeAccount(named).find("job")), NodeId.make(9))
    })
  )

  it.live("does not go on in that of another service, or where there was none", () =>
    Effect.gen(function* () {
      const accounts = yield* folder
      const before = placeIn(accounts)
      const after = placeIn(accounts, { id: ids.rotated, origin: "https://other.example" })
      assert.isFalse(yield* goOnIn(placeIn(accounts, { id: ids.rotated }), before))
      yield* makeAccount(before).save(intent("old", 8))
      assert.isFalse(yield* goOnIn(after, before))
      assert.strictEqual(nodeOf(yield* makeAccount(after).find("old")), "none")
    })
  )

  it.live("that was joined with another sends nothing on what a client has read of it before", () =>
    Effect.gen(function* () {
      const accounts = yield* folder
      const [before, after] = [placeIn(accounts), placeIn(accounts, { id: ids.rotated })]
      const running = makeAccount(after)
      yield* running.save(intent("job", 9))
      yield* makeAccount(before).save(intent("old", 8))
      yield* goOnIn(after, before)
      // The key's lock is in the account's present folder.
      const found = yield* running.withKeyLock("job")(() => running.find("job"))
      assert.strictEqual(nodeOf(found), NodeId.make(9))
      assert.isFalse(existsSync(join(accounts, "accounts", ids.rotated, "creates", "open")))
    })
  )

  it.live("that was joined with another folder continues there for the creates of a running process", () =>
    Effect.gen(function* () {
      const accounts = yield* folder
      const [before, after] = [placeIn(accounts), placeIn(accounts, { id: ids.rotated })]
      const running = makeAccount(after)
      yield* running.save(intent("job", null))
      yield* makeAccount(before).save(intent("old", 8))
      const joined = makeAccount(before)
      yield* joined.find("old")
      yield* goOnIn(after, before)
      // The lock of its key is gone, so this write fails and nothing is sent.
      assert.strictEqual((yield* Effect.flip(running.save(intent("job", null)))).code, "ENOENT")
      yield* running.save(intent("job", 9))
      yield* running.save(intent("_drawn", null))
      assert.strictEqual(nodeOf(yield* joined.find("job")), NodeId.make(9))
      assert.include(
        (yield* joined.unsettled).map(({ key }) => key),
        "_drawn"
      )
      assert.isFalse(existsSync(join(accounts, "accounts", ids.rotated, "creates", "open")))
    })
  )

  it.live("that was joined with another keeps its unsettled creates readable in place", () =>
    Effect.gen(function* () {
      const accounts = yield* folder
      const [before, after] = [placeIn(accounts), placeIn(accounts, { id: ids.rotated })]
      const running = makeAccount(after)
      yield* running.save(intent("_drawn", null))
      yield* makeAccount(before).save(intent("old", 8))
      yield* goOnIn(after, before)
      assert.deepStrictEqual(
        (yield* running.unsettled).map(({ key }) => key),
        ["_drawn"]
      )
    })
  )

  it.live("whose mark is damaged is not guessed", () =>
    Effect.gen(function* () {
      const place = placeIn(yield* folder)
      const path = join(place.accounts, ids.key, "account.json")
      yield* makeAccount(place).save(intent("job", 9))
      yield* Effect.promise(() => writeFile(path, "{}", { mode: 0o600 }))
      const failure = yield* Effect.flip(makeAccount(place).find("job"))
      assert.deepStrictEqual([failure.path, failure.detail], [path, `${path} is damaged, or not Berth's`])
    })
  )

  it.live("is refused next to a mark of an earlier version, and the error names the mark", () =>
    Effect.gen(function* () {
      const place = placeIn(yield* folder)
      const path = join(place.accounts, ids.key, "intents")
      yield* makeAccount(place).save(intent("job", 9))
      yield* Effect.promise(() => writeFile(path, JSON.stringify({ account: ids.name }), { mode: 0o600 }))
      const failure = yield* Effect.flip(makeAccount(place).find("job"))
      assert.strictEqual(failure.path, path)
      assert.include(failure.detail, `${path} was written by an earlier version of berth`)
    })
  )
})
