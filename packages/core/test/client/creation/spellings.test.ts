/**
 * Repeats one create under one key. The service spells names in its own way, loses replies and lists nodes late, and other clients make
 * nodes of the same name before, during and long after. The create is processed once, no evidence shows that the returned node is
 * somebody else's, and the caller learns the id that a reply named.
 */
import { layer, lost, ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, type Layer, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import type { Berth } from "../../../src/client/Berth.ts"
import { type IntentStore as Store, IntentStore, makeMemory } from "../../../src/client/creation/IntentStore.ts"
import { blurMillis, quietMillis } from "../../../src/client/creation/Ownership.ts"
import type { CreateOptions } from "../../../src/client/creation/Creator.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import { NodeId } from "../../../src/domain/Node.ts"
import { inTime } from "../../inTime.ts"

/** How the service changes a name, step by step. */
const spellings = {
  small: (name: string) => name.toLowerCase(),
  large: (name: string) => name.toUpperCase(),
  dashes: (name: string) => name.replaceAll("_", "-"),
  spaceless: (name: string) => name.replaceAll(" ", "-"),
  runs: (name: string) => name.replaceAll(/[-_ ]{2,}/g, "-"),
  composed: (name: string) => name.normalize("NFC"),
  decomposed: (name: string) => name.normalize("NFD"),
  trimmed: (name: string) => name.trim(),
  cut: (name: string) => name.slice(0, 50)
} as const
type Spelling = keyof typeof spellings

/** The fate of a request of ours. */
type Fate =
  | { readonly _tag: "replied" }
  | { readonly _tag: "lost" }
  /** The process is killed when the reply arrives. */
  | { readonly _tag: "killed" }
  /** The request is never processed. */
  | { readonly _tag: "dropped" }
  /** No reply comes, and the service processes the request this much later. */
  | { readonly _tag: "late"; readonly millis: number }

interface World {
  readonly name: string
  readonly spelling: ReadonlyArray<Spelling>
  /** Whether the service gives its nodes entirely different names. */
  readonly renames: boolean
  /** A field that its replies to creates leave out. */
  readonly leavesOut?: "name" | "created_at"
  readonly fates: ReadonlyArray<Fate>
  /** How long the list does not show a new node. */
  readonly hiddenMillis: number
  /** How far the service's clock is ahead of the client's. */
  readonly aheadMillis: number
  readonly hasDate: boolean
  /** When others make nodes of that name. */
  readonly foreign: ReadonlyArray<number>
  /** The pauses before the calls. */
  readonly pauses: ReadonlyArray<number>
}

interface Made {
  readonly id: number
  readonly name: string
  readonly madeMillis: number
  readonly isOurs: boolean
}

const startMillis = 1_790_000_000_000

class Service {
  readonly #world: World
  readonly nodes: Array<Made> = []
  /** When each of our requests arrived, and the highest id that the list had shown by then. */
  readonly posts: Array<{ readonly atMillis: number; readonly highest: number }> = []
  /** The id that a reply named to a process that was not killed. */
  told: number | undefined
  #waiting: Array<{ readonly atMillis: number; readonly isOurs: boolean; readonly name: string }>
  #highestListed = 0

  constructor(world: World) {
    this.#world = world
    this.#waiting = world.foreign.map((atMillis, i) => ({
      atMillis: atMillis - 1,
      isOurs: false,
      // Other clients may spell the name as the service does, or as we do.
      name: i % 2 === 0 ? world.name : this.#spelled(world.name)
    }))
  }

  #spelled(name: string): string {
    return this.#world.spelling.reduce((before, step) => spellings[step](before), name)
  }

  #make(madeMillis: number, isOurs: boolean, name: string): Made {
    const id = 100 + this.nodes.length
    const node = { id, name: isOurs && this.#world.renames ? `srv-${id}` : this.#spelled(name), madeMillis, isOurs }
    this.nodes.push(node)
    return node
  }

  /** Makes the nodes that are due. */
  passTo(now: number): void {
    const due = this.#waiting.filter(({ atMillis }) => atMillis <= now).toSorted((a, b) => a.atMillis - b.atMillis)
    this.#waiting = this.#waiting.filter(({ atMillis }) => atMillis > now)
    for (const { atMillis, isOurs, name } of due) this.#make(atMillis, isOurs, name)
  }

  #record({ id, madeMillis, name }: Made) {
    const created = new Date(startMillis + madeMillis + this.#world.aheadMillis)
    return { id, name, created_at: created.toISOString(), plan: "P", image: "I", status: "running", region: "ncr" }
  }

  get layer(): Layer.Layer<Berth> {
    return layer(({ body, method, path, query }) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        this.passTo(now)
        const date = new Date(startMillis + now + this.#world.aheadMillis).toUTCString()
        const reply = (data: unknown) => ok(data, this.#world.hasDate ? { date } : {})
        if (method === "GET") {
          const id = /nodes\/(\d+)\/$/.exec(path)?.[1]
          if (id !== undefined) return reply(this.#record(this.nodes.find((node) => node.id === Number(id))!))
          const listed = this.nodes.filter(({ madeMillis }) => now - madeMillis >= this.#world.hiddenMillis)
          this.#highestListed = Math.max(0, ...listed.map((node) => node.id))
          const size = Number(query["per_page"])
          const page = Number(query["page_no"])
          return reply(listed.slice((page - 1) * size, page * size).map((node) => this.#record(node)))
        }
        const fate = this.#world.fates[this.posts.length] ?? { _tag: "replied" }
        this.posts.push({ atMillis: now, highest: this.#highestListed })
        const { name } = body as { readonly name: string }
        if (fate._tag === "dropped") return lost
        if (fate._tag === "late") {
          this.#waiting.push({ atMillis: now + fate.millis, isOurs: true, name })
          return lost
        }
        const node = this.#make(now, true, name)
        if (fate._tag === "lost") return lost
        if (fate._tag === "replied") this.told = node.id
        const { leavesOut } = this.#world
        return reply({ ...this.#record(node), ...(leavesOut && { [leavesOut]: null }) })
      })
    ) as Layer.Layer<Berth>
  }

  /** Whether the fate of the latest request kills its process. */
  get isKilled(): boolean {
    return this.#world.fates[this.posts.length - 1]?._tag === "killed"
  }

  get name(): string {
    return this.#world.name
  }

  get ours(): ReadonlyArray<Made> {
    return this.nodes.filter(({ isOurs }) => isOurs)
  }

  /** Whether no evidence distinguishes this node from one of ours. */
  mayBeOurs({ id, isOurs, madeMillis }: Made): boolean {
    const blur = 2 * blurMillis + 1000
    const { hasDate } = this.#world
    return (
      isOurs ||
      this.posts.some(
        ({ atMillis, highest }) =>
          id > highest &&
          // Without the service's clock, only the watermark shows which nodes existed before.
          (!hasDate || madeMillis >= atMillis - blur) &&
          madeMillis <= atMillis + quietMillis + blur
      )
    )
  }
}

/** The store of a process that is killed when a reply arrives: from then on it writes nothing. */
const untilKilled = (store: Store, service: Service, posts: number): Store => {
  const isDead = () => service.posts.length > posts && service.isKilled
  return {
    ...store,
    save: (intent) => Effect.suspend(() => (isDead() && intent.nodeId !== null ? Effect.never : store.save(intent))),
    remove: (key) => Effect.suspend(() => (isDead() ? Effect.never : store.remove(key)))
  }
}

const letters = fc.constantFrom(..."abcXYZ019-__  ", "e\u0301", "\u00e9", "\u00df")
const name = fc
  .tuple(fc.constantFrom("Web", "a_b", "caf\u00e9", "x".repeat(48)), fc.array(letters, { maxLength: 24 }))
  .map(([begin, rest]) => `${begin}${rest.join("")}z`)

const second = 1000
const minute = 60 * second

const fate: fc.Arbitrary<Fate> = fc.oneof(
  fc.constantFrom<Fate>({ _tag: "replied" }, { _tag: "lost" }, { _tag: "killed" }, { _tag: "dropped" }),
  fc.record({ _tag: fc.constant("late" as const), millis: fc.integer({ min: 0, max: 590 * second }) })
)

const worlds: fc.Arbitrary<World> = fc.record({
  name,
  spelling: fc.shuffledSubarray(Object.keys(spellings) as Array<Spelling>),
  renames: fc.nat(4).map((drawn) => drawn === 0),
  fates: fc.array(fate, { maxLength: 3 }),
  hiddenMillis: fc.constantFrom(0, 2 * second, 12 * second),
  aheadMillis: fc.constantFrom(0, 15 * minute, -15 * minute, 330 * minute),
  hasDate: fc.nat(4).map((drawn) => drawn > 0),
  foreign: fc.array(
    fc.oneof(
      fc.constant(0),
      fc.integer({ min: 0, max: 2 * minute }),
      fc.integer({ min: 2 * minute, max: 10 * minute }),
      fc.integer({ min: 11 * minute, max: 40 * minute })
    ),
    { maxLength: 3 }
  ),
  pauses: fc.array(fc.constantFrom(0, 5 * second, minute, 11 * minute, 25 * 60 * minute), {
    minLength: 1,
    maxLength: 4
  })
})

type Seen = Record<"adopted" | "foreignLeft" | "sentAgain" | "respelled" | "told" | "unknown", number>

/** A call by a new process. */
const ask = (service: Service, store: Store, options: CreateOptions = {}) =>
  Nodes.use((nodes) => nodes.create({ name: service.name, plan: "P", image: "I" }, { key: "job", ...options })).pipe(
    Effect.result,
    Effect.provide(service.layer, { local: true }),
    Effect.provideService(IntentStore, store)
  )

const live = (world: World, seen: Seen) =>
  Effect.gen(function* () {
    const service = new Service(world)
    const store = makeMemory()
    let known: number | undefined
    for (const pause of world.pauses) {
      yield* TestClock.adjust(Duration.millis(pause))
      const posts = service.posts.length
      const call = ask(service, untilKilled(store, service, posts))
      const ended = yield* inTime(Effect.timeoutOption(call, "5 minutes"))
      assert.isAtMost(service.ours.length, 1, "processed more than once")
      if (Option.isNone(ended)) continue
      if (service.posts.length > posts && service.isKilled) continue
      const { told } = service
      if (Result.isSuccess(ended.value)) {
        const { node } = ended.value.success
        known ??= node.id
        assert.strictEqual(Number(node.id), known, "another node than before")
        if (told !== undefined) assert.strictEqual(Number(node.id), told, "another node than was told")
        assert.isTrue(service.mayBeOurs(service.nodes[node.id - 100]!), "a foreign node")
        if (ended.value.success.outcome === "adopted") seen.adopted++
        if (node.name !== world.name) seen.respelled++
        if (service.nodes.some((each) => !service.mayBeOurs(each))) seen.foreignLeft++
      } else {
        const { reason } = ended.value.failure
        assert.strictEqual(reason._tag, "OutcomeUnknown")
        assert.isUndefined(known, "lost again")
        seen.unknown++
        if (told !== undefined && reason._tag === "OutcomeUnknown") {
          assert.isTrue(world.renames, "a name that is only spelled otherwise")
          assert.strictEqual(Number(reason.toldId), told)
          assert.include(reason.message, `node ${told}, which has the name srv-${told} instead of`)
          seen.told++
        }
      }
    }
    // No request is processed later than this.
    yield* TestClock.adjust("10 minutes")
    const last = yield* inTime(ask(service, store))
    assert.isAtMost(service.ours.length, 1, "processed more than once")
    if (service.posts.length > 1) seen.sentAgain++
    const [ours] = service.ours
    const isCertain = world.hasDate && !world.renames && world.foreign.length === 0
    if (isCertain && ours !== undefined) {
      assert(Result.isSuccess(last), "not found")
      assert.strictEqual(Number(last.success.node.id), ours.id)
    }
  })

describe("a create under one key, of a service that spells names in its own way", () => {
  it("is processed once, takes nobody's node, and tells the id that a reply named", async () => {
    const seen: Seen = { adopted: 0, foreignLeft: 0, sentAgain: 0, respelled: 0, told: 0, unknown: 0 }
    await fc.assert(
      fc.asyncProperty(worlds, (world) => {
        // A renamed node cannot be identified if no process has read the reply to its create.
        fc.pre(!world.renames || world.fates.every(({ _tag }) => _tag === "replied" || _tag === "dropped"))
        return Effect.runPromise(live(world, seen).pipe(Effect.provide(TestClock.layer()), Effect.scoped))
      }),
      { numRuns: 60 }
    )
    // Every case has to occur, otherwise the test shows nothing.
    for (const [what, count] of Object.entries(seen)) assert.isAbove(count, 0, what)
  })
})

const firstId = NodeId.make(100)

const world: World = {
  name: "web_1",
  spelling: [],
  renames: false,
  fates: [],
  hiddenMillis: 0,
  aheadMillis: 15 * minute,
  hasDate: true,
  foreign: [],
  pauses: []
}

describe("a create under one key", () => {
  for (const [name, spelling] of [
    ["web_1", ["dashes"]],
    ["cafe\u0301", ["composed"]],
    ["Web 1", ["small", "spaceless"]],
    [` ${"web-".repeat(20)}`, ["trimmed", "cut"]]
  ] as const) {
    for (const _tag of ["replied", "lost", "killed"] as const) {
      it.effect(
        `of a name that the service spells otherwise makes one node, and tells of it: ${spelling}, ${_tag}`,
        () =>
          Effect.gen(function* () {
            const service = new Service({ ...world, name, spelling, fates: [{ _tag }] })
            const store = makeMemory()
            yield* inTime(Effect.timeoutOption(ask(service, untilKilled(store, service, 0)), "2 minutes"))
            for (const later of ["1 minute", "11 minutes", "1 day"] as const) {
              yield* TestClock.adjust(later)
              const found = yield* inTime(ask(service, store))
              assert(Result.isSuccess(found), later)
              assert.strictEqual(Number(found.success.node.id), 100)
              assert.strictEqual(found.success.node.name, service.nodes[0]!.name)
            }
            assert.lengthOf(service.posts, 1)
          })
      )
    }
  }

  it.effect("whose reply names a node of quite another name is never sent again, and always tells which", () =>
    Effect.gen(function* () {
      const service = new Service({ ...world, renames: true, foreign: [20 * minute] })
      const store = makeMemory()
      for (const later of ["0 seconds", "1 second", "11 minutes", "30 minutes", "1 day"] as const) {
        yield* TestClock.adjust(later)
        const found = yield* inTime(ask(service, store))
        assert(Result.isFailure(found), later)
        const { hint, message, reason, retryable } = found.failure
        assert.deepInclude(reason, { _tag: "OutcomeUnknown", toldId: firstId, candidates: [firstId] })
        assert.include(message, "names node 100, which has the name srv-100 instead of web_1.")
        assert.strictEqual(
          hint,
          "Get node 100 and see whether it is web_1. Under this key the create is not sent again."
        )
        assert.isFalse(retryable)
      }
      assert.lengthOf(service.posts, 1)
    })
  )

  it.effect("whose reply names a node of quite another name says which also without a key", () =>
    Effect.gen(function* () {
      const service = new Service({ ...world, renames: true })
      const found = yield* inTime(ask(service, makeMemory(), { key: undefined }))
      assert(Result.isFailure(found))
      assert.deepInclude(found.failure.reason, { _tag: "OutcomeUnknown", toldId: firstId })
    })
  )

  for (const leavesOut of ["name", "created_at"] as const) {
    for (const renames of [true, false]) {
      it.effect(
        `whose reply has an id and no ${leavesOut} makes one node, ${renames ? "which has another name" : "and finds it"}`,
        () =>
          Effect.gen(function* () {
            const service = new Service({ ...world, leavesOut, renames })
            const store = makeMemory()
            for (const later of ["0 seconds", "11 minutes", "1 day"] as const) {
              yield* TestClock.adjust(later)
              const found = yield* inTime(ask(service, store))
              if (renames) {
                assert(Result.isFailure(found), later)
                const difference =
                  leavesOut === "name" ? "no name that can be read" : "the name srv-100 instead of web_1"
                assert.include(found.failure.message, `names node 100, which has ${difference}.`)
              } else {
                assert(Result.isSuccess(found), later)
                assert.strictEqual(found.success.node.id, firstId)
              }
            }
            assert.lengthOf(service.posts, 1)
          })
      )
    }
  }

  for (const adoptOnly of [true, false]) {
    it.effect(
      `that was never processed leaves a node alone that was made later${adoptOnly ? ", if it only looks" : ""}`,
      () =>
        Effect.gen(function* () {
          const service = new Service({ ...world, fates: [{ _tag: "dropped" }], foreign: [11 * minute] })
          const store = makeMemory()
          assert(Result.isFailure(yield* inTime(ask(service, store))))
          yield* TestClock.adjust("12 minutes")
          const found = yield* inTime(ask(service, store, { adoptOnly }))
          if (Result.isFailure(found)) {
            assert(adoptOnly)
            assert.include(found.failure.message, "no create with it made a node")
            assert.lengthOf(service.posts, 1)
          } else {
            assert.deepStrictEqual([found.success.outcome, Number(found.success.node.id)], ["created", 101])
          }
        })
    )
  }

  it.effect("and one under another key, both lost, take no node that was made between", () =>
    Effect.gen(function* () {
      // The first request is processed late, after another client has made a node. The second one is never processed.
      const fates: ReadonlyArray<Fate> = [{ _tag: "late", millis: 3 * minute }, { _tag: "dropped" }]
      const service = new Service({ ...world, fates, foreign: [2 * minute] })
      const store = makeMemory()
      yield* inTime(ask(service, store))
      yield* TestClock.adjust("5 minutes")
      yield* inTime(ask(service, store, { key: "job-2" }))
      for (const key of ["job", "job-2"]) {
        const found = yield* inTime(ask(service, store, { key }))
        assert(Result.isFailure(found), key)
        const candidates = key === "job" ? [firstId, NodeId.make(101)] : []
        assert.deepInclude(found.failure.reason, { _tag: "OutcomeUnknown", candidates })
      }
    })
  )
})
