/**
 * Takes the credentials out of what came from outside, such as an error page that repeats the request's address. What
 * Berth writes itself never contains them in the first place.
 */
import { Predicate, Redacted, RegExp as Regex } from "effect"
import { type ErrorReason, fieldsOf } from "../domain/ErrorReason.ts"
import type { Credentials } from "./Settings.ts"

/**
 * Masks every spelling of the credentials in a text. With `maxLength` the result is cut to it, and no more of the text is read
 * than that takes; the cut leaves no beginning of a credential.
 */
export type Redact = (text: string, maxLength?: number) => string

const mask = "<redacted>"

/** The characters that HTML has names for, each before its name. */
const entities: Readonly<Record<string, string>> = Object.fromEntries(
  "!excl \"quot #num $dollar %percnt &amp 'apos (lpar )rpar *ast +plus ,comma .period /sol :colon ;semi <lt =equals >gt ?quest @commat [lsqb \\bsol ]rsqb ^Hat _lowbar `grave {lcub |verbar }rcub"
    .split(" ")
    .map((entity) => [entity[0], entity.slice(1)])
)

/** A sign that begins an encoding, which JSON may escape in its turn. */
const sign = (plain: string) => `(?:${plain}|u00${plain.charCodeAt(0).toString(16)})`

/** Backslashes before a character that is escaped, as often over as encoders do it. */
const escapes = "\\\\{0,8}"

/**
 * One character, or a run of backslashes, as it is, escaped in a string of a program or of JSON, percent-encoded, or as an
 * entity of HTML; each as often over as it likes. Every encoder chooses for itself which characters it leaves alone, hence
 * one by one. Backslashes before the first character are left in the text, and those after a run of them belong to it: the time
 * is linear in the text.
 */
const unit = (plain: string, at: number, units: ReadonlyArray<string>): string => {
  const [first = ""] = plain
  const code = first.charCodeAt(0)
  const hex = code.toString(16).padStart(2, "0")
  const named = entities[first] === undefined ? "" : `|${entities[first]}`
  const percent = `${sign("%")}(?:25)*${hex}`
  const entity = `${sign("&")}(?:amp;)*(?:#0*${code}|#x0*${hex}${named});?`
  const spelled = `(?:${Regex.escape(first)}|u\\{?0*${hex}\\}?|x${hex}|${percent}|${entity})`
  if (first === "\\") return `${spelled}{${plain.length},${8 * plain.length + 8}}`
  return at === 0 || units[at - 1]!.startsWith("\\") ? spelled : escapes + spelled
}

/** Every spelling of a secret, character by character. */
const spelling = (secret: string): string => (secret.match(/\\+|[^\\]/g) ?? []).map(unit).join("")

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

/** A shorter secret may stand in a word. */
const shortestAnywhere = 8

/** What stands before a credential: the name it goes by, then signs in any spelling. */
const lead =
  "(?:api[-_ ]?key|token|authorization|bearer)(?:[^a-z0-9]|%(?:25)*[0-9a-f]{2}|u00[0-9a-f]{2}|&#?\\w{1,6};|bearer){1,12}"

/** So many characters of a text may spell one of a secret. */
const mostPerCharacter = 16

/** A function that masks the credentials in a text; a short one only where it stands as a credential. */
export const redactor = (credentials: Credentials): Redact => {
  const secrets = [credentials.apiKey, credentials.accessToken].map(Redacted.value).sort((a, b) => b.length - a.length)
  const written = (secrets: ReadonlyArray<string>) => [
    ...secrets.map(spelling),
    // An encoder may have been given an address that was encoded already.
    ...Array.from(new Set(secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]))).flatMap(wholes)
  ]
  const short = secrets.filter(({ length }) => length < shortestAnywhere)
  const patterns = written(secrets.filter(({ length }) => length >= shortestAnywhere))
  if (short.length > 0) patterns.push(`(${lead})(?:${written(short).join("|")})(?![a-z0-9])`)
  const pattern = new RegExp(patterns.join("|"), "gi")
  const reach = secrets[0]!.length * mostPerCharacter
  return (text, maxLength = Number.POSITIVE_INFINITY) => {
    const read = text.slice(0, maxLength + 2 * reach)
    const clean = read.replace(pattern, (_, before: unknown) => (Predicate.isString(before) ? before + mask : mask))
    // What is at the end of the part that was read may be the beginning of a secret.
    return (read.length < text.length ? clean.slice(0, -reach) : clean).slice(0, maxLength)
  }
}

/** Masks every text in a value, all the way down, names of fields included. */
const masked = (value: unknown, redact: Redact): unknown => {
  if (Predicate.isString(value)) return redact(value)
  if (Array.isArray(value)) return value.map((item) => masked(item, redact))
  if (!Predicate.isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [redact(name), masked(inner, redact)]))
}

/**
 * The same reason with every text masked that is not ours, and with its sentences made of what is left: what the caller asked for
 * may hold a credential, too.
 */
export const redactedReason = (reason: ErrorReason, redact: Redact): ErrorReason => {
  const Reason = reason.constructor as (new (fields: object) => ErrorReason) & { readonly ours?: ReadonlyArray<string> }
  const isOurs = (name: string) => Reason.ours?.includes(name) === true
  return new Reason(
    Object.fromEntries(
      Object.entries(fieldsOf(reason)).map(([name, value]) => [name, isOurs(name) ? value : masked(value, redact)])
    )
  )
}
