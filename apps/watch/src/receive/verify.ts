/** Verifies that a daemon with the secret sent a delivery just now (Standard Webhooks 1.0). It needs only WebCrypto from the runtime. */
import type { WatchEvent } from "./Events.ts"

/** Why a delivery was refused. */
export type WebhookFault =
  /** A secret is not base64 of 16 to 64 bytes, with or without `whsec_`; or no secret was given. */
  | "secret-unusable"
  /** `toleranceSeconds` or `nowMillis` is not a number in its range, so no age can be checked. */
  | "option-unusable"
  /** The body is neither text nor bytes: a framework has parsed it. */
  | "body-unusable"
  /** One of the three headers is missing or empty. */
  | "header-missing"
  /** The time is not a number of seconds of at most 12 digits, or the header of signatures has none of version 1. */
  | "header-unreadable"
  /** The delivery was sent longer ago than tolerated, so somebody may be replaying an old one. */
  | "too-old"
  /** The delivery was sent further in the future than tolerated, so one of the clocks is wrong. */
  | "too-new"
  /** No signature matches: the sender has another secret, or the body was changed. */
  | "signature-differs"
  /** The signature is valid, but the body is not an event: the sink has another format, such as a chat's. */
  | "not-an-event"

/** A delivery that must not be trusted. `reason` says why, and `hint` says what to do. */
export class WebhookError extends Error {
  override readonly name = "WebhookError"
  readonly reason: WebhookFault
  readonly hint: string

  constructor(reason: WebhookFault, message: string, hint: string) {
    super(message)
    this.reason = reason
    this.hint = hint
  }
}

/**
 * The headers of a `Request`, or an object as Node's `http`, Express and others have it. Names may be in any case; values may
 * be strings or lists.
 */
export type WebhookHeaders =
  | { readonly get: (name: string) => string | null }
  | Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** Settings of `verify`. */
export interface VerifyOptions {
  /** Tolerated difference between the time of sending and now, in seconds, in both directions. At least 1, and finite. Default: 300. */
  readonly toleranceSeconds?: number
  /** The current time in milliseconds since the epoch, finite. Default: the machine's clock. */
  readonly nowMillis?: number
}

const defaultTolerance = 300
const prefix = "whsec_"
const [minKeyBytes, maxKeyBytes] = [16, 64]

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> | undefined => {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

const unusable = (message: string) =>
  new WebhookError(
    "secret-unusable",
    message,
    "Use the secret exactly as the sink has it: `whsec_` and base64. `berth-watch secret` makes one."
  )

const keyOf = async (secret: string | undefined): Promise<CryptoKey> => {
  // The value of a variable that is not set, which JavaScript may pass on.
  if (typeof secret !== "string") throw unusable("A signing secret is not set.")
  const bytes = bytesOf(secret.startsWith(prefix) ? secret.slice(prefix.length) : secret)
  if (bytes === undefined || bytes.length < minKeyBytes || bytes.length > maxKeyBytes) {
    throw unusable(`A signing secret is not base64 of ${minKeyBytes} to ${maxKeyBytes} bytes.`)
  }
  return await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"])
}

const headerOf = (headers: WebhookHeaders, name: string): string => {
  const { get } = headers
  const found =
    typeof get === "function"
      ? get.call(headers, name)
      : Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1]
  const value = (typeof found === "string" ? found : Array.isArray(found) ? found.join(" ") : "").trim()
  if (value !== "") return value
  throw new WebhookError(
    "header-missing",
    `The delivery has no header ${name}.`,
    "Sign the deliveries of this sink: give it `secrets`. A proxy on the way must pass on the headers `webhook-*`."
  )
}

const unreadable = (message: string) =>
  new WebhookError(
    "header-unreadable",
    message,
    "A proxy on the way must pass on the headers `webhook-*` as the daemon sent them, and each of them once."
  )

const secondsIn = (timestamp: string): number => {
  if (/^\d{1,12}$/.test(timestamp)) return Number(timestamp)
  throw unreadable("The header webhook-timestamp is not a number of seconds since 1970 of at most 12 digits.")
}

