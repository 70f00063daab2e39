/**
 * A refusal whose body is lost, because the service closes the connection before it has read the request.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { HttpService } from "@berthkit/testing/HttpService"
import * as Berth from "../../../src/client/Berth.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import { NodeId } from "../../../src/domain/Node.ts"

/** The failure of a read whose replies have this status and break off, and how many requests there were. */
const readOf = Effect.fnUntraced(function* (status: number) {
  let requests = 0
  const { url } = yield* HttpService.start((_, response) => {
    requests++
    response.writeHead(status, { "content-type": "text/plain", "content-length": "100" })
    response.write("Request", () => response.destroy())
  })
  const credentials = { apiKey: Redacted.make("key"), accessToken: Redacted.make("token") }
  const client = Layer.provide(Berth.layer({ baseUrl: url, credentials, maxAttempts: 2 }), FetchHttpClient.layer)
  const get = Nodes.use((nodes) => nodes.get(NodeId.make(7)))
  const { reason } = yield* Effect.provide(Effect.flip(get), client)
  return [reason._tag, requests]
})

describe("a reply that breaks off", () => {
  for (const [status, tag] of [
    [400, "InvalidRequest"],
    [401, "Unauthorized"],
    [413, "InvalidRequest"],
    [431, "InvalidRequest"]
  ] as const) {
    it.live(`with status ${status} is a refusal: it is not sent again`, () =>
      Effect.map(Effect.scoped(readOf(status)), (found) => assert.deepStrictEqual(found, [tag, 1]))
    )
  }

  for (const status of [200, 404, 500]) {
    it.live(`with status ${status} proves nothing: it is sent again`, () =>
      Effect.map(Effect.scoped(readOf(status)), (found) => assert.deepStrictEqual(found, ["Unreachable", 2]))
    )
  }
})
