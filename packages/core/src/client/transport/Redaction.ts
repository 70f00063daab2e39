/**
 * Masks credentials in strings from outside, such as an error page that repeats the request's address. Berth's own strings never contain
 * credentials.
 */
import { Predicate, Redacted, RegExp as Regex } from "effect"
import { type ErrorReason, fieldsOf } from "../../domain/ErrorReason.ts"
import { isSecretName, secretNameInText } from "../../domain/secretName.ts"
import { apiKeyParameter } from "../../api/Routes.ts"
import type { Credentials } from "../options/Settings.ts"

/**
 * Masks every spelling of the credentials in a string. If the string names a credential, this also masks the beginning of a credential that
 * was cut off. `maxLength` cuts the result and limits how much of the string is read; the cut never leaves the beginning of a credential.
 */
export type Redact = (text: string, maxLength?: number) => string

const mask = "<redacted>"

/** Characters with their HTML names. */
const entities: Readonly<Record<string, string>> = Object.fromEntries(
  "!excl \"quot #num $dollar %percnt &amp 'apos (lpar )rpar *ast +plus ,comma .period /sol :colon ;semi <lt =equals >gt ?quest @commat [lsqb \\bsol ]rsqb ^Hat _lowbar `grave {lcub |verbar }rcub"
    .split(" ")
    .map((entity) => [entity[0], entity.slice(1)])
)

/** A sign that begins an encoding. JSON may have escaped the sign itself. */
const sign = (plain: string) => `(?:${plain}|u00${plain.charCodeAt(0).toString(16)})`

/** The backslashes before a character that was escaped several times over. */
const escapes = "\\\\{0,8}"

/**
 * Matches one character or a run of backslashes: plain, escaped as in JSON or a program's string, percent-encoded, or
 * as an HTML entity, each several times over. Each character is matched by itself, because encoders differ in which
 * characters they encode. Backslashes before the first character stay in the text, and backslashes after a run belong
 * to the run; this keeps the time linear.
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

/** Shorter pieces than this occur in strings by chance. */
const minPiece = 6

/** Whether a string is printable ASCII. Other characters are percent-encoded as several bytes. */
const isAscii = (text: string): boolean => !/[^ -~]/.test(text)

/** The UTF-8 bytes of a string, a character each. */
const bytesOf = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("")

/** For each alignment in a longer text, the part of the Base64 that depends only on this secret. */
const insideBase64 = (bytes: string): ReadonlyArray<string> =>
  [0, 1, 2]
    .map((before) =>
      btoa(" ".repeat(before) + bytes).slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
    )
    .filter(({ length }) => length >= minPiece)

/** The encodings of a whole secret, each as a list of characters. The longest comes first, because a shorter one may be its beginning. */
const wholes = (secret: string): ReadonlyArray<ReadonlyArray<string>> => {
  const bytes = bytesOf(secret)
  const base64 = [btoa(bytes), btoa(bytes).replace(/=+$/, ""), ...insideBase64(bytes)]
  const urlSafe = base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"))
  const texts = Array.from(new Set([...base64, ...urlSafe])).sort((a, b) => b.length - a.length)
  // Hexadecimal as in a dump, with or without spaces or colons between the bytes.
  const hex = Array.from(
    bytes,
    (plain, at) => (at === 0 ? "" : "[ :]?") + plain.charCodeAt(0).toString(16).padStart(2, "0")
  )
  return [...texts.map((text) => Array.from(text, Regex.escape)), hex]
}

/** A shorter secret may be part of a word by chance, so it is masked only after the name of a credential. */
const minAnywhere = 8

/** The text before a credential: its name, then punctuation in any encoding. */
const lead = secretNameInText + "(?:[^a-z0-9]|%(?:25)*[0-9a-f]{2}|u00[0-9a-f]{2}|&#?\\w{1,6};|bearer){1,12}"

/** Shorter parts of a secret are not masked. */
const minPart = 4

/** A line break, plain or escaped, with the indentation of the next line. */
const lineBreak = "(?:(?:\\\\{0,8}[\\r\\n]|\\\\{1,8}[rn]){1,4}[ \\t]{0,8})?"

/** A short word of a sentence or the name of a value. It may begin like a secret by chance. */
const word = `[a-z]{${minPart},8}(?:[,:]? [a-z]|=)`

