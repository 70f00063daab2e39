/**
 * What a caller without types gives, as JSON. `JSON.stringify` alone takes a number that is none for `null`, leaves a function
 * out, and fails with a sentence about itself.
 */

/** The control plane takes no more levels. */
const maxDepth = 64

/** Bytes of a body that the control plane takes, and so of a text in it. */
const maxTextBytes = 1024 * 1024

/** Characters of a parameter: many more than any has that means something, and few enough for a URL. */
const maxParameterLength = 1000

/** The JSON of an argument; throws a `TypeError` that names it, and the place in it, where it is no JSON. */
export const jsonOf = (name: string, value: unknown): string => {
  const problem = problemOf(value, name, 0)
  if (problem !== undefined) throw new TypeError(problem)
  return JSON.stringify(value)
}

/** An object with fields of its own: not a list, not a promise that was not awaited. */
export const objectOf = <A extends object | undefined>(name: string, value: A): A => {
  if (value === undefined || isPlain(value)) return value
  throw new TypeError(`Expected ${name} to be an object.`)
}

/** The fields of a query. */
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
  // What contains itself has no end either.
  if (depth > maxDepth) return `Expected ${path.slice(0, 100)}… to have at most ${maxDepth} levels.`
  if (Array.isArray(value)) {
    return firstOf(value.entries(), ([index, element]) => problemOf(element, `${path}.${index}`, depth + 1))
  }
  if (!isPlain(value)) return `Expected ${path} to be JSON.`
  // A field that is undefined has its default.
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
