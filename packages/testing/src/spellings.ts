/**
 * The ways in which a service or a proxy may spell a secret. No encoder here is the client's, so that a test notices a
 * spelling that the client does not know.
 */
import { Buffer } from "node:buffer"
import { escape } from "node:querystring"
import { inspect } from "node:util"

const each = (secret: string, encode: (code: number) => string) =>
  Array.from(secret, (character) => encode(character.charCodeAt(0))).join("")
const hex = (code: number, digits: number) => code.toString(16).padStart(digits, "0")
/** Encodes everything except letters and digits, like encoders that change as little as possible. */
const special = (encode: (code: number) => string) => (code: number) =>
  /[a-z0-9]/i.test(String.fromCharCode(code)) ? String.fromCharCode(code) : encode(code)

const named: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }
const html5: Record<string, string> = { "/": "&sol;", "+": "&plus;", "=": "&equals;", "&": "&amp;", ".": "&period;" }
const entities = (secret: string, names: Record<string, string>) => secret.replace(/[^a-z0-9]/gi, (c) => names[c] ?? c)

/** Every spelling of a secret, by name. Each can also occur inside a JSON text. */
export const spellingsOf = (secret: string): Readonly<Record<string, string>> => {
  const bytes = Buffer.from(secret)
  return {
    plain: secret,
    "JSON as PHP writes it": secret.replaceAll("/", "\\/"),
    "JSON with escapes for signs": each(
      secret,
      special((code) => `\\u${hex(code, 4)}`)
    ),
    "JSON with escapes in upper case": each(secret, (code) => `\\u${hex(code, 4).toUpperCase()}`),
    "JSON within JSON": secret.replaceAll("/", "\\\\/"),
    "escapes within JSON within JSON": each(secret, (code) => `\\\\u${hex(code, 4)}`),
    "percent-encoded": escape(secret),
    "percent-encoded in lower case": escape(secret).replace(/%../g, (code) => code.toLowerCase()),
    "percent-encoded altogether": each(secret, (code) => `%${hex(code, 2)}`),
    "percent-encoded twice": encodeURIComponent(encodeURIComponent(secret)),
    "percent-encoded three times": encodeURIComponent(encodeURIComponent(encodeURIComponent(secret))),
    "percent-encoded as an address": encodeURI(secret),
    "percent-encoded as a form": String(new URLSearchParams([["", secret]])).slice(1),
    "HTML that names what it must": entities(secret, named),
    "HTML that names what it can": entities(secret, html5),
    "HTML with decimal entities": each(
      secret,
      special((code) => `&#${code};`)
    ),
    "HTML with hexadecimal entities": each(
      secret,
      special((code) => `&#x${hex(code, 2).toUpperCase()};`)
    ),
    "HTML altogether in entities": each(secret, (code) => `&#x${hex(code, 4)};`),
    "HTML within HTML": entities(entities(secret, html5), named),
    "HTML within JSON as Go writes it": entities(secret, html5).replaceAll("&", "\\u0026"),
    "percent-encoded within JSON that escapes signs": escape(secret).replaceAll("%", "\\u0025"),
    Base64: bytes.toString("base64"),
    "Base64 of an encoded one": Buffer.from(encodeURIComponent(secret)).toString("base64"),
    "Base64 of an address": Buffer.from(`/nodes/?apikey=${encodeURIComponent(secret)}&page_no=1`).toString("base64"),
    "Base64 for addresses": bytes.toString("base64url"),
    "Base64 of a login": Buffer.from(`me:${secret}`).toString("base64"),
    "Base64 for addresses, of a longer text": Buffer.from(`key ${secret} is wrong`).toString("base64url"),
    hexadecimal: bytes.toString("hex"),
    "hexadecimal in upper case": bytes.toString("hex").toUpperCase(),
    "a dump": inspect(bytes)
  }
}

/** The names of the spellings in which a string shows one of the secrets, ignoring case. */
export const seenOf = (shown: string, secrets: ReadonlyArray<string>): ReadonlyArray<string> => {
  const text = shown.toLowerCase()
  return secrets.flatMap((secret) =>
    Object.entries(spellingsOf(secret)).flatMap(([name, spelling]) =>
      text.includes(spelling.toLowerCase()) ? [name] : []
    )
  )
}
