import { layer, lost, ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, type Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { monotonicMillis } from "../../../src/client/time/Monotonic.ts"
import type { Berth } from "../../../src/client/Berth.ts"
import { type Intent, IntentStore, IntentStoreFailed, makeMemory } from "../../../src/client/creation/IntentStore.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import type { BerthError } from "../../../src/domain/BerthError.ts"
import { NodeId } from "../../../src/domain/Node.ts"
import type { NodeSpec } from "../../../src/domain/NodeSpec.ts"
import { inTime } from "../../inTime.ts"

interface Made {
  readonly id: number
  readonly name: string
  readonly created_at: string
  readonly plan: string
  readonly status: string
}

/** A service that makes nodes and then answers by `fate`. Its clock is frozen. */
class Service {
  readonly nodes: Array<Made> = []
  #next = 100
  #lost = 0
  posts = 0
  /** How long it takes to answer a create. */
  replyMillis = 0
  /** How many polls do not show the node of a lost reply yet. */
  late = 0
  readonly fate: (
    post: number
  ) =>
    | "reply"
    | "lost"
    | 500
    | "refused"
    | "unmade"
    | "fault"
    | "throttled"
    | Partial<Made>
    | { readonly existing: number }
  constructor(fate: Service["fate"]) {
    this.fate = fate
  }
  make(name: string): Made {
    const node = { id: this.#next++, name, created_at: "2026-01-01T00:00:00.000000Z", plan: "P", status: "created" }
    this.nodes.push(node)
    return node
  }
  get layer(): Layer.Layer<Berth> {
    const reply = (status: number, data: unknown) => ({
      ...ok(data, { date: "Thu, 01 Jan 2026 00:00:00 GMT" }),
      status
    })
    return layer(({ body, method, path, query }) => {
      if (method === "GET") {
        const id = /nodes\/(\d+)\/$/.exec(path)?.[1]
        if (id !== undefined) {
          const node = this.nodes.find((node) => node.id === Number(id))
          return node === undefined ? { status: 404 } : reply(200, node)
        }
        const page = Number(query["page_no"])
        const size = Number(query["per_page"])
        const shown = this.late > 0 ? this.nodes.filter(({ id }) => id !== this.#lost) : this.nodes
        if (this.#lost > 0) this.late--
        return reply(200, shown.slice((page - 1) * size, page * size))
      }
      const fate = this.fate(this.posts++)
      if (fate === "refused") return { status: 422, body: `{"code":422,"errors":{"name":["no"]}}` }
      if (fate === "unmade") return lost
      if (fate === "fault") return { status: 500 }
      if (fate === "throttled") return { status: 429 }
      if (typeof fate === "object" && "existing" in fate) {
        return reply(
          202,
          this.nodes.find(({ id }) => id === fate.existing)
        )
      }
      const node = this.make((body as { readonly name: string }).name)
      if (fate === "lost") {
        this.#lost = node.id
        return lost
      }
      const shown = typeof fate === "object" ? fate : {}
      const answer = fate === 500 ? { status: 500 } : reply(202, { ...node, status: "Create", ...shown })
      return Effect.delay(Effect.succeed(answer), this.replyMillis)
    }) as Layer.Layer<Berth>
  }
}

/** Looks for the node of an earlier create, and sends nothing. */
const adopt = (name: string, key: string) =>
  Nodes.use((nodes) => nodes.create({ name, plan: "P", image: "I" }, { key, adoptOnly: true }))

const create = (name: string, key?: string) =>
  Nodes.use((nodes) => nodes.create({ name, plan: "P", image: "I" }, key === undefined ? {} : { key }))

/** Creates `count` nodes, `concurrency` at a time, named by `name`. */
const createMany = (count: number, concurrency: number, name: (i: number) => string) =>
  inTime(
    Effect.forEach(
      Array.from({ length: count }, (_, i) => i),
      (i) => create(name(i)),
      { concurrency }
    )
  )

describe("a create", () => {
  for (const [fate, what] of [
    ["lost", "whose reply is lost"],
    [500, "that is answered with a 500 although it was done"]
  ] as const) {
    for (const [same, name] of [
      ["under names of their own", (i: number) => `node-${i}`],
      ["all under one name", () => "node"]
    ] as const) {
      it.effect(`${what} is adopted, not repeated: every third of 300, ${same}`, () => {
        const service = new Service((post) => (post % 3 === 2 ? fate : "reply"))
        return Effect.gen(function* () {
          const creations = yield* createMany(300, 20, name)
          assert.strictEqual(service.nodes.length, 300)
          assert.strictEqual(service.posts, 300)
          assert.strictEqual(new Set(creations.map(({ node }) => node.id)).size, 300)
          assert.strictEqual(creations.filter(({ outcome }) => outcome === "adopted").length, 100)
        }).pipe(Effect.provide(service.layer))
      })
    }
  }

  it.effect("never adopts an older node of the same name, also where the service's clock stands still", () => {
    const service = new Service(() => "unmade")
    service.make("web")
    return Effect.gen(function* () {
      const { reason } = yield* inTime(Effect.flip(create("web")))
      assert.strictEqual(reason._tag, "OutcomeUnknown")
      if (reason._tag === "OutcomeUnknown") assert.isEmpty(reason.candidates)
      assert.strictEqual(service.posts, 1)
    }).pipe(Effect.provide(service.layer))
  })

  it.effect("never adopts a node that another program made between two of its own", () => {
    const service = new Service((post) => (post === 0 ? "reply" : "unmade"))
    return Effect.gen(function* () {
      yield* inTime(create("warm"))
      service.make("web")
      const { reason } = yield* inTime(Effect.flip(create("web")))
      assert.strictEqual(reason._tag, "OutcomeUnknown")
      if (reason._tag === "OutcomeUnknown") assert.isEmpty(reason.candidates)
    }).pipe(Effect.provide(service.layer))
  })

  it.effect("never adopts a node older than one of its own, which the list did not show yet", () => {
    const made = (id: number) => ({
      id,
      name: "web",
      created_at: "2026-01-01T00:00:00.000000Z",
      plan: "P",
      status: "created"
    })
    let posts = 0
    let shown: ReadonlyArray<object> = []
    // The service states no time, so only the ids show which node is older.
    const service = layer(({ method }) => {
      if (method === "GET") return ok(shown)
      if (posts++ === 0) return ok(made(101))
      shown = [made(100)]
      return lost
    })
    return Effect.gen(function* () {
      const first = yield* inTime(create("web"))
      assert.strictEqual(first.node.id, NodeId.make(101))
      const { reason } = yield* inTime(Effect.flip(create("web")))
      assert.strictEqual(reason._tag, "OutcomeUnknown")
      assert.strictEqual(posts, 2)
    }).pipe(Effect.provide(service))
  })

  it.effect("is resolved while no other of its name is under way, however many keep coming", () => {
    const service = new Service((post) => (post === 3 ? "lost" : "reply"))
    service.late = 3
    return Effect.gen(function* () {
      const sentWhenResolved: Array<number> = []
      const steady = Effect.forEach(
        Array.from({ length: 200 }, (_, i) => i),
        () =>
          Effect.tap(create("node"), ({ outcome }) =>
            Effect.sync(() => outcome === "adopted" && sentWhenResolved.push(service.posts))
          ),
        { concurrency: 20 }
      )
      yield* inTime(steady)
      assert.strictEqual(service.nodes.length, 200)
      // Only the creates that were under way when the reply was lost had been sent.
      assert.isAtMost(sentWhenResolved[0]!, 25)
    }).pipe(Effect.provide(service.layer))
  })

  it.effect("whose time is up before anything was sent is timed out, with nothing sent", () => {
    const silent = layer(() => Effect.never)
    return Effect.gen(function* () {
      const asked = Nodes.use((nodes) =>
        nodes.create({ name: "web", plan: "P", image: "I" }, { deadline: "500 millis" })
      )
      const { attempts, reason } = yield* inTime(Effect.flip(asked))
      assert.strictEqual(reason._tag, "TimedOut")
      if (reason._tag === "TimedOut") assert.strictEqual(reason.sent, "no")
      assert.isNotEmpty(attempts)
    }).pipe(Effect.provide(silent))
  })

  it.effect("whose time is up while it reads the list has the attempts at that", () => {
    // No time limit can end the request, as in a program that is busy beyond all time limits.
    const stuck = layer(() => Effect.uninterruptible(Effect.as(Effect.sleep("2 seconds"), ok([]))))
    return Effect.gen(function* () {
      const asked = Nodes.use((nodes) =>
        nodes.create({ name: "web", plan: "P", image: "I" }, { deadline: "500 millis" })
      )
      const { attempts, reason } = yield* inTime(Effect.flip(asked))
      assert.strictEqual(reason._tag, "TimedOut")
      assert.isNotEmpty(attempts)
    }).pipe(Effect.provide(stuck))
  })

  it.effect("whose time is up before its reply is there carries its attempt, and the deadline it was given", () => {
    const silent = layer(({ method }) => (method === "POST" ? Effect.never : ok([])))
    return Effect.gen(function* () {
      const asked = Nodes.use((nodes) =>
        nodes.create({ name: "web", plan: "P", image: "I" }, { deadline: "5 seconds" })
      )
      const { attempts, message, reason } = yield* inTime(Effect.flip(asked))
      assert.strictEqual(reason._tag, "OutcomeUnknown")
      assert.include(message, "deadline of 5 s")
      assert.lengthOf(attempts, 1)
    }).pipe(Effect.provide(silent))
  })

  it.effect("whose time is up while it is polled for fails for the lost reply, with its attempts", () => {
    const service = new Service(() => "fault")
    return Effect.gen(function* () {
      const asked = Nodes.use((nodes) =>
        nodes.create({ name: "web", plan: "P", image: "I" }, { deadline: "2 seconds" })
      )
      const { attempts, reason } = yield* inTime(Effect.flip(asked))
      assert.strictEqual(reason._tag, "OutcomeUnknown")
      if (reason._tag === "OutcomeUnknown") assert.strictEqual(reason.because, "ServiceFault")
      assert.deepStrictEqual(
        attempts.map(({ status }) => status),
        [500]
      )
    }).pipe(Effect.provide(service.layer))
  })

  it.effect("with more candidates than lost replies names them and adopts none", () => {
    const service: Service = new Service(() => {
      service.make("web")
      return "lost"
    })
    return Effect.gen(function* () {
      const { reason } = yield* inTime(Effect.flip(create("web")))
      assert.strictEqual(reason._tag, "OutcomeUnknown")
      if (reason._tag === "OutcomeUnknown") assert.deepStrictEqual(reason.candidates.map(Number), [100, 101])
    }).pipe(Effect.provide(service.layer))
  })

  it.effect("that was refused fails for that, and is not polled for", () => {
    const service = new Service(() => "refused")
    return Effect.gen(function* () {
      const { reason } = yield* inTime(Effect.flip(create("web")))
      assert.strictEqual(reason._tag, "InvalidRequest")
    }).pipe(Effect.provide(service.layer))
  })

  for (const [what, shown] of [
    ["an id that was there before", { id: 100 }],
    ["an id below all that were there", { id: 5 }],
    ["another name", { name: "db" }],
    ["another plan", { plan: "Q" }]
  ] as const) {
    it.effect(`whose reply has ${what} is not believed, and adopts the node that it made`, () => {
      const service = new Service(() => shown)
      service.make("web")
      return Effect.gen(function* () {
        const { node, outcome } = yield* inTime(create("web"))
        assert.deepStrictEqual([outcome, Number(node.id)], ["adopted", 101])
      }).pipe(Effect.provide(service.layer))
    })
  }

  it.effect("whose reply names an earlier node, although it made none, is unknown and not created", () => {
    const service = new Service(() => ({ existing: 100 }))
    service.make("web")
    return Effect.gen(function* () {
      const { message, reason } = yield* inTime(Effect.flip(create("web")))
      assert.deepInclude(reason, { _tag: "OutcomeUnknown", because: "UnexpectedResponse", candidates: [] })
      assert.include(message, "expected an id above 100, the highest before the create at data.id, got 100")
    }).pipe(Effect.provide(service.layer))
  })

  /** The node of that name probably belongs to somebody else. The create reports the node, does not adopt it, and makes no second node. */
  const isTold = Effect.fnUntraced(function* (creating: Effect.Effect<unknown, BerthError, Nodes>, service: Service) {
    const { reason } = yield* inTime(Effect.flip(creating))
    assert.deepInclude(reason, { _tag: "OutcomeUnknown", because: "RateLimited" })
    if (reason._tag === "OutcomeUnknown") assert.deepStrictEqual(reason.candidates.map(Number), [100])
    assert.strictEqual(service.posts, 1)
  })

  it.effect("that is refused for the rate limit names the new node of its name, and is not repeated", () => {
    const service = new Service(() => {
      service.make("web")
      return "throttled"
    })
    return Effect.provide(isTold(create("web"), service), service.layer)
  })

  for (const [what, key] of [
    ["without a key", undefined],
    ["under a key", "job-1"]
  ] as const) {
    it.effect(`${what} that is refused for the rate limit names a node of its name that is made 11.9 s later`, () => {
      const service = new Service(() => "throttled")
      return Effect.gen(function* () {
        yield* Effect.forkChild(
          Effect.gen(function* () {
            while (service.posts === 0) yield* Effect.sleep(10)
            yield* Effect.sleep(11_900)
            service.make("web")
          })
        )
        yield* isTold(create("web", key), service)
      }).pipe(Effect.provide(service.layer), Effect.provideService(IntentStore, makeMemory()))
    })
  }

  it.effect("that is refused for the rate limit and fails for that takes no node in the next call", () => {
    const service = new Service(() => "throttled")
    return Effect.gen(function* () {
      const first = Nodes.use((nodes) =>
        nodes.create({ name: "web", plan: "P", image: "I" }, { key: "job-1", deadline: "5 seconds" })
      )
      assert.strictEqual((yield* inTime(Effect.flip(first))).reason._tag, "RateLimited")
      service.make("web")
      const { reason } = yield* inTime(Effect.flip(create("web", "job-1")))
      assert.deepInclude(reason, { _tag: "OutcomeUnknown" })
      if (reason._tag === "OutcomeUnknown") assert.deepStrictEqual(reason.candidates.map(Number), [100])
      assert.strictEqual(service.posts, 1)
    }).pipe(Effect.provide(service.layer), Effect.provideService(IntentStore, makeMemory()))
  })

  it.effect("that is refused for the rate limit and made nothing is sent again after one look at the list", () => {
    const service = new Service((post) => (post < 2 ? "throttled" : "reply"))
    return Effect.gen(function* () {
      assert.strictEqual((yield* inTime(create("web"))).outcome, "created")
      assert.strictEqual(service.posts, 3)
      assert.lengthOf(service.nodes, 1)
    }).pipe(Effect.provide(service.layer))
  })

  it.effect("finds its node behind many others in few requests", () => {
    const service = new Service(() => "lost")
    for (let i = 0; i < 10_000; i++) service.make(`old-${i}`)
    return Effect.gen(function* () {
      const { node, outcome } = yield* inTime(create("web"))
      assert.strictEqual(outcome, "adopted")
      assert.strictEqual(Number(node.id), 10_100)
    }).pipe(Effect.provide(service.layer))
  })
})

const full = Effect.fail(new IntentStoreFailed({ detail: "no space left", code: "ENOSPC", path: "/state" }))
const unwritable = { ...makeMemory(), save: () => full, remove: () => full }

describe("a create without a key", () => {
  for (const [fate, left] of [
    ["reply", []],
    ["lost", []],
    ["refused", []],
    ["unmade", ["reported"]]
  ] as const) {
    it.effect(`leaves no intent when it ends, unless it may have made a node that is not known: ${fate}`, () => {
      const service = new Service(() => fate)
      const store = makeMemory()
      return Effect.gen(function* () {
        yield* inTime(Effect.exit(create("web")))
        assert.strictEqual(service.posts, 1)
        assert.deepStrictEqual(
          (yield* store.unsettled).map(({ fate }) => fate),
          [...left]
        )
      }).pipe(Effect.provide(service.layer), Effect.provideService(IntentStore, store))
    })
  }

  for (const [when, millis, left] of [
    ["before it is sent", 0, []],
    ["after that", 100, ["reported"]]
  ] as const) {
    it.effect(`that is interrupted ${when} leaves ${left.length} intents`, () => {
      const service = new Service(() => "unmade")
      const store = makeMemory()
      return Effect.gen(function* () {
        yield* inTime(Effect.timeoutOption(create("web"), millis))
        assert.strictEqual(service.posts, left.length)
        assert.deepStrictEqual(
          (yield* store.unsettled).map(({ fate }) => fate),
          [...left]
        )
      }).pipe(Effect.provide(service.layer), Effect.provideService(IntentStore, store))
    })
  }

  /** Creates in several processes that share only the store. */
  const inProcesses = (service: Service, store: IntentStore, specs: ReadonlyArray<Partial<NodeSpec>>) =>
    inTime(
      Effect.forEach(
        specs,
        (spec) =>
          Effect.result(
            Nodes.use((nodes) => nodes.create({ name: "web", plan: "P", image: "I", ...spec })).pipe(
              Effect.provide(service.layer, { local: true }),
              Effect.provideService(IntentStore, store)
            )
          ),
        { concurrency: "unbounded" }
      )
    )

  /** A store of several processes. Each process sees the claims of the others. */
  const shared = () => {
    const store = makeMemory()
    const claims = new Map<string, Intent>()
    const save = (intent: Intent) =>
      Effect.andThen(
        Effect.sync(() => intent.nodeId !== null && claims.set(intent.key, intent)),
        store.save(intent)
      )
    return { ...store, save, unsettled: Effect.map(store.unsettled, (intents) => [...intents, ...claims.values()]) }
  }

  for (const made of [1, 3, 6]) {
    it.effect(`of six processes, whose replies are all lost: ${made} were made, and no two take one node`, () => {
      const service = new Service((post) => (post < made ? "lost" : "unmade"))
      return Effect.gen(function* () {
        const results = yield* inProcesses(service, shared(), [{}, {}, {}, {}, {}, {}])
        const taken = results.filter(Result.isSuccess).map(({ success }) => success.node.id)
        assert.lengthOf(taken, made)
        assert.strictEqual(new Set(taken).size, made)
        for (const { failure } of results.filter(Result.isFailure)) {
          assert.strictEqual(failure.reason._tag, "OutcomeUnknown")
        }
      })
    })
  }

  it.effect("does not take the node that the reply to another process has named", () => {
    const service = new Service((post) => (post === 0 ? "reply" : "unmade"))
    return Effect.gen(function* () {
      const results = yield* inProcesses(service, shared(), [{}, {}])
      assert.lengthOf(results.filter(Result.isSuccess), 1)
    })
  })

  it.effect("whose reply is lost beside one of another spec takes no node that may be that one's", () => {
    const service = new Service(() => "lost")
    return Effect.gen(function* () {
      const results = yield* inProcesses(service, shared(), [{ sshKeys: ["a"] }, { sshKeys: ["b"] }])
      for (const result of results) {
        if (Result.isSuccess(result)) return assert.fail("taken")
        const { reason } = result.failure
        assert.deepInclude(reason, { _tag: "OutcomeUnknown", candidates: [NodeId.make(100), NodeId.make(101)] })
      }
    })
  })

  it.effect("is made also where no intent can be written", () => {
    const service = new Service(() => "reply")
    return Effect.gen(function* () {
      assert.strictEqual((yield* inTime(create("web"))).outcome, "created")
    }).pipe(Effect.provide(service.layer), Effect.provideService(IntentStore, unwritable))
  })
})

describe("a create with a key", () => {
  it.effect("asked for again makes no second node", () => {
    const service = new Service(() => "reply")
    return Effect.gen(function* () {
      const first = yield* inTime(create("web", "job-1"))
      const second = yield* inTime(create("web", "job-1"))
      assert.deepStrictEqual([first.outcome, second.outcome], ["created", "adopted"])
      assert.strictEqual(second.node.id, first.node.id)
      assert.strictEqual(service.nodes.length, 1)
    }).pipe(Effect.provide(service.layer), Effect.provideService(IntentStore, makeMemory()))
  })

  it.effect("asked for twice at once makes one node, too", () => {
    const service = new Service(() => "reply")
    return Effect.gen(function* () {
      const both = yield* inTime(
        Effect.all([create("web", "job-1"), create("web", "job-1")], { concurrency: "unbounded" })
      )
      assert.deepStrictEqual(
        both.map(({ node, outcome }) => [outcome, Number(node.id)]),
        [
          ["created", 100],
          ["adopted", 100]
        ]
      )
      assert.strictEqual(service.posts, 1)
    }).pipe(Effect.provide(service.layer), Effect.provideService(IntentStore, makeMemory()))
  })

  it.effect("that was another create's is refused, and does not give the node of that one", () => {
    const service = new Service(() => "reply")
    return Effect.gen(function* () {
      yield* inTime(create("web", "job-1"))
      const { message, reason } = yield* inTime(Effect.flip(create("db", "job-1")))
      assert.strictEqual(reason._tag, "InvalidRequest")
      assert.include(message, "key: it belongs to another create, of web on P from I")
      assert.strictEqual(service.posts, 1)
    }).pipe(Effect.provide(service.layer), Effect.provideService(IntentStore, makeMemory()))
  })

  it.effect("is refused with other tags, SSH keys or backups, and not for the order of those", () => {
    const service = new Service(() => "reply")
    const ask = (spec: Partial<NodeSpec>) =>
      inTime(
        Effect.result(
          Nodes.use((nodes) =>
            nodes.create({ name: "web", plan: "P", image: "I", tags: ["a", "b"], ...spec }, { key: "job-1" })
          )
        )
      )
    return Effect.gen(function* () {
      assert.isTrue(Result.isSuccess(yield* ask({})))
      assert.isTrue(Result.isSuccess(yield* ask({ tags: ["b", "a", "b"], region: "ncr" })))
      for (const other of [{ tags: ["a"] }, { sshKeys: ["k"] }, { backups: true }]) {
        const { message } = Result.getOrThrow(Result.flip(yield* ask(other)))
        assert.include(message, "it belongs to another create, of web on P from I with other tags")
      }
      assert.strictEqual(service.posts, 1)
    }).pipe(Effect.provide(service.layer), Effect.provideService(IntentStore, makeMemory()))
  })

  it.effect("whose node is gone fails, and makes no other", () => {
    const service = new Service(() => "reply")
    return Effect.gen(function* () {
      yield* inTime(create("web", "job-1"))
      service.nodes.pop()
      const { message } = yield* inTime(Effect.flip(create("web", "job-1")))
      assert.include(message, "key: it made node 100, which is gone")
      assert.strictEqual(service.posts, 1)
    }).pipe(Effect.provide(service.layer), Effect.provideService(IntentStore, makeMemory()))
  })

  /** The store of a process that is killed when its reply arrives: only the writes before that are kept. */
  const untilKilled = (store: IntentStore): IntentStore => ({
    ...store,
    save: (intent) => (intent.nodeId === null && intent.fate === "open" ? store.save(intent) : Effect.never),
    remove: () => Effect.never
  })

  /** Creates in a separate process that shares only the store with others. */
  const inProcess = (service: Service, store: IntentStore, key: string) =>
    inTime(create("web", key)).pipe(
      Effect.provide(service.layer, { local: true }),
      Effect.provideService(IntentStore, store)
    )

  it.effect("whose process ended after it was done is finished by the next one, with that node", () => {
    const service = new Service(() => "lost")
    const store = makeMemory()
    return Effect.gen(function* () {
      yield* Effect.timeoutOption(inProcess(service, untilKilled(store), "job-1"), 100)
      const startedAt = yield* monotonicMillis
      const { node } = yield* inProcess(service, store, "job-1")
      assert.isAtMost((yield* monotonicMillis) - startedAt, 2000)
      assert.deepStrictEqual(
        service.nodes.map(({ id }) => id),
        [node.id]
      )
    })
  })

  it.effect("whose reply was lost and that shows no node is not sent again for ten minutes, and then it is", () => {
    let dropsCreates = true
    const service = new Service(() => (dropsCreates ? "unmade" : "reply"))
    const store = makeMemory()
    return Effect.gen(function* () {
      for (const minutes of [0, 1, 4, 3]) {
        yield* TestClock.adjust(Duration.minutes(minutes))
        const { reason } = yield* Effect.flip(inProcess(service, store, "job-1"))
        assert.strictEqual(reason._tag, "OutcomeUnknown")
        assert.strictEqual(service.posts, 1)
        dropsCreates = false
      }
      yield* TestClock.adjust("2 minutes")
      const { outcome } = yield* inProcess(service, store, "job-1")
      assert.strictEqual(outcome, "created")
      assert.lengthOf(service.nodes, 1)
    })
  })

  it.effect("that was ended by its own deadline or its caller is not sent again for ten minutes either", () => {
    const store = makeMemory()
    let posts = 0
    const silent = layer(({ method }) => {
      if (method !== "POST") return ok([])
      posts++
      return Effect.never
    })
    const ask = (key: string, deadline: Duration.Input) =>
      Nodes.use((nodes) => nodes.create({ name: key, plan: "P", image: "I" }, { key, deadline }))
    return Effect.gen(function* () {
      yield* inTime(Effect.flip(ask("job-1", "3 seconds")))
      yield* inTime(Effect.timeoutOption(ask("job-2", "1 minute"), "3 seconds"))
      assert.strictEqual(posts, 2)
      for (const key of ["job-1", "job-2"]) {
        const { reason } = yield* inTime(Effect.flip(ask(key, "2 minutes")))
        assert.strictEqual(reason._tag, "OutcomeUnknown")
      }
      assert.strictEqual(posts, 2)
    }).pipe(Effect.provide(silent), Effect.provideService(IntentStore, store))
  })

  it.effect("whose process was killed as it sent is finished by the next ones, however late the service is", () => {
    const service = new Service(() => "unmade")
    const store = makeMemory()
    return Effect.gen(function* () {
      yield* Effect.timeoutOption(inProcess(service, untilKilled(store), "job-1"), 100)
      for (const minutes of [0, 1, 6]) {
        yield* TestClock.adjust(Duration.minutes(minutes))
        const { reason } = yield* Effect.flip(inProcess(service, store, "job-1"))
        assert.strictEqual(reason._tag, "OutcomeUnknown")
      }
      const late = service.make("web")
      assert.strictEqual((yield* inProcess(service, store, "job-1")).node.id, late.id)
      assert.strictEqual(service.posts, 1)
    })
  })

  it.effect("that was written and never sent is sent by the next process at once", () => {
    const service = new Service(() => "reply")
    const store = makeMemory()
    return Effect.gen(function* () {
      const beforeSending = { ...store, save: (intent: Intent) => (intent.sentAt ? Effect.never : store.save(intent)) }
      yield* Effect.timeoutOption(inProcess(service, beforeSending, "job-1"), 100)
      assert.strictEqual(service.posts, 0)
      const startedAt = yield* monotonicMillis
      assert.strictEqual((yield* inProcess(service, store, "job-1")).outcome, "created")
      assert.isAtMost((yield* monotonicMillis) - startedAt, 1000)
    })
  })

  it.effect("that was certainly not processed is written as not sent, until it is sent again", () => {
    const seen: Array<boolean> = []
    const store = makeMemory()
    let posts = 0
    const away = layer(({ method }) => {
      if (method !== "POST") return ok([])
      return posts++ === 0
        ? Effect.fail(Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }))
        : { status: 422, body: `{"code":422,"errors":{"name":["no"]}}` }
    })
    const watched: IntentStore = {
      ...store,
      save: (intent) =>
        Effect.andThen(
          Effect.sync(() => seen.push(intent.sentAt !== null)),
          store.save(intent)
        )
    }
    return Effect.gen(function* () {
      const { reason } = yield* inTime(Effect.flip(create("web", "job-1")))
      assert.strictEqual(reason._tag, "InvalidRequest")
      // Prepared, sent, not connected, sent again, rejected.
      assert.deepStrictEqual(seen, [false, true, false, true, false])
    }).pipe(Effect.provide(away), Effect.provideService(IntentStore, watched))
  })

  it.effect("whose key another process has taken over meanwhile is not sent", () => {
    const service = new Service(() => "reply")
    const store = makeMemory()
    const taken: IntentStore = {
      ...store,
      withKeyLock: (key) => (use) =>
        store.withKeyLock(key)(() =>
          use({ confirm: Effect.fail(new IntentStoreFailed({ detail: "it was taken over", code: null, path: null })) })
        )
    }
    return Effect.gen(function* () {
      const { message } = yield* inTime(Effect.flip(create("web", "job-1")))
      assert.include(message, "it was taken over")
      assert.strictEqual(service.posts, 0)
    }).pipe(Effect.provide(service.layer), Effect.provideService(IntentStore, taken))
  })

  for (const [when, confirms] of [
    ["before it wrote its intent", 0],
    ["while it waited for its turn", 1]
  ] as const) {
    it.effect(`whose key another process took over ${when} leaves the intent of that process as it is`, () => {
      const service = new Service(() => "reply")
      const store = makeMemory()
      const theirs: Intent = {
        version: 1,
        key: "job-1",
        name: "web",
        plan: "P",
        image: "I",
        spec: null,
        newerThan: 0,
        sentAt: { wallMillis: 0, bootMillis: 0, bootClock: "memory", serviceMillis: 0 },
        fate: "open",
        nodeId: null
      }
      let left: number = confirms
      const confirm = Effect.suspend(() =>
        left-- > 0
          ? Effect.void
          : Effect.andThen(
              store.save(theirs),
              Effect.fail(new IntentStoreFailed({ detail: "it was taken over", code: null, path: null }))
            )
      )
      const taken: IntentStore = {
        ...store,
        withKeyLock: (key) => (use) => store.withKeyLock(key)(() => use({ confirm }))
      }
      return Effect.gen(function* () {
        const { message } = yield* inTime(Effect.flip(create("web", "job-1")))
        assert.include(message, "it was taken over")
        assert.deepStrictEqual(yield* store.unsettled, [theirs])
        assert.strictEqual(service.posts, 0)
      }).pipe(Effect.provide(service.layer), Effect.provideService(IntentStore, taken))
    })
  }

  it.effect("and one alike, of two processes, whose replies are both lost, take a node each", () => {
    const service = new Service(() => "lost")
    const store = makeMemory()
    const slow = { ...store, unsettled: Effect.tap(store.unsettled, () => Effect.sleep(100)) }
    return Effect.gen(function* () {
      const both = yield* Effect.forEach(["job-1", "job-2"], (key) => inProcess(service, slow, key), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(both.map(({ node }) => Number(node.id)).toSorted(), [100, 101])
      assert.strictEqual(service.posts, 2)
    })
  })

  it.effect(
    "does not count one alike as lost that was settled, although its process was killed before it said so",
    () => {
      const service = new Service((post) => {
        // Another program makes a node of the same name at the same moment.
        if (post === 1) service.make("web")
        return post === 0 ? "reply" : "lost"
      })
      const store = makeMemory()
      let sent: Intent | undefined
      const noting: IntentStore = {
        ...store,
        save: (intent) => {
          if (intent.key === "job-1" && intent.sentAt !== null && intent.nodeId === null) sent = intent
          return store.save(intent)
        }
      }
      const left: IntentStore = {
        ...store,
        unsettled: Effect.map(store.unsettled, (intents) => [...intents, { ...sent!, fate: "lost" }])
      }
      return Effect.gen(function* () {
        yield* inProcess(service, noting, "job-1")
        const { reason } = yield* Effect.flip(inProcess(service, left, "job-2"))
        assert.deepInclude(reason, { _tag: "OutcomeUnknown", candidates: [NodeId.make(101), NodeId.make(102)] })
      })
    }
  )

  it.effect("and one alike take a node each, also where it takes long to write which", () => {
    const service = new Service(() => 500)
    service.replyMillis = 1000
    const store = makeMemory()
    const slow: IntentStore = {
      ...store,
      // Both creates read the list before either is sent, and both are sent before either reply arrives.
      save: (intent) =>
        Effect.delay(store.save(intent), intent.sentAt === null ? 1000 : intent.nodeId === null ? 0 : 5000)
    }
    return Effect.gen(function* () {
      const both = yield* Effect.forEach(["job-1", "job-2"], (key) => inProcess(service, slow, key), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(both.map(({ node }) => Number(node.id)).toSorted(), [100, 101])
    })
  })

  it.effect("writes its intent once at a time, however long that takes", () => {
    const store = makeMemory()
    let posts = 0
    const slowly = layer(({ method }) => {
      if (method !== "POST") return ok([])
      return Effect.delay(Effect.succeed({ status: posts++ === 0 ? 429 : 500, body: "" }), 450)
    })
    let writing = 0
    const written: Array<string> = []
    const slow: IntentStore = {
      ...store,
      save: (intent) =>
        Effect.gen(function* () {
          assert.strictEqual(++writing, 1)
          yield* Effect.sleep(600)
          yield* store.save(intent)
          written.push(intent.sentAt === null ? "unsent" : intent.fate)
          writing--
        })
    }
    return Effect.gen(function* () {
      const { reason } = yield* inTime(Effect.flip(create("web", "job-1")))
      assert.strictEqual(reason._tag, "OutcomeUnknown")
      assert.deepStrictEqual(written, ["unsent", "open", "refused", "unsent", "open", "lost"])
    }).pipe(Effect.provide(slowly), Effect.provideService(IntentStore, slow))
  })

  it.effect("takes no node that the reply to another process may name", () => {
    // The first create is never processed. The second one is, and its reply takes two seconds.
    const store = makeMemory()
    const service = new Service((post) => (post === 0 ? "unmade" : "reply"))
    service.replyMillis = 2000
    return Effect.gen(function* () {
      const [first, second] = yield* Effect.forEach(
        ["job-1", "job-2"],
        (key, i) => Effect.delay(Effect.result(inProcess(service, store, key)), 100 * i),
        { concurrency: "unbounded" }
      )
      assert.isTrue(Result.isSuccess(second!))
      // That node belongs to the second create, so none is known for the first.
      assert.isTrue(Result.isFailure(first!))
      assert.lengthOf(service.nodes, 1)
    })
  })

  it.effect("fails before sending if it cannot be kept", () => {
    const service = new Service(() => "reply")
    return Effect.gen(function* () {
      const { message, reason } = yield* inTime(Effect.flip(create("web", "job-1")))
      assert.strictEqual(reason._tag, "InvalidRequest")
      assert.include(message, "key: there is nowhere to keep it")
      assert.strictEqual(service.posts, 0)
    }).pipe(Effect.provide(service.layer))
  })

  it.effect("succeeds once its node is known, also where that cannot be written", () => {
    const service = new Service(() => "reply")
    const store = makeMemory()
    const forgetful = { ...store, save: (intent: Intent) => (intent.nodeId === null ? store.save(intent) : full) }
    return Effect.gen(function* () {
      assert.strictEqual((yield* inTime(create("web", "job-1"))).outcome, "created")
      assert.strictEqual((yield* inTime(create("web", "job-1"))).outcome, "adopted")
      assert.strictEqual(service.posts, 1)
    }).pipe(Effect.provide(service.layer), Effect.provideService(IntentStore, forgetful))
  })

  it.effect("sends no create that cannot be recorded, and says what is full", () => {
    const service = new Service(() => "reply")
    return Effect.gen(function* () {
      const { message, reason, retryable } = yield* inTime(Effect.flip(create("web", "job-1")))
      assert.deepStrictEqual([reason._tag, reason.exit, retryable], ["StateUnavailable", "localFile", true])
      assert.strictEqual(message, "The state of this account cannot be kept in /state: the disk is full (ENOSPC).")
      assert.strictEqual(service.posts, 0)
    }).pipe(Effect.provide(service.layer), Effect.provideService(IntentStore, unwritable))
  })

  it.effect("that cannot be a file name is refused before anything is sent", () => {
    const service = new Service(() => "reply")
    return Effect.gen(function* () {
      const { reason } = yield* inTime(Effect.flip(create("web", "../../etc")))
      assert.strictEqual(reason._tag, "InvalidRequest")
      assert.strictEqual(service.posts, 0)
    }).pipe(Effect.provide(service.layer))
  })
})

describe("a create that only adopts", () => {
  it.effect("returns the node of a create whose reply was lost and whose caller gave up", () => {
    const service = new Service(() => "lost")
    service.late = 100
    return Effect.gen(function* () {
      const { reason } = yield* inTime(Effect.flip(create("web", "job")))
      assert.strictEqual(reason._tag, "OutcomeUnknown")
      service.late = 0
      const { node, outcome } = yield* inTime(adopt("web", "job"))
      assert.deepStrictEqual([outcome, node.id, service.posts], ["adopted", service.nodes[0]!.id as NodeId, 1])
    }).pipe(Effect.provide(service.layer), Effect.provideService(IntentStore, makeMemory()))
  })

  it.effect("sends nothing if no create has the key", () => {
    const service = new Service(() => "reply")
    return Effect.gen(function* () {
      const { reason } = yield* inTime(Effect.flip(adopt("web", "job")))
      assert.strictEqual(reason._tag, "InvalidRequest")
      assert.include(reason.message, "no create with it made a node")
      assert.strictEqual(service.posts, 0)
    }).pipe(Effect.provide(service.layer), Effect.provideService(IntentStore, makeMemory()))
  })

  it.effect(
    "does not know what came of a create while it may still come, and sends nothing when it cannot any more",
    () => {
      const service = new Service(() => "unmade")
      return Effect.gen(function* () {
        yield* inTime(Effect.flip(create("web", "job")))
        const early = yield* inTime(Effect.flip(adopt("web", "job")))
        assert.strictEqual(early.reason._tag, "OutcomeUnknown")
        yield* TestClock.adjust("11 minutes")
        const late = yield* inTime(Effect.flip(adopt("web", "job")))
        assert.strictEqual(late.reason._tag, "InvalidRequest")
        assert.strictEqual(service.posts, 1)
      }).pipe(Effect.provide(service.layer), Effect.provideService(IntentStore, makeMemory()))
    }
  )

  it.effect("does not repeat a create that the rate limit refused", () => {
    const service = new Service(() => "throttled")
    return Effect.gen(function* () {
      yield* inTime(Effect.flip(create("web", "job")))
      const { posts } = service
      const { reason } = yield* inTime(Effect.flip(adopt("web", "job")))
      assert.strictEqual(reason._tag, "InvalidRequest")
      assert.strictEqual(service.posts, posts)
    }).pipe(Effect.provide(service.layer), Effect.provideService(IntentStore, makeMemory()))
  })
})
