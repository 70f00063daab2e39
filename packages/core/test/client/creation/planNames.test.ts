/** Creates at a service that shows a plan by its SKU: when the image list is read, and what is stored about a node before that. */
import { failure, layer, nodeRecord, ok, type Request } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import { Images } from "../../../src/client/Images.ts"
import { IntentStore, makeMemory } from "../../../src/client/creation/IntentStore.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import type { ClientOptions } from "../../../src/client/options/Settings.ts"
import { NodeId } from "../../../src/domain/Node.ts"
import { inTime } from "../../inTime.ts"

const image = (plan: string, sku: string) => ({ name: sku, image: "I", plan, specs: { sku_name: sku } })

/** A service whose creates make nodes with these plans, and the requests that it received. */
const serviceOf = ({
  catalogue = ok([image("slug-1", "S.1"), image("slug-2", "S.2")]),
  made = 1,
  shows = "S.1",
  options = {}
}: {
  readonly catalogue?: ReturnType<typeof ok> | Effect.Effect<never>
  readonly made?: number
  readonly shows?: string
  readonly options?: Partial<ClientOptions>
} = {}) => {
  const requests: Array<Request> = []
  const nodes: Array<ReturnType<typeof nodeRecord>> = []
  let answer = catalogue
  const client = layer((request) => {
    requests.push(request)
    const { body, method, path } = request
    if (path === "/images/") return Effect.isEffect(answer) ? answer : Effect.succeed(answer)
    if (method === "GET" && path === "/nodes/") return ok(nodes)
    if (method === "GET") return ok(nodes.find(({ id }) => path === `/nodes/${id}/`))
    const { name } = body as { name: string }
    const records = Array.from({ length: made }, (_, i) =>
      nodeRecord({ id: 100 + nodes.length + i, name, plan: shows, created_at: undefined })
    )
    nodes.push(...records)
    return ok({ node_create_response: records })
  }, options)
  const count = (method: string, path: string) =>
    requests.filter((request) => request.method === method && request.path === path).length
  return { client, count, answers: (reply: typeof answer) => void (answer = reply) }
}

const create = (name: string, key?: string, plan = "slug-1") =>
  Nodes.use((nodes) => nodes.create({ name, plan, image: "I" }, { key }))

describe("the image list", () => {
  it.effect("is not read for a plan that is shown as it was asked for", () => {
    const { client, count } = serviceOf({ shows: "slug-1" })
    return Effect.gen(function* () {
      assert.strictEqual((yield* create("web")).outcome, "created")
      assert.strictEqual(count("GET", "/images/"), 0)
    }).pipe(Effect.provide(client))
  })

  it.effect("is read once for many creates of one client", () => {
    const { client, count } = serviceOf()
    return Effect.gen(function* () {
      for (const name of ["web", "db", "mail"]) assert.strictEqual((yield* create(name)).outcome, "created")
      assert.strictEqual(count("GET", "/images/"), 1)
    }).pipe(Effect.provide(client))
  })

  it.effect("is read anew by a create of a plan that it did not have", () => {
    const { answers, client, count } = serviceOf({ catalogue: ok([image("slug-2", "S.1")]) })
    return Effect.gen(function* () {
      assert.strictEqual((yield* create("web", undefined, "slug-2")).outcome, "created")
      answers(ok([image("slug-1", "S.1")]))
      assert.strictEqual((yield* create("db")).outcome, "created")
      assert.strictEqual(count("GET", "/images/"), 2)
    }).pipe(Effect.provide(client))
  })

  it.effect("has the bounds of its own, unless the options of the client set some", () => {
    const many = ok(Array.from({ length: 20_000 }, (_, i) => image(`slug-${i}`, `S.${i}-${"x".repeat(100)}`)))
    const listWith = (options: Partial<ClientOptions>) =>
      Effect.result(Images.use((images) => images.list())).pipe(
        Effect.provide(serviceOf({ catalogue: many, options }).client, { local: true })
      )
    return Effect.gen(function* () {
      assert.strictEqual(Result.getOrThrow(yield* listWith({})).length, 20_000)
      for (const option of ["maxBodyBytes", "maxBodyTokens"] as const) {
        const error = yield* Effect.flip(Effect.fromResult(yield* listWith({ [option]: 200_000 })))
        assert.include(error.message, `(${option})`)
      }
    })
  })
})

