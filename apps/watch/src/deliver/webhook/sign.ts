/**
 * Signatures of Standard Webhooks 1.0: a receiver can check that an event comes from this daemon, and when it was sent.
 */
import { createHmac } from "node:crypto"
import { Redacted } from "effect"

const minKeyBytes = 16
const maxKeyBytes = 64
const prefix = "whsec_"

/** The key in a secret as it is written, `whsec_` and base64; undefined when it is none. */
export const signingKey = (secret: string): Uint8Array | undefined => {
  const text = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined
  const key = Buffer.from(text, "base64")
  return key.length >= minKeyBytes && key.length <= maxKeyBytes ? key : undefined
}

/** The headers of one attempt. The id is that of the event, the same on every attempt; the time is that of the attempt. */
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
