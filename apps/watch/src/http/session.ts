/**
 * Login sessions: a cookie with an expiry, and a signature made with the token. The daemon stores nothing about sessions, so
 * they survive a restart, and end when the token changes. Pure.
 */
import { createHmac, hash, timingSafeEqual } from "node:crypto"
import { Redacted } from "effect"

/** How long a login lasts. */
export const sessionSeconds = 30 * 24 * 3600

/** Whether two secrets are equal. It compares their digests, so the time reveals nothing about where they differ. */
export const isSameSecret = (left: string, right: string): boolean => timingSafeEqual(digest(left), digest(right))

const digest = (text: string): Buffer => hash("sha256", text, "buffer")

const sealOf = (token: Redacted.Redacted, endsAtSeconds: number): string =>
  createHmac("sha256", Redacted.value(token)).update(`berth-watch session ${endsAtSeconds}`).digest("base64url")

/** The value of the cookie. */
export const sessionOf = (token: Redacted.Redacted, nowMillis: number): string => {
  const endsAtSeconds = Math.floor(nowMillis / 1000) + sessionSeconds
  return `${endsAtSeconds}.${sealOf(token, endsAtSeconds)}`
}

/** Whether a cookie was made with this token and has not expired. */
export const isSession = (value: string, token: Redacted.Redacted, nowMillis: number): boolean => {
  const [, end, seal] = /^(\d{1,12})\.([\w-]{43})$/.exec(value) ?? []
  if (end === undefined || seal === undefined || Number(end) * 1000 <= nowMillis) return false
  return isSameSecret(seal, sealOf(token, Number(end)))
}
