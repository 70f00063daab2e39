/**
 * One attempt to post an event: no redirects, a limit on time, and what the answer means.
 */
import * as http from "node:http"
import * as https from "node:https"
import { Clock, Effect, Redacted } from "effect"
import { delivered, failed, type Outcome } from "../Outcome.ts"
import type { WebhookOptions } from "../SinkOptions.ts"
import {
  checkedLookup,
  isPrivateAddress,
  literalAddress,
  PrivateAddress,
  type Resolve,
  systemResolve
} from "./addressCheck.ts"
import { toPost } from "./formats.ts"
import { signedHeaders } from "./sign.ts"

const timeoutMillis = 20_000

/** Of an answer. Only its status counts. */
const maxBodyBytes = 65_536

/** Idle connections are kept for the next event. */
const keptSockets = 8

/** In milliseconds from now, from seconds or a date; null when there is none. */
const retryAfter = (header: string | undefined, nowMillis: number): number | null => {
  if (header === undefined) return null
  const millis = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - nowMillis
  return Number.isFinite(millis) && millis >= 0 ? millis : null
}

const outcomeOf = ({ headers, statusCode = 0 }: http.IncomingMessage, nowMillis: number): Outcome => {
  if (statusCode >= 200 && statusCode < 300) return delivered
  const reason = `the receiver answered ${statusCode}`
  const isUnavailable = statusCode === 408 || statusCode === 429 || statusCode >= 500
  const kind = statusCode === 410 ? "gone" : isUnavailable ? "unavailable" : "refused"
  return failed(kind, reason, retryAfter(headers["retry-after"], nowMillis))
}

const failedBy = (error: NodeJS.ErrnoException): Outcome =>
  error instanceof PrivateAddress
    ? failed("refused", "the receiver has a private address")
    : failed("unavailable", `the receiver cannot be reached (${error.code ?? error.name})`)

/** Lets a short body through, so that the connection can serve the next event; one that is long or slow closes it. */
const drain = (response: http.IncomingMessage) =>
  Effect.callback<void>((resume) => {
    let bytes = 0
    response.on("data", (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > maxBodyBytes) response.destroy()
    })
    response.on("close", () => resume(Effect.void))
    return Effect.sync(() => void response.destroy())
  }).pipe(Effect.timeoutOption(timeoutMillis))

/** What sends the events of one webhook; its connections end with the scope. */
export const makeSender = Effect.fnUntraced(function* (options: WebhookOptions, resolve: Resolve = systemResolve) {
  const scope = yield* Effect.scope
  const url = Redacted.value(options.url)
  const { Agent, request } = url.protocol === "https:" ? https : http
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() => new Agent({ keepAlive: true, maxFreeSockets: keptSockets })),
    (agent) => Effect.sync(() => agent.destroy())
  )
  const address = literalAddress(url)
  const isRefused = !options.isPrivateAllowed && address !== null && isPrivateAddress(address)
  const lookup = options.isPrivateAllowed ? {} : { lookup: checkedLookup(resolve) }

  const post = (headers: Readonly<Record<string, string>>, body: string, nowMillis: number) =>
    Effect.callback<Outcome>((resume, signal) => {
      const sent = request(url, { method: "POST", agent, headers, signal, ...lookup })
      sent.on("response", (response) => {
        // The outcome does not wait for the body.
        const draining = Effect.forkIn(drain(response), scope)
        resume(Effect.as(draining, outcomeOf(response, nowMillis)))
      })
      sent.on("error", (error) => resume(Effect.succeed(failedBy(error))))
      sent.end(body)
    })

  /** Posts the event `json` with the id `id`. */
  return Effect.fn("Webhook.send")(function* (id: string, json: string) {
    if (isRefused) return failed("refused", "the receiver has a private address")
    const now = yield* Clock.currentTimeMillis
    const { body, contentType, headers } = toPost(options.format, json)
    const all = {
      "content-type": contentType,
      "content-length": String(Buffer.byteLength(body)),
      "user-agent": "berth-watch",
      ...headers,
      ...signedHeaders(id, now, body, options.secrets)
    }
    return yield* post(all, body, now).pipe(
      Effect.timeoutOrElse({
        duration: timeoutMillis,
        orElse: () => Effect.succeed<Outcome>(failed("unavailable", `no answer within ${timeoutMillis / 1000} s`))
      })
    )
  })
})