/** The signatures of version 1. A repeated header comes with commas or spaces between its values. */
const signaturesIn = (header: string): ReadonlyArray<Uint8Array<ArrayBuffer>> => {
  const found = Array.from(header.matchAll(/(?:^|[\s,])v1,([^\s,]+)/g), ([, base64]) => bytesOf(base64!) ?? []).flat()
  if (found.length > 0) return found
  throw unreadable("The header webhook-signature has no signature of the form v1, and base64.")
}

/** A comparison with NaN is never true, so it would let every age pass. */
const checkOption = (name: keyof VerifyOptions, value: unknown, min: number): void => {
  if (typeof value === "number" && Number.isFinite(value) && value >= min) return
  throw new WebhookError(
    "option-unusable",
    `The option ${name} is not a finite number${min === 1 ? " of at least 1" : ""}.`,
    "Correct the option, or leave it out for its default."
  )
}

const textOf = (body: unknown): string => {
  if (typeof body === "string") return body
  if (ArrayBuffer.isView(body) || body instanceof ArrayBuffer) return new TextDecoder().decode(body as Uint8Array)
  throw new WebhookError(
    "body-unusable",
    "The body is not text or bytes.",
    "Give `verify` the raw body of the request, before a framework has parsed it: the signature is that of its bytes."
  )
}

const checkTime = (seconds: number, nowMillis: number, tolerance: number): void => {
  const age = Math.floor(nowMillis / 1000) - seconds
  if (age > tolerance) {
    throw new WebhookError(
      "too-old",
      `The delivery was sent ${age} s ago; ${tolerance} s are tolerated.`,
      "The daemon signs each attempt anew: do not keep deliveries to check them later, and check the clock of this machine."
    )
  }
  if (-age > tolerance) {
    throw new WebhookError(
      "too-new",
      `The delivery was sent ${-age} s in the future; ${tolerance} s are tolerated.`,
      "Check the clocks of this machine and of the daemon's."
    )
  }
}

const isEvent = (value: unknown): value is WatchEvent =>
  typeof value === "object" &&
  value !== null &&
  "specversion" in value &&
  value.specversion === "1.0" &&
  "type" in value &&
  typeof value.type === "string" &&
  "data" in value &&
  typeof value.data === "object" &&
  value.data !== null

const eventIn = (body: string): WatchEvent => {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    value = undefined
  }
  if (isEvent(value)) return value
  throw new WebhookError(
    "not-an-event",
    "The delivery is signed, but its body is not an event.",
    "Leave the `format` of this sink at its default, `cloudevents`."
  )
}

/**
 * Returns the event in a delivery. First it verifies that a holder of one of the secrets sent exactly this body, by default at most five
 * minutes ago. While you rotate a secret, pass the old and the new one.
 *
 * `body` is the body exactly as received, as text or bytes. If your framework has parsed the body and you serialize it again, the
 * signature does not match. An event of a type that only a later daemon has is returned unchanged.
 *
 * Rejects with a `WebhookError`. Answer such a delivery with 400; the daemon retries it later.
 */
export const verify = async (
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | ReadonlyArray<string>,
  // oxlint-disable-next-line no-restricted-properties -- nothing of Effect is loaded here, and `nowMillis` holds the clock still
  { nowMillis = Date.now(), toleranceSeconds = defaultTolerance }: VerifyOptions = {}
): Promise<WatchEvent> => {
  checkOption("toleranceSeconds", toleranceSeconds, 1)
  checkOption("nowMillis", nowMillis, -Infinity)
  const text = textOf(body)
  const keys = await Promise.all((Array.isArray(secrets) ? secrets : [secrets]).map(keyOf))
  if (keys.length === 0) throw unusable("No signing secret was given.")
  const id = headerOf(headers, "webhook-id")
  const timestamp = headerOf(headers, "webhook-timestamp")
  const signatures = signaturesIn(headerOf(headers, "webhook-signature"))
  const seconds = secondsIn(timestamp)
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`)
  for (const key of keys) {
    for (const signature of signatures) {
      // `crypto.subtle.verify` compares in constant time.
      if (!(await crypto.subtle.verify("HMAC", key, signature, signed))) continue
      checkTime(seconds, nowMillis, toleranceSeconds)
      return eventIn(text)
    }
  }
  throw new WebhookError(
    "signature-differs",
    "No signature of the delivery matches any of the secrets.",
    "Check the secret of the sink, and give `verify` the body as it came: not parsed, nor decoded."
  )
}
