/**
 * Masks the credentials in texts from outside, such as an error page that repeats the request's address. Berth's own texts
 * never contain them.
 */
import { Predicate, Redacted, RegExp as Regex } from "effect"
import { type ErrorReason, fieldsOf } from "../../domain/ErrorReason.ts"
import { apiKeyParameter } from "../../api/Routes.ts"
import type { Credentials } from "../options/Settings.ts"

/**
 * Masks every spelling of the credentials in a text, and, in the position of a credential, a part of one that was cut off.
 * With `maxLength` the result is cut to it, and no more of the text is read than necessary; the cut leaves no beginning of a
 * credential.
 */
export type Redact = (text: string, maxLength?: number) => string

const mask = "<redacted>"

/** Characters with their HTML names. */
const entities: Readonly<Record<string, string>> = Object.fromEntries(
  "!excl \"quot #num $dollar %percnt &amp 'apos (lpar )rpar *ast +plus ,comma .period /sol :colon ;semi <lt =equals >gt ?quest @commat [lsqb \\bsol ]rsqb ^Hat _lowbar `grave {lcub |verbar }rcub"
    .split(" ")
    .map((entity) => [entity[0], entity.slice(1)])
)

/** A sign that begins an encoding, which JSON may escape in its turn. */
const sign = (plain: string) => `(?:${plain}|u00${plain.charCodeAt(0).toString(16)})`

/** Backslashes before a character that is escaped, any number of times over. */
const escapes = "\\\\{0,8}"

/**
 * One character, or a run of backslashes, as it is, escaped in a string of a program or of JSON, percent-encoded, or as an HTML
 * entity, each any number of times over. Encoders differ in the characters that they leave alone, hence one by one.
 * Backslashes before the first character stay in the text, and those after a run of backslashes belong to it, so that the time
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
const spelling = (secret: string): ReadonlyArray<string> => (secret.match(/\\+|[^\\]/g) ?? []).map(unit)

/** Shorter pieces than this occur in texts by chance. */
const minPiece = 6

/** Others are several bytes each, and percent-encoded as these. */
const isAscii = (text: string): boolean => !/[^ -~]/.test(text)

/** The UTF-8 bytes of a text, a character each. */
const bytesOf = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("")

/** The part of a longer text's Base64 that depends on this secret alone, for each alignment. */
const insideBase64 = (bytes: string): ReadonlyArray<string> =>
  [0, 1, 2]
    .map((before) =>
      btoa(" ".repeat(before) + bytes).slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
    )
    .filter(({ length }) => length >= minPiece)

/** The encodings of a secret as a whole, character by character, the longest first: a shorter one may be its beginning. */
const wholes = (secret: string): ReadonlyArray<ReadonlyArray<string>> => {
  const bytes = bytesOf(secret)
  const base64 = [btoa(bytes), btoa(bytes).replace(/=+$/, ""), ...insideBase64(bytes)]
  const urlSafe = base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"))
  const texts = Array.from(new Set([...base64, ...urlSafe])).sort((a, b) => b.length - a.length)
  // As in a dump: with spaces or colons between the bytes, or without.
  const hex = Array.from(
    bytes,
    (plain, at) => (at === 0 ? "" : "[ :]?") + plain.charCodeAt(0).toString(16).padStart(2, "0")
  )
  return [...texts.map((text) => Array.from(text, Regex.escape)), hex]
}

/** A shorter secret may be a part of a word. */
const minAnywhere = 8

/** The names of credentials. */
const names = "(?:api[-_ ]?key|token|authorization|bearer)"

/** The text before a credential: its name, then punctuation in any spelling. */
const lead = names + "(?:[^a-z0-9]|%(?:25)*[0-9a-f]{2}|u00[0-9a-f]{2}|&#?\\w{1,6};|bearer){1,12}"

/** Shorter parts of a secret are not masked. */
const minPart = 4

/** A line break, plain or escaped, with the indentation of the next line. */
const lineBreak = "(?:(?:\\\\{0,8}[\\r\\n]|\\\\{1,8}[rn]){1,4}[ \\t]{0,8})?"

/** A short word of a sentence, or the name of a value, which may begin like a secret by chance. */
const word = `[a-z]{${minPart},8}(?:[,:]? [a-z]|=)`

/** Masks beginnings of these spellings in the position of a credential, as far as they go, across line breaks too. */
const partsMasked = (spellings: ReadonlyArray<ReadonlyArray<string>>): ((text: string) => string) => {
  const firsts = new Set(spellings.map((units) => units.slice(0, minPart).join(lineBreak)))
  const named = new RegExp(names, "i")
  const start = new RegExp(`${lead}(?!${word})(?=${Array.from(firsts).join("|") || "(?!)"})`, "gi")
  // One pattern per character: a nested pattern of all the beginnings takes long to compile.
  const characters = new Map<string, RegExp>()
  const end = (text: string, from: number, units: ReadonlyArray<string>) => {
    let at = from
    for (const unit of units) {
      const character = characters.get(unit) ?? new RegExp(lineBreak + unit, "iy")
      characters.set(unit, character)
      character.lastIndex = at
      if (!character.test(text)) break
      at = character.lastIndex
    }
    return at
  }
  return (text) => {
    // Most texts name no credential, and the longer pattern takes 2 ms to compile.
    if (!named.test(text)) return text
    let clean = ""
    let done = 0
    for (const { 0: before, index } of text.matchAll(start)) {
      const from = index + before.length
      if (from < done) continue
      clean += text.slice(done, from) + mask
      done = Math.max(...spellings.map((units) => end(text, from, units)))
    }
    return clean + text.slice(done)
  }
}

