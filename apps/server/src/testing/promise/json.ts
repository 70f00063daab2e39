/**
 * Turns arguments into JSON, and checks them, because callers may be untyped. `JSON.stringify` alone writes `null` for NaN,
 * drops functions, and fails with sentences that do not name the argument.
 */

/** Maximum depth of a body that the control plane accepts. */
const maxDepth = 64

/** Maximum bytes of a body that the control plane accepts, and therefore of a string in it. */
const maxTextBytes = 1024 * 1024

/** Maximum length of a parameter: far more than a valid one needs, and short enough for a URL. */
const maxParameterLength = 1000

/** The JSON of an argument. Throws a `TypeError` that names the argument, and the place in it that is not JSON. */
export const jsonOf = (name: string, value: unknown): string => {
  const problem = problemOf(value, name, 0)
  if (problem !== undefined) throw new TypeError(problem)
  return JSON.stringify(value)
}

/** Requires a plain object. A list is refused, and so is a promise that somebody forgot to await. */
export const objectOf = <A extends object | undefined>(name: string, value: A): A => {
  if (value === undefined || isPlain(value)) return value
  throw new TypeError(`Expected ${name} to be an object.`)
}

/** The fields of a query as text. */
export const queryOf = <A extends object | undefined>(name: string, value: A): A => {
  const query = objectOf(name, value)
  for (const [key, field] of Object.entries(query ?? {})) {
    if (String(field).length > maxParameterLength)
      throw new TypeError(`Expected ${name}.${key} to have at most ${maxParameterLength} characters.`)
  }
  return query
}

export const textOf = (name: string, example: string, value: string): string => {
  if (typeof value === "string") return value
  throw new TypeError(`Expected ${name} to be a text such as ${JSON.stringify(example)}.`)
}

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  Object.prototype.toString.call(value) === "[object Object]"

const problemOf = (value: unknown, path: string, depth: number): string | undefined => {
  if (value === null || typeof value === "boolean") return undefined
  if (typeof value === "string")
    return Buffer.byteLength(value) <= maxTextBytes
      ? undefined
      : `Expected ${path} to have at most ${maxTextBytes} bytes.`
  if (typeof value === "number")
    return Number.isFinite(value) ? undefined : `Expected ${path} to be a number, not ${value}.`
  // This also refuses a value that contains itself, which is infinitely deep.
  if (depth > maxDepth) return `Expected ${path.slice(0, 100)}… to have at most ${maxDepth} levels.`
  if (Array.isArray(value)) {
    return firstOf(value.entries(), ([index, element]) => problemOf(element, `${path}.${index}`, depth + 1))
  }
  if (!isPlain(value)) return `Expected ${path} to be JSON.`
  // Skip undefined fields, which get their defaults.
  return firstOf(Object.entries(value), ([key, field]) =>
    field === undefined ? undefined : problemOf(field, `${path}.${key}`, depth + 1)
  )
}

const firstOf = <A>(all: Iterable<A>, problem: (one: A) => string | undefined): string | undefined => {
  for (const one of all) {
    const found = problem(one)
    if (found !== undefined) return found
  }
  return undefined
}
