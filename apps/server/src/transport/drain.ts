/**
 * Reads the rest of a refused request, because many clients read the reply only after they have sent everything, and
 * would lose it if the connection ended earlier.
 */
import { IncomingMessage } from "node:http"
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"

/** How long a client may go on sending. This is enough for 100 MB if client and server are on one machine. */
const drainMillis = 400

/** Reads the body of the request and discards it. Waits for its end, at most 400 ms. */
export const drain = ({ source }: HttpServerRequest.HttpServerRequest): Effect.Effect<void> =>
  source instanceof IncomingMessage && !source.complete && !source.destroyed && !waitsForContinue(source)
    ? Effect.callback((resume) => {
        const stop = discard(source, () => resume(Effect.void))
        return Effect.sync(stop)
      })
    : Effect.void

/** Whether the client waits for a permission before it sends the body (`Expect: 100-continue`). */
const waitsForContinue = ({ headers, readableDidRead }: IncomingMessage): boolean =>
  headers.expect !== undefined && !readableDidRead

const discard = (source: IncomingMessage, done: () => void): (() => void) => {
  // The timeout is in real time, like all timeouts of connections.
  const timeout = AbortSignal.timeout(drainMillis)
  const finish = () => {
    timeout.onabort = null
    source.off("end", finish).off("close", finish).off("error", finish).pause()
    done()
  }
  timeout.onabort = finish
  source.on("end", finish).on("close", finish).on("error", finish)
  // Begin in the next turn of the event loop, because a reader that has just stopped releases the stream only then.
  const begin = setImmediate(() => source.resume())
  return () => {
    clearImmediate(begin)
    timeout.onabort = null
  }
}