/** Most characters of a text for one of a secret. */
const maxPerCharacter = 16

/**
 * A function that masks the credentials, and further secrets, in a text; a short one only in the position of a credential. What it
 * looks for is made at the first text, for it takes 70 kB, and most clients see no text to mask.
 */
export const redactor = (credentials: Credentials, further: ReadonlyArray<string> = []): Redact => {
  let redact: Redact | undefined
  return (text, maxLength) => (redact ??= madeRedactor(credentials, further))(text, maxLength)
}

const madeRedactor = (credentials: Credentials, further: ReadonlyArray<string>): Redact => {
  const secrets = [...[credentials.apiKey, credentials.accessToken].map(Redacted.value), ...further].sort(
    (a, b) => b.length - a.length
  )
  const written = (secrets: ReadonlyArray<string>) => [
    ...secrets.flatMap((secret) => (isAscii(secret) ? [secret] : [secret, encodeURIComponent(secret)])).map(spelling),
    // The text that was encoded may be an address that was encoded already.
    ...Array.from(new Set(secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]))).flatMap(wholes)
  ]
  const short = secrets.filter(({ length }) => length < minAnywhere)
  const either = (spellings: ReadonlyArray<ReadonlyArray<string>>) => spellings.map((units) => units.join("")).join("|")
  const patterns = [either(written(secrets.filter(({ length }) => length >= minAnywhere)))].filter(Boolean)
  if (short.length > 0) patterns.push(`(${lead})(?:${either(written(short))})(?![a-z0-9])`)
  const pattern = new RegExp(patterns.join("|"), "gi")
  // Few texts have even the beginning of a secret, and a pattern of beginnings compiles at once.
  const beginning = new RegExp(either(written(secrets).map((units) => units.slice(0, minPart))), "i")
  const partMasked = partsMasked(written(secrets.filter(({ length }) => length > minPart)))
  const reach = secrets[0]!.length * maxPerCharacter
  return (text, maxLength = Number.POSITIVE_INFINITY) => {
    const read = text.slice(0, maxLength + 2 * reach)
    const whole = beginning.test(read)
      ? read.replace(pattern, (_, before: unknown) => (Predicate.isString(before) ? before + mask : mask))
      : read
    const clean = partMasked(whole)
    // The end of the part that was read may be the beginning of a secret.
    return (read.length < text.length ? clean.slice(0, -reach) : clean).slice(0, maxLength)
  }
}

/** A text without the user and password in its addresses, such as the address of a proxy. */
export const withoutUser = (text: string): string => text.replace(/\/\/[^/@\s]{1,500}@/g, `//${mask}@`)

/** The address of a request as it is shown: made anew, for the one on the wire has the key. */
export const shownAddress = (
  origin: string,
  { path, query }: { readonly path: string; readonly query: ReadonlyArray<readonly [name: string, value: string]> },
  redact: Redact
): string => {
  const search = new URLSearchParams(query.map(([name, value]) => [name, value]))
  return redact(`${origin}${path}?${search.size === 0 ? "" : `${search}&`}${apiKeyParameter}=${mask}`)
}

/** Matches fields with the name of a credential. */
const isNamed = new RegExp(`${names}$`, "i")

/** Masks every text in a value, at any depth, names of fields included; `before` is the text before each of them. */
const masked = (value: unknown, redact: Redact, before = ""): unknown => {
  if (Predicate.isString(value)) return redact(before + value).slice(before.length)
  if (Array.isArray(value)) return value.map((item) => masked(item, redact, before))
  if (!Predicate.isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      redact(name),
      masked(inner, redact, isNamed.test(name) ? "token=" : "")
    ])
  )
}

/** Errors within errors are copied up to this depth. */
const maxCauses = 5

/** A copy of an error of any kind, with its texts masked. */
const maskedCause = (cause: unknown, redact: Redact, depth = 0): unknown => {
  if (!Predicate.isObjectOrArray(cause)) return redact(String(cause), 1000)
  const given = cause as { [_ in "cause" | "code" | "message" | "name" | "stack"]?: unknown }
  const text = (value: unknown) => withoutUser(redact(String(value ?? ""), 4000))
  const inner = given.cause
  const copy = new Error(text(given.message))
  const set = (name: string, value: unknown) =>
    Object.defineProperty(copy, name, { value, configurable: true, writable: true })
  set("name", text(given.name ?? "Error"))
  set("stack", text(given.stack))
  if (Predicate.isString(given.code)) set("code", text(given.code))
  if (inner !== undefined && depth < maxCauses) set("cause", maskedCause(inner, redact, depth + 1))
  return copy
}

/**
 * The same reason with every text masked that is not ours, and with its sentences made from the masked fields. The caller's own
 * arguments may hold a credential, too.
 */
export const redactedReason = (reason: ErrorReason, redact: Redact): ErrorReason => {
  const Reason = reason.constructor as (new (fields: object) => ErrorReason) & { readonly ours?: ReadonlyArray<string> }
  const isOurs = (name: string) => Reason.ours?.includes(name) === true
  const fields = Object.fromEntries(
    Object.entries(fieldsOf(reason)).map(([name, value]) => [name, isOurs(name) ? value : masked(value, redact)])
  )
  return new Reason(reason.cause === undefined ? fields : { ...fields, cause: maskedCause(reason.cause, redact) })
}
