/**
 * Finds and hides the secrets in what programs record: JSON values, strings, and headers. `isSecretName` judges the
 * names, and this module finds their values. The mock's journal and archives, and everything learned from a recording,
 * pass through here.
 */
import { isSecretName } from "./secretName.ts"

/** The text that replaces a secret. */
export const hidden = "<redacted>"

/** A notation of a name and its value. */
interface Notation {
  /** Matches a name, in the first group, and the text up to its value. */
  readonly name: RegExp
  /** Whether the value of a name is a secret. */
  readonly isSecret: (name: string) => boolean
  /** The end of the value that begins at an index; undefined if there is no value that can be a secret. */
  readonly endOf: (text: string, from: number) => number | undefined
  /** The text that replaces the value. */
  readonly instead: string
}

const matched =
  (value: RegExp) =>
  (text: string, from: number): number | undefined => {
    value.lastIndex = from
    return value.test(text) ? value.lastIndex : undefined
  }

/** If a string is cut off within JSON, the JSON ends where the string ends. */
const jsonText = matched(/"(?:[^"\\]|\\[^])*(?:"|\\?$)/y)
const jsonNumber = matched(/-?\d[\d.eE+-]*/y)

/** The end of a JSON list or object, or of the text if that ends earlier. */
const jsonEnd = (text: string, from: number): number => {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    const character = text[at]!
    if (character === '"') at = jsonText(text, at)! - 1
    else if (character === "[" || character === "{") depth++
    else if ((character === "]" || character === "}") && --depth === 0) return at + 1
  }
  return text.length
}

const decodedText = (name: string): string => {
  try {
    return String(JSON.parse(`"${name}"`))
  } catch {
    return name
  }
}

/** A field of a JSON text, which may be cut off. A list or an object is hidden as a whole; a truth value is no secret. */
const jsonField: Notation = {
  name: /"((?:[^"\\]|\\[^]){0,200})"\s*:\s*/g,
  isSecret: (name) => isSecretName(decodedText(name)),
  endOf: (text, from) =>
    /["[{]/.test(text[from] ?? "")
      ? text[from] === '"'
        ? jsonText(text, from)
        : jsonEnd(text, from)
      : jsonNumber(text, from),
  instead: `"${hidden}"`
}

/** A field of a form with parts (RFC 7578). */
const formPart: Notation = {
  name: /\bname="([^"\r\n]{1,200})"[^\r\n]{0,200}\r?\n(?:[^\r\n]{1,200}\r?\n){0,5}\r?\n/g,
  isSecret: isSecretName,
  endOf: matched(/[^\r\n]+/y),
  instead: hidden
}

/** A scheme of HTTP authentication with its credentials, but not a challenge, which has parameters. */
const scheme: Notation = {
  name: /\b(Bearer|Basic)(?:\s+|\+|%(?:25)*20)(?![\w-]+=")/gi,
  isSecret: () => true,
  endOf: matched(/[\w.~+/=-]{4,}/y),
  instead: hidden
}

/**
 * A parameter of an address or a form (also in an address within an address), or an assignment in a log or a program. A
 * truth value is no secret.
 */
const assignment: Notation = {
  name: /([\w.-]{1,64})\\{0,8}["']?\s*(?:=|:|%(?:25)*3D)\s*\\{0,8}["']?/gi,
  isSecret: isSecretName,
  endOf: matched(/(?!(?:true|false|null)\b)[^\s"'&,;<>{}\\]{4,}/y),
  instead: hidden
}

/** The user and password of an address. */
const user: Notation = {
  name: /(:(?:\/\/|%(?:25)*2F%(?:25)*2F))/gi,
  isSecret: () => true,
  endOf: matched(/[^/@\s"'<>]{1,500}(?=@|%(?:25)*40)/y),
  instead: hidden
}

const notations: ReadonlyArray<Notation> = [jsonField, formPart, scheme, user, assignment]

interface Found {
  readonly from: number
  readonly value: string
}

/** The secrets of a notation, in order. The value of any other name is searched for further names. */
const foundIn = (text: string, { endOf, isSecret, name }: Notation): ReadonlyArray<Found> => {
  const found: Array<Found> = []
  let done = 0
  for (const match of text.matchAll(name)) {
    const from = match.index + match[0].length
    if (from < done || !isSecret(match[1]!)) continue
    const end = endOf(text, from)
    if (end === undefined) continue
    found.push({ from, value: text.slice(from, end) })
    done = end
  }
  return found
}

const hide = (text: string, notation: Notation): string => {
  let [clean, done] = ["", 0]
  for (const { from, value } of foundIn(text, notation)) {
    clean += text.slice(done, from) + notation.instead
    done = from + value.length
  }
  return clean + text.slice(done)
}

/** The secrets of a string: of an address, a form, a header, a sentence or JSON. */
export const secretsOfText = (text: string): ReadonlyArray<string> =>
  notations.flatMap((notation) => foundIn(text, notation).map(({ value }) => value))

/** Hides the secrets of JSON that is a string within JSON. */
const hideNested = (text: string): string =>
  text.replaceAll(/"(?:[^"\\]|\\[^])*"/g, (literal) => {
    if (!literal.includes('\\"')) return literal
    const inner = decodedText(literal.slice(1, -1))
    const clean = hideInText(inner)
    return clean === inner ? literal : JSON.stringify(clean)
  })

/** Hides the secrets of a string: of an address, a form, a header, a sentence or JSON. The string may be cut off. */
export const hideInText = (text: string): string => notations.reduce(hide, hideNested(text))

/** Hides the value of a header or a parameter, or the secrets in it. */
export const hideNamed = (name: string, value: string): string => (isSecretName(name) ? hidden : hideInText(value))

/** Hides every text and number of a JSON value. Numbers become 0, so the types of the values stay. */
const hideAll = (value: unknown): unknown => {
  if (typeof value === "string") return value === "" ? value : hidden
  if (typeof value === "number") return 0
  if (Array.isArray(value)) return value.map(hideAll)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, hideAll(inner)]))
}

/**
 * Hides the secrets of a JSON value: all that is under the name of a secret, at any depth. `text` hides those in its other strings and its
 * names; default: `hideInText`.
 */
export const hideInJson = (value: unknown, text: (given: string) => string = hideInText): unknown => {
  if (typeof value === "string") return text(value)
  if (Array.isArray(value)) return value.map((each) => hideInJson(each, text))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      text(name),
      isSecretName(name) ? hideAll(inner) : hideInJson(inner, text)
    ])
  )
}

const textsOf = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string" || typeof value === "number") return [String(value)]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : []
}

/** The secrets of a JSON value. The first 100 items of each list are read, to a depth of 7. */
export const secretsOfJson = (value: unknown, depth = 0): ReadonlyArray<string> => {
  if (typeof value === "string") return secretsOfText(value)
  if (depth > 6 || typeof value !== "object" || value === null) return []
  if (Array.isArray(value)) return value.slice(0, 100).flatMap((each) => secretsOfJson(each, depth + 1))
  return Object.entries(value).flatMap(([name, inner]) =>
    isSecretName(name) ? textsOf(inner) : secretsOfJson(inner, depth + 1)
  )
}
