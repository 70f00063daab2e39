/**
 * Takes the credentials out of text that came from outside, such as an error page that repeats the request's address.
 * What Berth writes itself never contains them in the first place.
 */
import { Redacted, RegExp as Regex } from "effect"
import { Base64, Base64Url } from "effect/encoding"
import type { Credentials } from "./Settings.ts"

const mask = "<redacted>"

/** The spellings in which a secret can come back. */
const spellings = (secret: string): ReadonlyArray<string> => [
  secret,
  encodeURIComponent(secret),
  encodeURI(secret),
  new URLSearchParams({ s: secret }).toString().slice(2),
  JSON.stringify(secret).slice(1, -1),
  Base64.encode(secret),
  Base64.encode(secret).replace(/=+$/, ""),
  Base64Url.encode(secret)
]

/** A function that masks every spelling of the credentials in a text. */
export const redactor = (credentials: Credentials): ((text: string) => string) => {
  const secrets = [credentials.apiKey, credentials.accessToken].map(Redacted.value)
  // The longest spelling first: a shorter one may be the beginning of it.
  const all = Array.from(new Set(secrets.flatMap(spellings))).sort((a, b) => b.length - a.length)
  const pattern = new RegExp(all.map((spelling) => Regex.escape(spelling)).join("|"), "gi")
  return (text) => text.replace(pattern, mask)
}
