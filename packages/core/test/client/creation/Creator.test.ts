import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { HttpClientError, type HttpClientRequest } from "effect/http"
import type { Berth } from "../../../src/client/Berth.ts"
import { IntentStore, makeMemory } from "../../../src/client/creation/IntentStore.ts"
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
  posts = 0
  readonly fate: (post: number) => "reply" | "lost" | 500 | "refused" | "unmade"
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
        if (id !== undefined)
          return Effect.succeed(
            reply(
              200,
              this.nodes.find((node) => node.id === Number(id))
            )
          )
        const page = Number(url.searchParams.get("page_no"))
        const size = Number(url.searchParams.get("per_page"))
        return Effect.succeed(reply(200, this.nodes.slice((page - 1) * size, page * size)))
      }
      const fate = this.fate(this.posts++)
      if (fate === "refused") return Effect.succeed({ status: 422, body: `{"code":422,"errors":{"name":["no"]}}` })
      if (fate === "unmade") return lost(request)
      const body: { name: string } =
        request.body._tag === "Uint8Array"
          ? JSON.parse(new TextDecoder().decode(request.body.body))
          : assert.fail("no body")
      const node = this.make(body.name)
      if (fate === "lost") return lost(request)
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

  for (const [fate, made] of [
    ["lost", "after it was done"],
    ["unmade", "before it was sent"]
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
        const { node } = yield* inTime(create("web", "job-1")).pipe(
          Effect.provide(service.layer),
          Effect.provideService(IntentStore, store)
        )
        assert.deepStrictEqual(
          service.nodes.map(({ id }) => id),
          [node.id]
        )
      })
    })
  }

  it.effect("that cannot be a file name is refused before anything is sent", () => {
    const service = new Service(() => "reply")
    return Effect.gen(function* () {
      const { reason } = yield* inTime(Effect.flip(create("web", "../../etc")))
      assert.strictEqual(reason._tag, "InvalidRequest")
      assert.strictEqual(service.posts, 0)
    }).pipe(Effect.provide(service.layer))
  })
})
