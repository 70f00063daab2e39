import { assert, describe, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"
import { BerthApi } from "../../src/api/BerthApi.ts"
import { prefix } from "../../src/api/Routes.ts"
import committed from "../../openapi.json" with { type: "json" }

interface Operation {
  readonly description: string
  readonly security: ReadonlyArray<unknown>
  readonly responses: Record<string, { readonly headers: Record<string, unknown> }>
}

const paths: Record<string, Record<string, Operation>> = committed.paths
const operations = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation }))
)

describe("the OpenAPI description", () => {
  it("is committed as the interface prints it (`pnpm --filter @berth/core openapi` writes it)", () => {
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
      for (const response of Object.values(operation.responses)) {
        assert.includeMembers(Object.keys(response.headers), [
          "ratelimit-limit",
          "ratelimit-remaining",
          "ratelimit-reset"
        ])
      }
    }
  })
})
