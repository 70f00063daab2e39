/**
 * Prints the mock's replies to the examples of all operations. `pnpm example-replies` writes the bodies to core's
 * `exampleReplies.json`, and the OpenAPI description takes them from there. A test compares the file with this output.
 */
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { BerthApi } from "@berthkit/core/api/BerthApi"
import { apiKeyParameter } from "@berthkit/core/api/Routes"
import { Effect, Redacted } from "effect"
import { HttpBody, HttpClient, HttpClientRequest, type HttpMethod } from "effect/http"
import { OpenApi } from "effect/http-api"
import { TestServer } from "../src/testing.ts"

export const file = fileURLToPath(new URL("../../../packages/core/src/api/exampleReplies.json", import.meta.url))

/** The part of the OpenAPI description that this script reads. */
interface Operation {
  readonly operationId: string
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly in: string; readonly example?: string | number }>
  readonly requestBody?: { readonly content: { readonly "application/json": { readonly example: unknown } } }
}

const operations = Object.entries(OpenApi.fromApi(BerthApi).paths).flatMap(([path, item]) =>
  Object.entries(item as unknown as Readonly<Record<string, Operation>>).map(([method, operation]) => ({
    path,
    method: method.toUpperCase() as HttpMethod.HttpMethod,
    ...operation
  }))
)

/** The body of the reply to the example of an operation. */
const replyTo = Effect.fnUntraced(function* (operationId: string) {
  const { accessToken, apiKey, baseUrl } = yield* TestServer
  const { method, parameters, path, requestBody } = operations.find((each) => each.operationId === operationId)!
  const examples = (place: string) =>
    parameters
      .filter((parameter) => parameter.in === place && parameter.example !== undefined)
      .map(({ example, name }) => [name, String(example)] as const)
  const filled = examples("path").reduce((filled, [name, example]) => filled.replace(`{${name}}`, example), path)
  const response = yield* HttpClient.execute(
    HttpClientRequest.make(method)(baseUrl + filled, {
      urlParams: [...examples("query"), [apiKeyParameter, Redacted.value(apiKey)]],
      headers: { authorization: `Bearer ${Redacted.value(accessToken)}` },
      body:
        requestBody === undefined
          ? HttpBody.empty
          : HttpBody.jsonUnsafe(requestBody.content["application/json"].example)
    })
  )
  return [operationId, yield* response.json] as const
})

/** The bodies by operation id, as text. The calls run in sequence, so a call finds what an earlier one created. */
export const exampleReplies = Effect.gen(function* () {
  const { control, id: world } = yield* TestServer
  const replies = [
    yield* replyTo("nodes.create"),
    yield* replyTo("nodes.get"),
    yield* replyTo("nodes.list"),
    yield* replyTo("images.list"),
    yield* replyTo("commitments.set")
  ]
  const [node] = yield* control.nodes.list({ params: { world }, query: {} })
  yield* control.savedImages.add({ params: { world }, payload: { name: "web-base", nodeId: node!.id } })
  replies.push(yield* replyTo("images.saved"), yield* replyTo("nodes.delete"))
  return `${JSON.stringify(Object.fromEntries(replies), null, 2)}\n`
}).pipe(Effect.provide(TestServer.layerHttpClient({ deleteStyle: "enveloped" })))

if (import.meta.main) writeFileSync(file, await Effect.runPromise(exampleReplies))
