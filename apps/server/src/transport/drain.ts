/**
 * Reads what a client still sends of a request that is refused. Many clients read the reply only when they have sent
 * everything, and lose it where the connection ends before.
 */
import { IncomingMessage } from "node:http"
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"

/** How long a client may go on sending: long enough for 100 MB on one machine. */
const drainMillis = 400

/** Waits until the body of the request has come and gone, or for 400 ms. */
export const drain = ({ source }: HttpServerRequest.HttpServerRequest): Effect.Effect<void> =>
  source instanceof IncomingMessage && !source.complete && !source.destroyed && !waitsForContinue(source)
    ? Effect.callback((resume) => {
        const stop = discard(source, () => resume(Effect.void))
        return Effect.sync(stop)
      })
    : Effect.void

/** A client that asked first sends nothing before it gets an answer. */
const waitsForContinue = ({ headers, readableDidRead }: IncomingMessage): boolean =>
  headers.expect !== undefined && !readableDidRead

const discard = (source: IncomingMessage, done: () => void): (() => void) => {
  // Real time, as that of all connections.
  const timeout = AbortSignal.timeout(drainMillis)
  const finish = () => {
    timeout.onabort = null
    source.off("end", finish).off("close", finish).off("error", finish).pause()
    done()
  }
  timeout.onabort = finish
  source.on("end", finish).on("close", finish).on("error", finish)
  // A reader that has just stopped is gone in the next turn.
  const begin = setImmediate(() => source.resume())
  return () => {
    clearImmediate(begin)
    timeout.onabort = null
  }
}
