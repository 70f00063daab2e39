/**
 * The service as a `fetch` that needs no socket. What a fault does to the bytes appears as what a client makes of it: the
 * call fails as a transport does, or the body breaks off.
 */
import type { Damage } from "../faults/strike/damage.ts"

const damaged = new WeakMap<object, Damage>()

/** Says that the reply to this request is not to arrive as it is. */
export const noteDamage = (request: object, damage: Damage): void => void damaged.set(request, damage)

/** As `fetch` fails when a connection does. */
const transportFailure = (code: string, message: string): TypeError =>
  new TypeError("fetch failed", { cause: Object.assign(new Error(message), { code }) })

export const fetchFrom =
  (handler: (request: Request) => Promise<Response>): typeof globalThis.fetch =>
  async (input, init) => {
    const request = new Request(input, init)
    const response = await handler(request)
    const damage = damaged.get(request)
    if (damage === undefined) {
      request.signal.throwIfAborted()
      return response
    }
    switch (damage._tag) {
      case "Garbage":
        throw transportFailure("HPE_INVALID_CONSTANT", "Parse Error: Expected HTTP/")
      case "Cut":
        return breakingOff(response, damage)
      default:
        throw transportFailure("ECONNRESET", "read ECONNRESET")
    }
  }

const breakingOff = async (
  response: Response,
  { afterBytes, by }: Extract<Damage, { readonly _tag: "Cut" }>
): Promise<Response> => {
  const bytes = new Uint8Array(await response.arrayBuffer()).subarray(0, afterBytes)
  const failure =
    by === "reset"
      ? transportFailure("ECONNRESET", "read ECONNRESET")
      : new TypeError("terminated", { cause: "closed" })
  let sent = false
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (sent) return controller.error(failure)
      sent = true
      controller.enqueue(bytes)
    }
  })
  return new Response(body, response)
}
