/**
 * Takes the credentials out of what came from outside, such as an error page that repeats the request's address. What
 * Berth writes itself never contains them in the first place.
 */
import { Predicate, Redacted, RegExp as Regex } from "effect"
import { type ErrorReason, fieldsOf } from "../domain/ErrorReason.ts"
import type { Credentials } from "./Settings.ts"

/** Masks every spelling of the credentials in a text. */
export type Redact = (text: string) => string

const mask = "<redacted>"

/** The characters that HTML has names for. */
const entities: Readonly<Record<string, string>> = {
  "!": "excl",
  '"': "quot",
  "#": "num",
  $: "dollar",
  "%": "percnt",
  "&": "amp",
  "'": "apos",
  "(": "lpar",
  ")": "rpar",
  "*": "ast",
  "+": "plus",
  ",": "comma",
  ".": "period",
  "/": "sol",
  ":": "colon",
  ";": "semi",
  "<": "lt",
  "=": "equals",
  ">": "gt",
  "?": "quest",
  "@": "commat",
  "[": "lsqb",
  "\\": "bsol",
  "]": "rsqb",
  "^": "Hat",
  _: "lowbar",
  "`": "grave",
  "{": "lcub",
  "|": "verbar",
  "}": "rcub"
}

/** A sign that begins an encoding, which JSON may escape in its turn. */
const sign = (plain: string) => `(?:${plain}|\\\\{1,8}u00${plain.charCodeAt(0).toString(16)})`

/**
 * One character as it is, escaped in a string of a program or of JSON, percent-encoded, or as an entity of HTML; each as
 * often over as it likes. Every encoder chooses for itself which characters it leaves alone, hence one by one.
 */
const character = (plain: string): string => {
  const code = plain.charCodeAt(0)
  const hex = code.toString(16).padStart(2, "0")
  const named = entities[plain] === undefined ? "" : `|${entities[plain]}`
  const escaped = `\\\\{0,8}(?:${Regex.escape(plain)}|u\\{?0*${hex}\\}?|x${hex})`
  const percent = `${sign("%")}(?:25)*${hex}`
  const entity = `${sign("&")}(?:amp;)*(?:#0*${code}|#x0*${hex}${named});?`
  return `(?:${escaped}|${percent}|${entity})`
}

/** Shorter pieces than this stand in texts by chance. */
const shortestPiece = 6

/** What of the Base64 of a longer text is this secret's alone, wherever in it the secret begins. */
const insideBase64 = (secret: string): ReadonlyArray<string> =>
  [0, 1, 2]
    .map((before) =>
      btoa(" ".repeat(before) + secret).slice(
        Math.ceil((before * 8) / 6),
        Math.floor(((before + secret.length) * 8) / 6)
      )
    )
    .filter(({ length }) => length >= shortestPiece)

/** The encodings of a secret as a whole, the longest first: a shorter one may be the beginning of it. */
const wholes = (secret: string): ReadonlyArray<string> => {
  const base64 = [btoa(secret), btoa(secret).replace(/=+$/, ""), ...insideBase64(secret)]
  const urlSafe = base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"))
  const texts = Array.from(new Set([...base64, ...urlSafe])).sort((a, b) => b.length - a.length)
  // As a dump has it: with spaces or colons between the bytes, or without.
  const hex = Array.from(secret, (plain) => plain.charCodeAt(0).toString(16).padStart(2, "0")).join("[ :]?")
  return [...texts.map(Regex.escape), hex]
}

/** A function that masks the credentials in a text. */
export const redactor = (credentials: Credentials): Redact => {
  const secrets = [credentials.apiKey, credentials.accessToken].map(Redacted.value).sort((a, b) => b.length - a.length)
  const spelled = secrets.map((secret) => Array.from(secret, character).join(""))
  // An encoder may have been given an address that was encoded already.
  const texts = new Set(secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]))
  const pattern = new RegExp([...spelled, ...Array.from(texts).flatMap(wholes)].join("|"), "gi")
  return (text) => text.replace(pattern, mask)
}

/** Masks every text in a value, all the way down, names of fields included. */
const masked = (value: unknown, redact: Redact): unknown => {
  if (Predicate.isString(value)) return redact(value)
  if (Array.isArray(value)) return value.map((item) => masked(item, redact))
  if (!Predicate.isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [redact(name), masked(inner, redact)]))
}

/** Fields that have nothing but words of our own, in which a short secret may stand. */
const ours = new Set(["limit", "sent"])

/** The same reason with every text in it masked: decoding may have brought to light what the reply had hidden. */
export const redactedReason = (reason: ErrorReason, redact: Redact): ErrorReason => {
  const Reason = reason.constructor as new (fields: object) => ErrorReason
  return new Reason(
    Object.fromEntries(
      Object.entries(fieldsOf(reason)).map(([name, value]) => [name, ours.has(name) ? value : masked(value, redact)])
    )
  )
}
