/**
 * The transport over `fetch`, which every runtime has. The promise client uses it.
 */
import { Context, Effect, Layer } from "effect"
import { type Head, type SignedRequest, Transport, unwrapped } from "./Transport.ts"
import { unreachable, unreachableBy } from "./unreachable.ts"
import { isShort, webText } from "./ReplyText.ts"

/** An error thrown by the program's own `fetch`. */
export class GivenFetchFailed {
  readonly cause: unknown
  readonly isAtOnce: boolean
  constructor(cause: unknown, isAtOnce: boolean) {
    this.cause = cause
    this.isAtOnce = isAtOnce
  }
}

/**
 * Marks failures of the program's `fetch`, which may have a bug, to distinguish them from failures of the runtime's `fetch`. A reply that is
 * no `Response`, or a thrown value that is no object, counts as a bug. The test is not `instanceof`, because a `Response` or an `Error` may
 * come from another library or realm.
 */
export const given =
  (fetch: typeof globalThis.fetch): typeof globalThis.fetch =>
  async (input, init) => {
    let isAtOnce = true
    try {
      const reply = fetch(input, init)
      isAtOnce = false
      const response = await reply
      // The types exclude this, but a program without types may return anything.
      if ((response as Partial<Response> | undefined)?.headers?.get) return response
    } catch (cause) {
      if (typeof cause === "object") throw new GivenFetchFailed(cause, isAtOnce)
    }
    throw new GivenFetchFailed(new Error("it returned no Response"), true)
  }

/** The `fetch` that sends requests; a fiber may provide its own. */
export const Fetch = Context.Reference<typeof globalThis.fetch>(
  "@berthkit/core/client/transport/FetchTransport/Fetch",
  {
    defaultValue: () => globalThis.fetch
  }
)

const exchange = async (
  fetch: typeof globalThis.fetch,
  request: SignedRequest,
  signal: AbortSignal,
  begun: (head: Head) => void
) => {
  const { body, maxBodyBytes, method } = request
  const { address, headers } = unwrapped(request)
  const response = await fetch(address, {
    method,
    headers,
    ...(body !== undefined && { body }),
    // The interface has no redirects, and following one would pass on the credentials.
    redirect: "manual",
    signal
  })
  const head = { status: response.status, headers: Object.fromEntries(response.headers) }
  begun(head)
  // A web page cannot see the encoding of a reply from another origin. The signal ends both ways of reading.
  return isShort(head.headers, maxBodyBytes) && response.type !== "cors"
    ? { ...head, body: await response.text(), whole: true }
    : { ...head, ...(await webText(response, head.headers, maxBodyBytes, signal)) }
}

/** A transport over `fetch`. */
export const layer = Layer.succeed(Transport, {
  // `fetch` manages its connections itself, so it cannot open a new one for `leaving`.
  send: (request, begun, leaving = Effect.void) =>
    Effect.andThen(
      leaving,
      Effect.withFiber((fiber) => {
        let replied = false
        return Effect.tryPromise({
          try: (signal) =>
            exchange(fiber.getRef(Fetch), request, signal, (head) => {
              replied = true
              begun(head)
            }),
          catch: (cause) =>
            cause instanceof GivenFetchFailed
              ? unreachableBy(cause.cause, replied, cause.isAtOnce)
              : unreachable(cause, replied)
        })
      })
    )
})
