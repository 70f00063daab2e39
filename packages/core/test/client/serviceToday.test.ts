/**
 * Replies in the shapes of the service of 2026, and what the client reads from them. Every case was observed, or is in the provider's
 * description. The values are invented.
 */
import { layer, type Reply } from "@berthkit/core/testing"
import more from "@berthkit/testing/vectors/service-today-more.json" with { type: "json" }
import vectors from "@berthkit/testing/vectors/service-today.json" with { type: "json" }
import { assert, describe, it } from "@effect/vitest"
import { Clock, DateTime, Effect, Predicate, Result, Stream } from "effect"
import { Images } from "../../src/client/Images.ts"
import { Nodes } from "../../src/client/Nodes.ts"
import { BerthError } from "../../src/domain/BerthError.ts"
import { NodeId } from "../../src/domain/Node.ts"
import type { ImageFilter } from "../../src/domain/Image.ts"
import type { NodeSpec } from "../../src/domain/NodeSpec.ts"
import { priceList } from "../../src/domain/Price.ts"
import { inTime } from "../inTime.ts"

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

interface Vector extends Answer {
  readonly name: string
  readonly operation: string
  readonly id?: number
  readonly setting?: "auto_renew" | "auto_terminate" | "hourly_billing"
  readonly skuId?: number
  readonly spec?: NodeSpec
  readonly filter?: ImageFilter
  readonly keepPublicIp?: boolean
  readonly deadline?: `${number} seconds` | null
  readonly repeatForEveryPage?: boolean
  readonly times?: number
  readonly then?: Answer
  readonly lost?: boolean | null
  readonly listBefore?: ReadonlyArray<unknown> | null
  readonly listAfter?: ReadonlyArray<unknown> | null
  readonly also?: ReadonlyArray<Answer & { readonly request: { readonly method: string; readonly path: string } }>
  readonly expect: Expected
}

interface Expected {
  readonly nodes?: ReadonlyArray<object>
  readonly node?: object
  readonly images?: ReadonlyArray<object>
  readonly options?: ReadonlyArray<object>
  readonly available?: boolean
  readonly templateId?: number
  readonly count?: number
  readonly error?: {
    readonly reason: string | ReadonlyArray<string>
    readonly contains?: string
    readonly hint?: string
    readonly candidates?: ReadonlyArray<number>
    readonly maxSeconds?: number
  }
  readonly outcome?: string
  readonly posts?: number
  readonly sent?: object
  readonly query?: object
  readonly refusedBeforeSending?: boolean
  readonly done?: boolean
  readonly perHourInr?: number | null
}

const prefix = "/myaccount/api/v1"

/** The body of a case: `@now` is this moment, and a long list is written as one record. */
const bodyOf = (body: unknown, nowMillis: number): unknown => {
  const text = JSON.stringify(body).replaceAll("@now", new Date(nowMillis).toISOString())
  const parsed = JSON.parse(text) as { data?: { repeat?: number; record?: object } }
  const { record, repeat } = parsed?.data ?? {}
  if (repeat === undefined) return parsed
  return { ...parsed, data: Array.from({ length: repeat }, () => record) }
}

const replyOf = ({ body, headers, status }: Answer, nowMillis: number): Reply => ({
  status,
  headers,
  body: Predicate.isString(body) ? body : JSON.stringify(bodyOf(body, nowMillis))
})

const listOf = (nodes: ReadonlyArray<unknown>, nowMillis: number): Reply =>
  replyOf(
    {
      status: 200,
      headers: { "content-type": "application/json" },
      body: { code: 200, data: nodes, errors: {}, message: "Success" }
    },
    nowMillis
  )

/** The service of a case, and what it was sent. */
const serviceOf = (vector: Vector) => {
  const posts: Array<Record<string, unknown>> = []
  const queries: Array<unknown> = []
  let asked = 0
  const isWrite = /create|delete|commitments/.test(vector.operation)
  const service = layer(
    ({ body, method, path, query }) =>
      Effect.map(Clock.currentTimeMillis, (nowMillis): Reply => {
        if (method === "POST") posts.push(body as Record<string, unknown>)
        queries.push(query)
        if (method === "GET" && isWrite) {
          const other = vector.also?.find(({ request }) => request.path === `${prefix}${path}`)
          const nodes = posts.length === 0 ? vector.listBefore : vector.listAfter
          if (path !== "/nodes/") return other === undefined ? { status: 404 } : replyOf(other, nowMillis)
          if (Number(query["page_no"] ?? 1) > 1) return listOf([], nowMillis)
          if (Array.isArray(nodes)) return listOf(nodes, nowMillis)
          return other === undefined ? listOf([], nowMillis) : replyOf(other, nowMillis)
        }
        if (method === "GET" && vector.operation === "cost" && path === "/images/")
          return replyOf(vector.also![0]!, nowMillis)
        if (vector.lost === true) return "lost"
        if (vector.times !== undefined && ++asked > vector.times) return replyOf(vector.then!, nowMillis)
        if (Number(query["page_no"] ?? 1) > 1 && vector.repeatForEveryPage !== true) return listOf([], nowMillis)
        return replyOf(vector, nowMillis)
      }),
    { project: 70007, location: "Delhi" }
  )
  return { posts, queries, service }
}