/** Masks the beginning of a secret after the name of a credential, as far as it matches one of these spellings, even across line breaks. */
const partsMasked = (spellings: ReadonlyArray<ReadonlyArray<string>>): ((text: string) => string) => {
  const firsts = new Set(spellings.map((units) => units.slice(0, minPart).join(lineBreak)))
  const named = new RegExp(secretNameInText, "i")
  const start = new RegExp(`${lead}(?!${word})(?=${Array.from(firsts).join("|") || "(?!)"})`, "gi")
  // One pattern per character, because one nested pattern of all beginnings compiles slowly.
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
    // Most strings name no credential, and the long pattern takes 2 ms to compile.
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

/** Maximum number of characters of a string that encode one character of a secret. */
const maxPerCharacter = 16

/**
 * Makes a function that masks the credentials and further secrets in a string. The function masks a short secret only
 * after the name of a credential. The first text creates the patterns, because they take 70 kB and most clients have no
 * text to mask.
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
    // The encoded text may itself be an encoded address.
    ...Array.from(new Set(secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]))).flatMap(wholes)
  ]
  const short = secrets.filter(({ length }) => length < minAnywhere)
  const either = (spellings: ReadonlyArray<ReadonlyArray<string>>) => spellings.map((units) => units.join("")).join("|")
  const patterns = [either(written(secrets.filter(({ length }) => length >= minAnywhere)))].filter(Boolean)
  if (short.length > 0) patterns.push(`(${lead})(?:${either(written(short))})(?![a-z0-9])`)
  const pattern = new RegExp(patterns.join("|"), "gi")
  // This pattern is tested first, because few strings contain even the beginning of a secret, and it compiles fast.
  const beginning = new RegExp(either(written(secrets).map((units) => units.slice(0, minPart))), "i")
  const partMasked = partsMasked(written(secrets.filter(({ length }) => length > minPart)))
  const reach = secrets[0]!.length * maxPerCharacter
  return (text, maxLength = Number.POSITIVE_INFINITY) => {
    const read = text.slice(0, maxLength + 2 * reach)
    const whole = beginning.test(read)
      ? read.replace(pattern, (_, before: unknown) => (Predicate.isString(before) ? before + mask : mask))
      : read
    const clean = partMasked(whole)
    // The part that was read may end within a secret, so cut its end off.
    return (read.length < text.length ? clean.slice(0, -reach) : clean).slice(0, maxLength)
  }
}

/** Masks the user and password in addresses within a string, such as the address of a proxy. */
export const withoutUser = (text: string): string => text.replace(/\/\/[^/@\s]{1,500}@/g, `//${mask}@`)

/** The address of a request, for display. It is built separately, because the address on the wire contains the API key. */
export const shownAddress = (
  origin: string,
  { path, query }: { readonly path: string; readonly query: ReadonlyArray<readonly [name: string, value: string]> },
  redact: Redact
): string => {
  const search = new URLSearchParams(query.map(([name, value]) => [name, value]))
  return redact(`${origin}${path}?${search.size === 0 ? "" : `${search}&`}${apiKeyParameter}=${mask}`)
}

/** Masks every text in a value at any depth, including the names of fields. Each text is masked as if `before` preceded it. */
const masked = (value: unknown, redact: Redact, before = ""): unknown => {
  if (Predicate.isString(value)) return redact(before + value).slice(before.length)
  if (Array.isArray(value)) return value.map((item) => masked(item, redact, before))
  if (!Predicate.isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      redact(name),
      masked(inner, redact, isSecretName(name) ? "token=" : "")
    ])
  )
}

/** Nested errors are copied up to this depth. */
const maxCauses = 5

/** A copy of an error of any kind, with its strings masked. */
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
 * The same reason, with all strings masked except Berth's own. Its sentences use the masked fields. The caller's
 * arguments are masked as well, because they may contain a credential.
 */
export const redactedReason = (reason: ErrorReason, redact: Redact): ErrorReason => {
  const Reason = reason.constructor as (new (fields: object) => ErrorReason) & { readonly ours?: ReadonlyArray<string> }
  const isOurs = (name: string) => Reason.ours?.includes(name) === true
  const fields = Object.fromEntries(
    Object.entries(fieldsOf(reason)).map(([name, value]) => [name, isOurs(name) ? value : masked(value, redact)])
  )
  return new Reason(reason.cause === undefined ? fields : { ...fields, cause: maskedCause(reason.cause, redact) })
}
