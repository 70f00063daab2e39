import { assert, describe, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"
import { BerthApi } from "../../src/api/BerthApi.ts"
import { prefix } from "../../src/api/Routes.ts"
import committed from "../../openapi.json" with { type: "json" }

interface Schema {
  readonly type?: string
  readonly minimum?: number
  readonly maximum?: number
}

interface Body {
  readonly content?: Record<string, { readonly example?: unknown; readonly schema: { readonly $ref?: string } }>
}

interface Response extends Body {
  readonly headers: Record<string, unknown>
}

interface Operation {
  readonly description: string
  readonly security: ReadonlyArray<unknown>
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly example: unknown; readonly schema: Schema }>
  readonly requestBody?: Body
  readonly responses: Record<string, Response | { readonly $ref: string }>
}

const paths: Record<string, Record<string, unknown>> = committed.paths
const operations = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    path,
    method: method.toUpperCase(),
    operation: operation as Operation
  }))
)

const sharedResponses: Record<string, Response> = committed.components.responses

/** The replies of an operation, by status. */
const responsesOf = ({ responses }: Operation): ReadonlyArray<readonly [number, Response]> =>
  Object.entries(responses).map(([status, response]) => [
    Number(status),
    "$ref" in response ? sharedResponses[response.$ref.replace("#/components/responses/", "")]! : response
  ])

/** Calls `visit` for every object within a value. */
const visitObjects = (value: unknown, visit: (object: Record<string, unknown>) => void): void => {
  if (typeof value !== "object" || value === null) return
  if (!Array.isArray(value)) visit(value as Record<string, unknown>)
  for (const inner of Object.values(value)) visitObjects(inner, visit)
}

describe("the OpenAPI description", () => {
  it("is committed as the interface prints it (`pnpm --filter @berthkit/core openapi` writes it)", () => {
    assert.deepStrictEqual(committed, JSON.parse(JSON.stringify(OpenApi.fromApi(BerthApi))))
  })

  it("has every endpoint of the interface and no other", () => {
    assert.deepStrictEqual(operations.map(({ method, path }) => `${method} ${path.replace(prefix, "")}`).sort(), [
      "DELETE /nodes/{node_id}/",
      "GET /images/",
      "GET /images/saved-images/",
      "GET /nodes/",
      "GET /nodes/{node_id}/",
      "POST /nodes/",
      "POST /update_committed_node_status/"
    ])
  })

  it("has the source, the credentials and the allowance headers of every endpoint", () => {
    for (const { operation, path } of operations) {
      assert.match(operation.description, /\((documented|observed|chosen): /, path)
      assert.isNotEmpty(operation.security, path)
      for (const [, response] of responsesOf(operation)) {
        assert.includeMembers(Object.keys(response.headers), [
          "ratelimit-limit",
          "ratelimit-remaining",
          "ratelimit-reset"
        ])
      }
    }
  })

  it("has the failures that every endpoint may answer, with their headers", () => {
    const headers: Record<number, string> = { 401: "WWW-Authenticate", 405: "Allow", 429: "Retry-After" }
    for (const { operation, path } of operations) {
      const responses = new Map(responsesOf(operation))
      for (const status of [400, 401, 403, 405, 408, 413, 414, 429, 431, 500, 503]) {
        const response = responses.get(status)
        assert.strictEqual(
          response?.content?.["application/json"]?.schema.$ref,
          `#/components/schemas/Failure${status}`,
          path
        )
        const header = headers[status]
        if (header !== undefined) assert.property(response?.headers, header)
      }
      if (operation.requestBody !== undefined) assert.isTrue(responses.has(415), path)
    }
  })

  it("has whole numbers as integers with bounds, in parameters and bodies", () => {
    const numbers = new Set(["node_id", "page_no", "page", "per_page", "cpu", "ram"])
    for (const { operation } of operations) {
      for (const { name, schema } of operation.parameters) {
        assert.strictEqual(schema.type, numbers.has(name) ? "integer" : "string", name)
      }
    }
    visitObjects(committed, (schema) => {
      if (schema["type"] !== "integer" || "enum" in schema) return
      assert.isTrue(Number.isInteger(schema["minimum"]), JSON.stringify(schema))
      assert.isTrue(Number.isInteger(schema["maximum"]), JSON.stringify(schema))
    })
  })

  it("takes unknown fields in requests, and allows them in replies", () => {
    assert.isTrue(committed.components.schemas.NodeCreation.additionalProperties)
    assert.isTrue(committed.components.schemas.CommitmentUpdate.additionalProperties)
    visitObjects(committed, (schema) => assert.notStrictEqual(schema["additionalProperties"], false))
  })

  it("has an example of every parameter, request and reply", () => {
    for (const { method, operation, path } of operations) {
      for (const parameter of operation.parameters) assert.isDefined(parameter.example, `${path} ${parameter.name}`)
      const bodies = [operation.requestBody, ...responsesOf(operation).map(([, response]) => response)]
      for (const { content } of bodies.filter((body) => body !== undefined)) {
        for (const { example } of Object.values(content ?? {})) assert.isDefined(example, `${method} ${path}`)
      }
    }
  })
})
