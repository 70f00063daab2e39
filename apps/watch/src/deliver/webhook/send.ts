/**
 * One attempt to post an event to a webhook: the signature, and the meaning of the answer. It follows no redirects, and has a
 * timeout.
 */
import { createHmac } from "node:crypto"
import { lookup as systemLookup } from "node:dns"
import * as http from "node:http"
import * as https from "node:https"
import { proxyVariables } from "@berthkit/core/client/transport/NodeTransport"
import { Clock, Effect, Redacted, Result } from "effect"
import type { WebhookOptions } from "../SinkOptions.ts"
import { delivered, failed, failedInTemplate, type Outcome } from "../Health.ts"
import {
  checkedLookup,
  isPrivateAddress,
  literalAddress,
  PrivateAddress,
  type Resolve,
  systemResolve
} from "./addressCheck.ts"
import { toPost } from "./toPost.ts"

const minKeyBytes = 16
const maxKeyBytes = 64
const prefix = "whsec_"

/**
 * The key that a secret contains; undefined if the secret is invalid. A secret is written in base64, usually after `whsec_`.
 */
export const signingKey = (secret: string): Uint8Array | undefined => {
  const text = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined
  const key = Buffer.from(text, "base64")
  return key.length >= minKeyBytes && key.length <= maxKeyBytes ? key : undefined
}

/**
 * The headers of one attempt, signed as in Standard Webhooks 1.0: a receiver can verify that an event comes from this daemon,
 * and when it was sent. Every attempt has the id of the event, and its own time.
 */
export const signedHeaders = (
  id: string,
  nowMillis: number,
  body: string,
  keys: ReadonlyArray<Redacted.Redacted<Uint8Array>>
): Readonly<Record<string, string>> => {
  const timestamp = String(Math.floor(nowMillis / 1000))
  const signatures = keys.map((key) => {
    const hash = createHmac("sha256", Redacted.value(key)).update(`${id}.${timestamp}.${body}`)
    return `v1,${hash.digest("base64")}`
  })
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    ...(signatures.length === 0 ? {} : { "webhook-signature": signatures.join(" ") })
  }
}

const timeoutMillis = 20_000

/** Maximum size of an answer's body that is read. Its content does not matter, only the status does. */
const maxBodyBytes = 65_536

/** Maximum number of idle connections that are kept for the next events. */
const keptSockets = 8

/**
 * Reads a `Retry-After` header, which has seconds or a date. Returns milliseconds from now; null if there is no valid value.
 */
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
    : failed("unavailable", `the receiver is unreachable (${error.code ?? error.name})`)

/** Reads a short body, so that the connection can serve the next event; a long or slow one closes it. */
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

/**
 * The proxy that the environment sets. If a variable's value is not the address of a proxy, the failure names the variable and
 * not its value, which may contain a password.
 */
const proxyOf = (environment: NodeJS.ProcessEnv) =>
  Result.try({ try: () => proxyVariables(environment), catch: (cause) => (cause as Error).message })

/** Whether a host name is the name of the proxy. The operator chose the proxy, so it may be in a private network. */
const isProxy = ({ HTTPS_PROXY, HTTP_PROXY }: Record<string, string | undefined>, name: string): boolean =>
  [HTTP_PROXY, HTTPS_PROXY].some((address) => address !== undefined && new URL(address).hostname === name)

/** Overrides for how events are sent. */
export interface Sending {
  /** GET and HEAD send no body. */
  readonly method?: "GET" | "HEAD" | "POST" | "PUT"
  readonly resolve?: Resolve
  readonly environment?: NodeJS.ProcessEnv
}

/**
 * Makes the sender for one webhook. It uses the proxy in `environment`, if that applies to the URL; its connections close with
 * the scope. A proxy resolves the receiver's name itself, so with a proxy only a literal address in the URL is checked.
 */
export const makeSender = Effect.fnUntraced(function* (options: WebhookOptions, sending: Sending = {}) {
  const { environment = process.env, method = "POST", resolve = systemResolve } = sending
  const scope = yield* Effect.scope
  const url = Redacted.value(options.url)
  const { Agent, request } = url.protocol === "https:" ? https : http
  const proxy = proxyOf(environment)
  const proxyEnv = Result.getOrElse(proxy, () => ({}))
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() => new Agent({ keepAlive: true, maxFreeSockets: keptSockets, proxyEnv })),
    (agent) => Effect.sync(() => agent.destroy())
  )
  const address = literalAddress(url)
  const isRefused = !options.isPrivateAllowed && address !== null && isPrivateAddress(address)
  const checked = checkedLookup(resolve)
  const toProxyOrChecked: typeof checked = (name, options, callback) =>
    isProxy(proxyEnv, name) ? systemLookup(name, options, callback) : checked(name, options, callback)
  const lookup = options.isPrivateAllowed ? {} : { lookup: toProxyOrChecked }

  const hasBody = method !== "GET" && method !== "HEAD"

  const sent = (target: URL, headers: Readonly<Record<string, string>>, body: string, nowMillis: number) =>
    Effect.callback<Outcome>((resume, signal) => {
      const asked = request(target, { method, agent, headers, signal, ...lookup })
      asked.on("response", (response) => {
        // The outcome does not wait for the body.
        const draining = Effect.forkIn(drain(response), scope)
        resume(Effect.as(draining, outcomeOf(response, nowMillis)))
      })
      asked.on("error", (error) => resume(Effect.succeed(failedBy(error))))
      asked.end(hasBody ? body : undefined)
    })

  /** Posts the event `json` with the id `id`. */
  return Effect.fn("Webhook.send")(function* (id: string, json: string) {
    if (isRefused) return failed("refused", "the receiver has a private address")
    if (Result.isFailure(proxy)) return failed("unavailable", proxy.failure)
    const now = yield* Clock.currentTimeMillis
    const post = toPost(options, json)
    if (Result.isFailure(post)) return failedInTemplate(post.failure)
    const { body, contentType, headers, url: target } = post.success
    const all = {
      ...(hasBody && { "content-type": contentType, "content-length": String(Buffer.byteLength(body)) }),
      "user-agent": "berth-watch",
      ...headers,
      ...Object.fromEntries(options.headers.map(([name, value]) => [name, Redacted.value(value)])),
      ...signedHeaders(id, now, body, options.secrets)
    }
    return yield* sent(target, all, body, now).pipe(
      Effect.timeoutOrElse({
        duration: timeoutMillis,
        orElse: () => Effect.succeed<Outcome>(failed("unavailable", `no answer within ${timeoutMillis / 1000} s`))
      })
    )
  })
})