describe("a create whose reply is lost", () => {
  for (const version of ["24.04", "22.04"]) {
    it.effect(`judges a node of the system Ubuntu ${version} by the image list`, () => {
      const made: Array<object> = []
      const ubuntu = (image: string, version: string) => ({
        name: "S.1",
        image,
        plan: `slug-${image}`,
        os: { name: "Ubuntu", version, image },
        specs: { sku_name: "S.1" }
      })
      const client = layer(({ method, path, query }) => {
        if (path === "/images/") return ok([ubuntu("I", "24.04"), ubuntu("J", "22.04")])
        if (method === "GET" && path === "/nodes/") return ok(query["page_no"] === "1" ? made : [])
        if (method === "GET") return ok({ ...made[0], image: undefined, os_info: { name: "Ubuntu", version } })
        made.push({ id: 100, name: "web", plan: "S.1", status: "Creating" })
        return "lost"
      })
      return Effect.gen(function* () {
        const result = yield* Effect.result(inTime(create("web", "job", "slug-I")))
        if (version === "24.04") assert.strictEqual(Result.getOrThrow(result).outcome, "adopted")
        else {
          const { reason } = yield* Effect.flip(Effect.fromResult(result))
          assert.deepInclude(reason, { _tag: "OutcomeUnknown" })
        }
      }).pipe(Effect.provide(client), Effect.provideService(IntentStore, makeMemory()))
    })
  }
})

describe("a create under a key", () => {
  it.effect("that was killed before the image list was read keeps the node of its reply, and finds it", () => {
    const { answers, client, count } = serviceOf({ catalogue: Effect.never })
    const store = makeMemory()
    return Effect.gen(function* () {
      const killed = yield* Effect.forkChild(create("web", "job"))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(count("GET", "/images/"), 1)
      const kept = Option.getOrThrow(yield* store.find("job"))
      assert.deepInclude(kept.told, { id: NodeId.make(100), difference: "the plan S.1 instead of slug-1" })
      yield* Fiber.interrupt(killed)
      answers(ok([image("slug-1", "S.1")]))
      const { node, outcome } = yield* inTime(create("web", "job"))
      assert.deepStrictEqual([outcome, Number(node.id)], ["adopted", 100])
      assert.strictEqual(count("POST", "/nodes/"), 1)
    }).pipe(Effect.provide(client), Effect.provideService(IntentStore, store))
  })

  it.effect("is not sent again while the image list cannot be read, and ends well once it can", () => {
    const { answers, client, count } = serviceOf({ catalogue: failure(403, "API not public") })
    return Effect.gen(function* () {
      for (const later of ["0 seconds", "1 minute"] as const) {
        yield* TestClock.adjust(later)
        const { reason } = yield* Effect.flip(inTime(create("web", "job")))
        assert.deepInclude(reason, {
          _tag: "OutcomeUnknown",
          toldId: NodeId.make(100),
          difference: "the plan S.1 instead of slug-1"
        })
      }
      answers(ok([image("slug-1", "S.1")]))
      assert.strictEqual((yield* inTime(create("web", "job"))).outcome, "adopted")
      assert.strictEqual(count("POST", "/nodes/"), 1)
    }).pipe(Effect.provide(client), Effect.provideService(IntentStore, makeMemory()))
  })

  it.effect("whose reply names several nodes is never sent again, takes none, and always names all", () => {
    const { client, count } = serviceOf({ made: 2, shows: "slug-1" })
    return Effect.gen(function* () {
      for (const later of ["0 seconds", "1 minute", "1 day"] as const) {
        yield* TestClock.adjust(later)
        const { hint, message, reason } = yield* Effect.flip(inTime(create("web", "job")))
        const ids = [NodeId.make(100), NodeId.make(101)]
        assert.deepInclude(reason, { _tag: "OutcomeUnknown", candidates: ids, difference: null })
        assert.include(message, "does not state exactly one node, and the candidates are 100, 101.")
        assert.strictEqual(
          hint,
          "Get the candidates, and delete what you do not need. Under this key the create is not sent again."
        )
      }
      assert.strictEqual(count("POST", "/nodes/"), 1)
    }).pipe(Effect.provide(client), Effect.provideService(IntentStore, makeMemory()))
  })
})