/** The value that the client returns for a case. */
const valueOf = Effect.fnUntraced(function* (vector: Vector) {
  const { deadline, filter = {}, id = 0, keepPublicIp, operation, setting, skuId, spec } = vector
  const nodes = yield* Nodes
  const images = yield* Images
  const options = { deadline: deadline ?? undefined }
  switch (operation) {
    case "nodes.list":
      return { nodes: yield* Stream.runCollect(nodes.list(options)) }
    case "nodes.get":
      return { node: yield* nodes.get(NodeId.make(id), options) }
    case "nodes.create":
      return yield* nodes.create(spec!, options)
    case "nodes.delete":
      return yield* nodes.delete(NodeId.make(id), { ...options, keepPublicIp })
    case "commitments.set":
      return yield* nodes.setCommitment(NodeId.make(id), setting!, { ...options, skuId })
    case "images.list":
      return { images: yield* images.list(filter, options) }
    case "images.saved":
      return { images: yield* images.saved(options) }
    default: {
      const [node] = yield* Stream.runCollect(nodes.list(options))
      return { perHourInr: priceList(yield* images.list(), []).ofNode(node!).price.pricePerHourInr }
    }
  }
})

/** Whether a value has what is expected of it; a date is compared by its instant, and a record may have more. */
const includes = (value: unknown, expected: unknown, path: string): void => {
  if (DateTime.isDateTime(value)) return assert.strictEqual(DateTime.formatIso(value), expected, path)
  if (typeof expected !== "object" || expected === null) return assert.deepStrictEqual(value, expected, path)
  for (const [key, wanted] of Object.entries(expected)) {
    includes((value as Record<string, unknown> | null)?.[key], wanted, `${path}.${key}`)
  }
}

describe("a reply of the service of 2026", () => {
  it("says where it comes from, and how sure that is", () => {
    for (const { name, source, sure } of [...vectors, ...more]) assert.isTrue(source !== "" && sure !== "", name)
  })

  for (const vector of [...vectors, ...more] as unknown as ReadonlyArray<Vector>) {
    const { expect } = vector
    it.effect(vector.name, () => {
      const { posts, queries, service } = serviceOf(vector)
      return Effect.gen(function* () {
        const begun = yield* Clock.currentTimeMillis
        const result = yield* inTime(Effect.result(valueOf(vector)))
        const seconds = ((yield* Clock.currentTimeMillis) - begun) / 1000
        if (expect.posts !== undefined) assert.lengthOf(posts, expect.posts)
        if (expect.sent !== undefined) includes(posts[0], expect.sent, "sent")
        if (expect.query !== undefined) includes(queries.at(-1), expect.query, "query")
        if (expect.refusedBeforeSending === true) return assert.isTrue(Result.isFailure(result))
        if (expect.error !== undefined) {
          if (Result.isSuccess(result)) return assert.fail(`succeeded with ${JSON.stringify(result.success)}`)
          const { failure } = result
          assert.instanceOf(failure, BerthError)
          assert.include([expect.error.reason].flat(), failure.reason._tag, failure.message)
          if (expect.error.contains !== undefined) assert.include(failure.message, expect.error.contains)
          if (expect.error.hint !== undefined) assert.include(failure.hint, expect.error.hint)
          if (expect.error.candidates !== undefined) {
            assert(failure.reason._tag === "OutcomeUnknown")
            assert.deepStrictEqual(failure.reason.candidates.map(Number), expect.error.candidates)
          }
          if (expect.error.maxSeconds !== undefined) assert.isAtMost(seconds, expect.error.maxSeconds)
          return
        }
        if (Result.isFailure(result)) return assert.fail(`${result.failure._tag}: ${result.failure.message}`)
        const value = result.success as Record<string, unknown> | undefined
        for (const key of ["nodes", "node", "images", "outcome", "perHourInr"] as const) {
          if (key in expect) includes(value?.[key], expect[key], key)
        }
        const list = (value?.["nodes"] ?? value?.["images"]) as ReadonlyArray<Record<string, unknown>> | undefined
        if (expect.count !== undefined) assert.lengthOf(list ?? [], expect.count)
        if (expect.nodes !== undefined) assert.lengthOf(list ?? [], expect.nodes.length)
        if (expect.available !== undefined) assert.strictEqual(list?.[0]?.["available"], expect.available)
        if (expect.templateId !== undefined) assert.strictEqual(list?.[0]?.["templateId"], expect.templateId)
        if (expect.options !== undefined) {
          includes(list?.[0], { specs: { committedOptions: expect.options } }, "image")
        }
      }).pipe(Effect.provide(service))
    })
  }
})
