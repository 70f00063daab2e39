/**
 * The transport over `fetch` alone, which every runtime has: what the promise client sends its requests with.
 */
import { Context, Effect, Layer, Redacted } from "effect"
import { type Head, type SignedRequest, Transport, unreachable } from "./Transport.ts"
import { webText } from "./ReplyText.ts"

/** The `fetch` that sends the requests; a fiber may have one of its own. */
export const Fetch = Context.Reference<typeof globalThis.fetch>("@berth/core/client/FetchTransport/Fetch", {
  defaultValue: () => globalThis.fetch
})

/** The credentials are unwrapped here, and the result is handed to `fetch` and to nobody else. */
const exchange = async (
  fetch: typeof globalThis.fetch,
  { body, method, query, token, url }: SignedRequest,
  signal: AbortSignal,
  begun: (head: Head) => void
) => {
  const search = new URLSearchParams()
  for (const [name, value] of query) search.append(name, typeof value === "string" ? value : Redacted.value(value))
  const response = await fetch(`${url}?${search}`, {
    method,
    headers: {
      accept: "application/json",
      authorization: `Bearer ${Redacted.value(token)}`,
      ...(body !== undefined && { "content-type": "application/json" })
    },
    ...(body !== undefined && { body }),
    // A redirect is no reply of the interface, and following it would hand on the credentials.
    redirect: "manual",
    signal
  })
  const head = { status: response.status, headers: Object.fromEntries(response.headers) }
  begun(head)
  return { ...head, body: await webText(response, signal) }
}

export const layer = Layer.succeed(Transport, {
  send: (request, begun) =>
    Effect.withFiber((fiber) => {
      let replied = false
      return Effect.tryPromise({
        try: (signal) =>
          exchange(fiber.getRef(Fetch), request, signal, (head) => {
            replied = true
            begun(head)
          }),
        catch: (cause) => unreachable(cause, replied)
      })
    })
})
