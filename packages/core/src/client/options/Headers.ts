/**
 * Validates headers that a program adds to requests. Headers that the client or HTTP sets are refused, so none can replace the credentials.
 */
import { Predicate } from "effect"
import { isSecretName } from "../../domain/secretName.ts"

/** Header names and their values. */
export type Headers = Readonly<Record<string, string>>

/** Headers set by the client or by HTTP. */
const ownHeaders =
  /^(accept|authorization|connection|content-.*|expect|host|keep-alive|te|trailer|transfer|upgrade|user-agent)(-encoding)?$/i

/** The characters of a header: printable ASCII, spaces and tabs. */
const isHeaderValue = (value: unknown): value is string => Predicate.isString(value) && /^[\t\x20-\x7e]*$/.test(value)

const isPlain = (value: object) => [null, Object.prototype].includes(Object.getPrototypeOf(value) as object | null)

/** What is wrong with additional headers; undefined if nothing is. */
export const headersFault = (headers: unknown): string | undefined => {
  // A `Headers` or a `Map` has no own keys, so it would count as empty.
  if (!Predicate.isObject(headers) || !isPlain(headers))
    return "expected a plain object of texts by the names of headers"
  const wrong = Object.keys(headers).find(
    (name) => !/^[\w!#$%&'*+.^`|~-]+$/.test(name) || ownHeaders.test(name) || !isHeaderValue(headers[name])
  )
  return wrong === undefined ? undefined : `the header ${JSON.stringify(wrong)} cannot be set`
}

/** The same headers with names in lower case. */
export const lowerCase = (headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** Shorter values are not secrets, and occur in strings by chance. */
const minSecret = 4

/** The secrets in headers: whole values and the words in them, such as the one after `Bearer`. */
export const secretsIn = (headers: Headers): ReadonlyArray<string> =>
  Object.entries(headers).flatMap(([name, value]) =>
    isSecretName(name)
      ? [value, ...value.split(/[\s;,]+/).filter((word) => word !== value && word.length >= 2 * minSecret)].filter(
          ({ length }) => length >= minSecret
        )
      : []
  )
