/** An exporter in memory receives for each public method one span with the method's name, and within it the calls. */
import { readFileSync } from "node:fs"
import { layer, nodeRecord, ok, type Request } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream, Tracer } from "effect"
import { Allowance } from "../../../src/client/Allowance.ts"
import { Images } from "../../../src/client/Images.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import { Plans } from "../../../src/client/Plans.ts"
import { RawApi } from "../../../src/client/RawApi.ts"
import { NodeId } from "../../../src/domain/Node.ts"
import { inTime } from "../../inTime.ts"

const id = NodeId.make(7)
const notes = { status: 404, headers: { "content-type": "application/json" }, body: '{"code":404,"message":"gone"}' }

/** A service with one node, which is gone after a delete. */
const service = () => {
  let isThere = true
  return layer(({ method, path }: Request) => {
    if (method === "DELETE") isThere = false
    if (method === "POST") return ok(nodeRecord({ id: 8, status: "creating" }))
    if (path === "/nodes/7/" && method === "GET") return isThere ? ok(nodeRecord({ id: 7, status: "running" })) : notes
    return path === "/nodes/7/"
      ? ok({})
      : path.endsWith("/nodes/")
        ? ok(isThere ? [nodeRecord({ id: 7 })] : [])
        : ok([])
  })
}

/** A tracer that records spans in the order in which they end. */
const exporting = (ended: Array<Tracer.Span>): Tracer.Tracer =>
  Tracer.make({
    span: (options) => {
      const span = Tracer.nativeTracer.span(options)
      const end = span.end.bind(span)
      span.end = (...args) => {
        end(...args)
        ended.push(span)
      }
      return span
    }
  })

type Calls<S> = { readonly [K in keyof S]: Effect.Effect<unknown, unknown, Nodes | Images | Plans | RawApi> }

const request = { method: "GET", path: "/nodes/" } as const

/** A call of every method that sends requests. If a method is missing here, the compiler complains. */
const calls: {
  readonly nodes: Calls<Nodes["Service"]>
  readonly images: Calls<Images["Service"]>
  readonly plans: Calls<Plans["Service"]>
  readonly raw: Calls<RawApi["Service"]>
} = {
  nodes: {
    create: Nodes.use((nodes) => nodes.create({ name: "web", plan: "P", image: "I" })),
    get: Nodes.use((nodes) => nodes.get(id)),
    list: Nodes.use((nodes) => Stream.runDrain(nodes.list())),
    named: Nodes.use((nodes) => nodes.named("node-7")),
    listPage: Nodes.use((nodes) => nodes.listPage()),
    readPage: Nodes.use((nodes) => nodes.readPage()),
    delete: Nodes.use((nodes) => nodes.delete(id)),
    setCommitment: Nodes.use((nodes) => nodes.setCommitment(id, "auto_terminate")),
    awaitStatus: Nodes.use((nodes) => nodes.awaitStatus(id, "running")),
    awaitDeleted: Nodes.use((nodes) => Effect.andThen(Effect.ignore(nodes.delete(id)), nodes.awaitDeleted(id)))
  },
  images: {
    list: Images.use((images) => images.list()),
    saved: Images.use((images) => images.saved())
  },
  plans: { list: Plans.use((plans) => plans.list()) },
  raw: {
    request: RawApi.use((raw) => raw.request(request)),
    exchange: RawApi.use((raw) => raw.exchange(request))
  }
}

const methods = Object.entries(calls).flatMap(([noun, of]) =>
  Object.entries(of).map(([method, call]) => [`${noun}.${method}`, call] as const)
)

/** The methods of the allowance send no request, so no trace would show anything within their spans. */
const askNothing = ["changeAfter", "changes", "current", "serviceMillis"].map((method) => `allowance.${method}`)

/** The keys of the services that programs can import, by the report of the public interface. A program only implements `Transport`. */
const publicServices = (): ReadonlyArray<string> => {
  const report = readFileSync(new URL("../../../public-api.txt", import.meta.url), "utf8")
  return Array.from(report.matchAll(/^@berthkit\/core\/(client\/\S+)  /gm), ([, entry]) => entry!)
    .flatMap((entry) => {
      const section = report.split(`## dist/${entry}.d.ts\n`)[1]?.split("\n## ")[0] ?? ""
      return Array.from(section.matchAll(/Context\.ServiceClass<\w+, "([^"]+)"/g), ([, key]) => key!)
    })
    .filter((key) => !key.endsWith("/Transport"))
}

const parentOf = (span: Tracer.Span) => (span.parent._tag === "Some" ? span.parent.value.spanId : undefined)

describe("a tracer is given", () => {
  it.effect.each(methods)("a span named %s", ([name, call]) => {
    const ended: Array<Tracer.Span> = []
    return Effect.gen(function* () {
      yield* inTime(Effect.ignore(call)).pipe(Effect.withTracer(exporting(ended)), Effect.provide(service()))
      const own = ended.filter((span) => span.name === name && parentOf(span) === undefined)
      assert.strictEqual(own.length, 1, ended.map((span) => span.name).join(", "))
      // The spans of the requests are within the method's span, which ends after them.
      const attempts = ended.filter(({ kind }) => kind === "client")
      assert.isNotEmpty(attempts)
      const ids = new Set(ended.map(({ spanId }) => spanId))
      for (const span of ended) assert.isTrue(span.kind !== "client" || ids.has(parentOf(span)!))
      if (name !== "nodes.awaitDeleted") assert.strictEqual(ended.at(-1), own[0])
    })
  })

  it.effect("a span for every method of every public service", () =>
    Effect.gen(function* () {
      const { mapUnsafe } = yield* Layer.build(service())
      const found = publicServices().flatMap((key) => {
        const noun = key.split("/").at(-1)!.toLowerCase().replace("api", "")
        return Object.entries(mapUnsafe.get(key) as object).map(([method]) => `${noun}.${method}`)
      })
      assert.deepStrictEqual(found.toSorted(), [...methods.map(([name]) => name), ...askNothing].toSorted())
    })
  )

  it.effect("nothing for what asks nothing: the allowance", () => {
    const ended: Array<Tracer.Span> = []
    return Effect.gen(function* () {
      yield* Allowance.use(({ current }) => current).pipe(
        Effect.withTracer(exporting(ended)),
        Effect.provide(service())
      )
      assert.deepStrictEqual(ended, [])
    })
  })
})
