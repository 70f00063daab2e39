/**
 * The transport over undici alone, which takes the least CPU on Node. The first request loads it.
 */
import { Effect, Layer, Scope } from "effect"
import type { Dispatcher } from "undici"
import { isShort, ReplyText } from "./ReplyText.ts"
import { Unreachable } from "../../domain/ErrorReason.ts"
import { withoutContinue } from "./interimReplies.ts"
import { type Head, type SignedRequest, Transport, unreachable, unwrapped } from "./Transport.ts"

const textOf = async (body: Dispatcher.ResponseData["body"], headers: Head["headers"], maxBytes: number) => {
  if (isShort(headers, maxBytes)) return { body: await body.text(), whole: true }
  const text = new ReplyText(headers, maxBytes)
  // Leaving the loop early ends the exchange.
  for await (const chunk of body) if (!text.add(chunk)) break
  return text.end()
}

/** Joins the values of a repeated header, as `fetch` does. */
const joined = (headers: Record<string, string | Array<string> | undefined>): Head["headers"] => {
  for (const name in headers) {
    const value = headers[name]
    if (Array.isArray(value)) headers[name] = value.join(", ")
  }
  return headers as Head["headers"]
}

/** By its default export: a bundle drops the named exports of CommonJS that are loaded on demand. */
const undici = Effect.tryPromise({
  try: async () => (await import("undici")).default,
  catch: (error) => new Unreachable({ sent: "no", detail: `undici cannot be loaded (${String(error)})` })
})

const exchange = async (
  dispatcher: Dispatcher,
  request: SignedRequest,
  signal: AbortSignal,
  begun: (head: Head) => void
) => {
  const { address, headers } = unwrapped(request)
  const pathAt = address.indexOf("/", address.indexOf("//") + 2)
  const response = await dispatcher.request({
    origin: address.slice(0, pathAt),
    path: address.slice(pathAt),
    method: request.method,
    // Otherwise a body may come in any encoding.
    headers: { ...headers, "accept-encoding": "identity" },
    body: request.body ?? null,
    signal
  })
  const head = { status: response.statusCode, headers: joined(response.headers) }
  begun(head)
  return { ...head, ...(await textOf(response.body, head.headers, request.maxBodyBytes)) }
}

export const layer = Layer.effect(
  Transport,
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const agent = yield* Effect.cached(
      Effect.flatMap(undici, ({ Agent, buildConnector }) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            const connector = buildConnector({})
            return new Agent({
              connect: (options, callback) =>
                connector(options, (error, socket) => {
                  if (error) return callback(error, null)
                  const isHttp2 = "alpnProtocol" in socket && socket.alpnProtocol === "h2"
                  callback(null, isHttp2 ? socket : withoutContinue(socket))
                })
            })
          }),
          (agent) => Effect.promise(() => agent.destroy())
        )
      ).pipe(Scope.provide(scope))
    )
    return Transport.of({
      send: (request, begun) =>
        Effect.flatMap(agent, (agent) => {
          let replied = false
          return Effect.tryPromise({
            try: (signal) =>
              exchange(agent, request, signal, (head) => {
                replied = true
                begun(head)
              }),
            catch: (cause) => unreachable(cause, replied)
          })
        })
    })
  })
)
