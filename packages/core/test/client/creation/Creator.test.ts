import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, type Layer } from "effect"
import { HttpClientError, type HttpClientRequest } from "effect/http"
import type { Berth } from "../../../src/client/Berth.ts"
import type { Intent } from "../../../src/client/creation/Intent.ts"
import { IntentStore, IntentStoreFailed, makeMemory } from "../../../src/client/creation/IntentStore.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import { clientOver, inTime, type ScriptedReply, success } from "../../ScriptedService.ts"

interface Made {
  readonly id: number
  readonly name: string
  readonly created_at: string
  readonly plan: string
  readonly status: string
}

const lost = (request: HttpClientRequest.HttpClientRequest) =>
  Effect.fail(
    new HttpClientError.HttpClientError({
      reason: new HttpClientError.TransportError({
        request,
        cause: Object.assign(new Error("reset"), { code: "ECONNRESET" })
      })
    })
  )

/** A service that makes nodes and then answers as `fate` says; its clock stands still, as a frozen world's does. */
class Service {
  readonly nodes: Array<Made> = []
  #next = 100
  #lost = 0
  posts = 0
  /** So many looks at the list do not show the node of a lost reply yet. */
  late = 0
  readonly fate: (post: number) => "reply" | "lost" | 500 | "refused" | "unmade" | "fault"
  constructor(fate: Service["fate"]) {
    this.fate = fate
  }
  make(name: string): Made {
    const node = { id: this.#next++, name, created_at: "2026-01-01T00:00:00.000000Z", plan: "P", status: "created" }
    this.nodes.push(node)
    return node
  }
  get layer(): Layer.Layer<Berth> {
    const reply = (status: number, data: unknown): ScriptedReply => ({
      status,
      headers: { date: "Thu, 01 Jan 2026 00:00:00 GMT" },
      body: success(data)
    })
    return clientOver((request, url) => {
      if (request.method === "GET") {
        const id = /nodes\/(\d+)\/$/.exec(url.pathname)?.[1]
        if (id !== undefined) {
          const node = this.nodes.find((node) => node.id === Number(id))
          return Effect.succeed(node === undefined ? { status: 404, body: "" } : reply(200, node))
        }
        const page = Number(url.searchParams.get("page_no"))
        const size = Number(url.searchParams.get("per_page"))
        const shown = this.late > 0 ? this.nodes.filter(({ id }) => id !== this.#lost) : this.nodes
        if (this.#lost > 0) this.late--
        return Effect.succeed(reply(200, shown.slice((page - 1) * size, page * size)))
      }
      const fate = this.fate(this.posts++)
      if (fate === "refused") return Effect.succeed({ status: 422, body: `{"code":422,"errors":{"name":["no"]}}` })
      if (fate === "unmade") return lost(request)
      if (fate === "fault") return Effect.succeed({ status: 500, body: "" })
      const body: { name: string } =
        request.body._tag === "Uint8Array"
          ? JSON.parse(new TextDecoder().decode(request.body.body))
          : assert.fail("no body")
      const node = this.make(body.name)
      if (fate === "lost") {
        this.#lost = node.id
        return lost(request)
      }
      return Effect.succeed(fate === 500 ? { status: 500, body: "" } : reply(202, { ...node, status: "Create" }))
    }) as Layer.Layer<Berth>
  }
}

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

  it.effect("is settled while no other of its name is under way, however many keep coming", () => {
    const service = new Service((post) => (post === 3 ? "lost" : "reply"))
    service.late = 3
    return Effect.gen(function* () {
      const sentWhenSettled: Array<number> = []
      const steady = Effect.forEach(
        Array.from({ length: 200 }, (_, i) => i),
        () =>
          Effect.tap(create("node"), ({ outcome }) =>
            Effect.sync(() => outcome === "adopted" && sentWhenSettled.push(service.posts))
          ),
        { concurrency: 20 }
      )
      yield* inTime(steady)
      assert.strictEqual(service.nodes.length, 200)
      // Those that were under way when the reply was lost, and no more.
      assert.isAtMost(sentWhenSettled[0]!, 25)
    }).pipe(Effect.provide(service.layer))
  })

  it.effect("whose time is up before anything was sent says so", () => {
    const silent = clientOver(() => Effect.never)
    return Effect.gen(function* () {
      const asked = Nodes.use((nodes) =>
        nodes.create({ name: "web", plan: "P", image: "I" }, { deadline: "500 millis" })
      )
      const { reason } = yield* inTime(Effect.flip(asked))
      assert.strictEqual(reason._tag, "TimedOut")
      if (reason._tag === "TimedOut") assert.strictEqual(reason.sent, "no")
    }).pipe(Effect.provide(silent))
  })

  it.effect("whose time is up before its reply is there carries its attempt, and the deadline it was given", () => {
    const silent = clientOver((request) =>
      request.method === "POST" ? Effect.never : Effect.succeed({ status: 200, body: success([]) })
    )
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

  it.effect("whose time is up while it is settled tells of the reply that left it open, with its attempts", () => {
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

  it.effect("that was refused is what it is, and nothing is looked up", () => {
    const service = new Service(() => "refused")
    return Effect.gen(function* () {
      const { reason } = yield* inTime(Effect.flip(create("web")))
      assert.strictEqual(reason._tag, "InvalidRequest")
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

const full = Effect.fail(new IntentStoreFailed({ detail: "no space left" }))
const unwritable = { ...makeMemory(), save: () => full, remove: () => full }

describe("a create without a key", () => {
  for (const fate of ["reply", "lost", "refused", "unmade"] as const) {
    it.effect(`leaves nothing written down when it ends: ${fate}`, () => {
      const service = new Service(() => fate)
      const store = makeMemory()
      return Effect.gen(function* () {
        yield* inTime(Effect.exit(create("web")))
        assert.strictEqual(service.posts, 1)
        assert.deepStrictEqual(yield* store.all, [])
      }).pipe(Effect.provide(service.layer), Effect.provideService(IntentStore, store))
    })
  }

  it.effect("leaves nothing written down when it is interrupted either", () => {
    const service = new Service(() => "lost")
    const store = makeMemory()
    return Effect.gen(function* () {
      yield* inTime(Effect.timeoutOption(create("web"), 100))
      assert.strictEqual(service.posts, 1)
      assert.deepStrictEqual(yield* store.all, [])
    }).pipe(Effect.provide(service.layer), Effect.provideService(IntentStore, store))
  })

  it.effect("needs nothing written down", () => {
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
    }).pipe(Effect.provide(service.layer))
  })

  it.effect("that was another create's is refused, and gives nobody that one's node", () => {
    const service = new Service(() => "reply")
    return Effect.gen(function* () {
      yield* inTime(create("web", "job-1"))
      const { message, reason } = yield* inTime(Effect.flip(create("db", "job-1")))
      assert.strictEqual(reason._tag, "InvalidRequest")
      assert.include(message, "key: it is that of another create, of web on P from I")
      assert.strictEqual(service.posts, 1)
    }).pipe(Effect.provide(service.layer))
  })

  it.effect("whose node is gone says so, and makes no other", () => {
    const service = new Service(() => "reply")
    return Effect.gen(function* () {
      yield* inTime(create("web", "job-1"))
      service.nodes.pop()
      const { message } = yield* inTime(Effect.flip(create("web", "job-1")))
      assert.include(message, "key: it made node 100, which is gone")
      assert.strictEqual(service.posts, 1)
    }).pipe(Effect.provide(service.layer))
  })

  for (const [fate, made, seconds] of [
    ["lost", "after it was done", [0, 2]],
    ["unmade", "before it was sent", [30, 40]]
  ] as const) {
    it.effect(`whose process ended ${made} is finished by the next one, with one node`, () => {
      let ended = false
      const service = new Service(() => (ended ? "reply" : fate))
      const store = makeMemory()
      return Effect.gen(function* () {
        // The first process is killed while it looks for what came of its create.
        yield* Effect.timeoutOption(create("web", "job-1"), 100).pipe(
          inTime,
          Effect.provide(service.layer),
          Effect.provideService(IntentStore, {
            ...store,
            save: (intent) => (intent.nodeId === null ? store.save(intent) : Effect.never),
            remove: () => Effect.never
          })
        )
        ended = true
        const startedAt = yield* Clock.currentTimeMillis
        const { node } = yield* inTime(create("web", "job-1")).pipe(
          Effect.provide(service.layer),
          Effect.provideService(IntentStore, store)
        )
        // Only what the service may still be at has to be waited for.
        const took = ((yield* Clock.currentTimeMillis) - startedAt) / 1000
        assert.isTrue(took >= seconds[0] && took <= seconds[1], `took ${took} s`)
        assert.deepStrictEqual(
          service.nodes.map(({ id }) => id),
          [node.id]
        )
      })
    })
  }

  it.effect("whose process ended takes no node that another such one is about to take", () => {
    const service = new Service(() => "lost")
    const store = makeMemory()
    const slow = { ...store, all: Effect.tap(store.all, () => Effect.sleep(100)) }
    // Each by a client of its own, as by a process of its own.
    const createBoth = inTime(
      Effect.forEach(
        ["job-1", "job-2"],
        (key) => Effect.exit(Effect.provide(create("web", key), service.layer, { local: true })),
        { concurrency: "unbounded" }
      )
    ).pipe(Effect.provideService(IntentStore, slow))
    return Effect.gen(function* () {
      // Neither knows which of the two nodes is its own, nor that there is another one who asks.
      assert.isTrue((yield* createBoth).every(Exit.isFailure))
      const both = yield* createBoth
      assert.deepStrictEqual(
        both.map((exit) => Exit.isSuccess(exit) && Number(exit.value.node.id)).toSorted(),
        [100, 101]
      )
      assert.strictEqual(service.posts, 2)
    })
  })

  it.effect("is done once its node is there, also where that cannot be written down", () => {
    const service = new Service(() => "reply")
    const store = makeMemory()
    const forgetful = { ...store, save: (intent: Intent) => (intent.nodeId === null ? store.save(intent) : full) }
    return Effect.gen(function* () {
      assert.strictEqual((yield* inTime(create("web", "job-1"))).outcome, "created")
      assert.strictEqual((yield* inTime(create("web", "job-1"))).outcome, "adopted")
      assert.strictEqual(service.posts, 1)
    }).pipe(Effect.provide(service.layer), Effect.provideService(IntentStore, forgetful))
  })

  it.effect("sends nothing that cannot be written down", () => {
    const service = new Service(() => "reply")
    return Effect.gen(function* () {
      const { reason } = yield* inTime(Effect.flip(create("web", "job-1")))
      assert.strictEqual(reason._tag, "InvalidRequest")
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
