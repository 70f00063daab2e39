/**
 * Reads the rest of a refused request. Many clients read the reply only after they have sent everything, and lose it if the
 * connection ends before.
 */
import { IncomingMessage } from "node:http"
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"

/** How long a client may go on sending: long enough for 100 MB on one machine. */
const drainMillis = 400

/** Waits until the body of the request has arrived and been discarded, at most 400 ms. */
export const drain = ({ source }: HttpServerRequest.HttpServerRequest): Effect.Effect<void> =>
  source instanceof IncomingMessage && !source.complete && !source.destroyed && !waitsForContinue(source)
    ? Effect.callback((resume) => {
        const stop = discard(source, () => resume(Effect.void))
        return Effect.sync(stop)
      })
    : Effect.void

/** A client that sent `Expect: 100-continue` waits for an answer before it sends the body. */
const waitsForContinue = ({ headers, readableDidRead }: IncomingMessage): boolean =>
  headers.expect !== undefined && !readableDidRead

const discard = (source: IncomingMessage, done: () => void): (() => void) => {
  // In real time, like all timeouts of connections.
  const timeout = AbortSignal.timeout(drainMillis)
  const finish = () => {
    timeout.onabort = null
    source.off("end", finish).off("close", finish).off("error", finish).pause()
    done()
  }
  timeout.onabort = finish
  source.on("end", finish).on("close", finish).on("error", finish)
  // A reader that has just stopped releases the stream in the next turn.
  const begin = setImmediate(() => source.resume())
  return () => {
    clearImmediate(begin)
    timeout.onabort = null
  }
}
