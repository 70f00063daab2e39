/**
 * Finds the credentials in a recording, wherever they are, and removes them from every text. It collects them from all
 * requests, even those to other services, because one service may issue a credential in a reply that a later request sends
 * to another service.
 */
import { Redacted } from "effect"
import { redactor } from "@berthkit/core/client/transport/Redaction"
import { isSecretName } from "@berthkit/core/domain/secretName"
import { hideInText, secretsOfJson, secretsOfText } from "@berthkit/core/domain/namedSecrets"
import { isObject, type JsonObject } from "@berthkit/profile/values"

export type Pair = readonly [name: string, value: string]

export const pairsOf = (list: unknown): ReadonlyArray<Pair> =>
  Array.isArray(list)
    ? list.filter(isObject).map(({ name, value }): Pair => [String(name ?? ""), String(value ?? "")])
    : isObject(list)
      ? Object.entries(list).map(([name, value]): Pair => [name, String(value)])
      : []

export const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Minimum length of a credential: a shorter text never counts as one. */
const minLength = 4

/**
 * Minimum length of any secret other than the account's own: a shorter one may be an ordinary word, which would be masked
 * everywhere.
 */
const minOtherLength = 8

/** How many secrets the redactor searches for in every spelling: the first ones, which belong to the account. */
const maxSpelled = 32

/** Maximum number of secrets. A browser has dozens of cookies, and some change with each reply. */
export const maxSecrets = 5_000

const scheme = /^(Bearer|Basic|Token|ApiKey)\s+/i

/** The forms in which a credential may appear elsewhere: without its scheme, decoded, and the password of a login. */
const formsOf = (value: string): ReadonlyArray<string> => {
  const bare = value.trim().replace(scheme, "")
  const login = /^Basic\s/i.test(value.trim()) ? Buffer.from(bare, "base64").toString() : ""
  return [bare, decoded(bare), login, login.replace(/^[^:]*:/, "")]
}

/**
 * The values of the cookies in a header. `Cookie` holds only cookies; a `Set-Cookie` begins with its cookie, and attributes
 * follow.
 */
const cookiesIn = (name: string, value: string): ReadonlyArray<string> => {
  // A browser joins several `Set-Cookie` headers into one, with a line for each.
  const parts = /^set-/i.test(name) ? value.split("\n").map((line) => line.split(";", 1)[0]!) : value.split(";")
  return parts.map((part) => part.slice(part.indexOf("=") + 1).trim())
}

const ofPair = ([name, value]: Pair): ReadonlyArray<string> => {
  const plain = decoded(name)
  if (/^(set-)?cookie$/i.test(plain)) return cookiesIn(plain, value).flatMap(formsOf)
  return isSecretName(plain) ? formsOf(value) : secretsOfText(value).flatMap(formsOf)
}

const usable = (secrets: ReadonlyArray<string>): ReadonlyArray<string> =>
  secrets.filter((text) => text.length >= minLength && !text.includes("<redacted>"))

/** A request and its reply in a HAR. */
interface Recorded {
  readonly url: URL
  readonly request: JsonObject
  readonly response: JsonObject
  /** The bodies that are JSON. */
  readonly bodies: ReadonlyArray<unknown>
}

/** Every credential in an entry of a HAR. */
export const secretsIn = ({ bodies, request, response, url }: Recorded): ReadonlyArray<string> => {
  const { postData } = request
  const form = isObject(postData) ? [...pairsOf(postData["params"]), ["", String(postData["text"] ?? "")] as const] : []
  const named = [
    ...url.searchParams,
    ...pairsOf(request["queryString"]),
    ...pairsOf(request["headers"]),
    ...pairsOf(response["headers"]),
    ...form,
    ["", decoded(url.pathname)] as const
  ]
  const cookies = [...pairsOf(request["cookies"]), ...pairsOf(response["cookies"])].map(([, value]) => value)
  return usable([
    ...named.flatMap(ofPair),
    ...[url.username, url.password, ...cookies].flatMap(formsOf),
    ...bodies.flatMap((body) => secretsOfJson(body).flatMap(formsOf))
  ])
}

/** The usual spellings of a secret: plain, percent-encoded, as JSON, and in Base64. */
const plainly = (secret: string): ReadonlyArray<string> => {
  const base64 = Buffer.from(secret).toString("base64").replace(/=+$/, "")
  return [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    base64,
    base64.replaceAll("+", "-").replaceAll("/", "_")
  ]
}

/**
 * Masks secrets of at least `minOtherLength` within a string. It looks secrets up by their first characters, because there may
 * be thousands of them.
 */
const masker = (secrets: ReadonlyArray<string>) => {
  const byBeginning = new Map<string, Array<string>>()
  const spelled = Array.from(new Set(secrets.flatMap(plainly))).toSorted((a, b) => b.length - a.length)
  for (const text of spelled) {
    const beginning = text.slice(0, minOtherLength)
    const alike = byBeginning.get(beginning)
    if (alike === undefined) byBeginning.set(beginning, [text])
    else alike.push(text)
  }
  return (text: string): string => {
    let [clean, done] = ["", 0]
    for (let at = 0; at + minOtherLength <= text.length; at++) {
      const found = byBeginning.get(text.slice(at, at + minOtherLength))?.find((each) => text.startsWith(each, at))
      if (found === undefined) continue
      clean += `${text.slice(done, at)}<redacted>`
      done = at + found.length
      at = done - 1
    }
    return clean + text.slice(done)
  }
}

/** A function that removes these secrets, and strings that look like one. It compiles its patterns at the first use. */
export const redactorFor = (secrets: ReadonlyArray<string>): ((text: string) => string) => {
  // Percent-encoding throws if a string ends in half a surrogate pair.
  const all = Array.from(new Set(secrets.map((secret) => secret.toWellFormed())))
  const make = () => {
    const [first, second = first, ...others] = all.slice(0, maxSpelled)
    const own =
      first === undefined || second === undefined
        ? (text: string) => text
        : redactor({ apiKey: Redacted.make(first), accessToken: Redacted.make(second) }, others)
    const further = all.slice(maxSpelled).filter(({ length }) => length >= minOtherLength)
    if (further.length === 0) return own
    const masked = masker(further)
    return (text: string) => masked(own(text))
  }
  let known: ((text: string) => string) | undefined
  return (text) => hideInText((known ??= make())(text))
}
