/**
 * Says in plain words how a request differs from an expected call. The nearest request is the one with the fewest differing
 * fields. Differences in the request count more than differences in the reply.
 */
import { nearest } from "@berthkit/terminal/usage"
import { Predicate, Result, type Schema } from "effect"
import { matches } from "../lifecycle/pattern.ts"
import type { ExpectedCall } from "./ExpectedCall.ts"
import type { JournalEntry } from "./JournalEntry.ts"

/** A difference. The sentence is built on demand, because most differences are only counted. */
export interface Difference {
  readonly sentence: () => string
  /** How many fields differ. */
  readonly fields: number
  /** Whether the difference is in the reply. */
  readonly isAnswer?: true
}

/** A request of the journal. The body is parsed only once for all expected calls. */
export interface Request {
  readonly entry: JournalEntry
  readonly body: Result.Result<unknown, "absent" | "cut" | "no JSON">
  /** Approximate number of characters to compare. */
  readonly size: number
  /** How many of these characters are compared with patterns. */
  readonly patternSize: number
}

/** Minimum cost of a comparison, in characters. */
const minSize = 100

/** Prepares a journal entry for comparisons. `areHeadersCompared` says whether any call expects headers. */
export const readRequest = (entry: JournalEntry, areHeadersCompared: boolean): Request => {
  const { body, headers, path, query } = entry
  const named = [...Object.entries(query), ...(areHeadersCompared ? Object.entries(headers) : [])]
  const names = named.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  const patternSize = path.length + names
  return { entry, body: readBody(entry), size: minSize + patternSize + (body?.length ?? 0), patternSize }
}

const readBody = ({ body, bodyBytes }: JournalEntry): Request["body"] => {
  if (body === null) return Result.fail("absent")
  if (bodyBytes !== undefined) return Result.fail("cut")
  return Result.try({ try: (): unknown => JSON.parse(body), catch: () => "no JSON" as const })
}

/** A missing name is compared with at most this many names of a request, to find a typo. */
const maxCandidates = 50

/** Yields the differences between a request and a call one by one; none if the request matches. */
export function* differences(call: ExpectedCall, { body, entry }: Request): Generator<Difference> {
  const { method, path, status } = entry
  if (call.method !== undefined && call.method.toUpperCase() !== method) {
    yield { sentence: () => `method is ${method}, expected ${call.method!.toUpperCase()}`, fields: 1 }
  }
  if (call.operation !== undefined && call.operation !== entry.operation) {
    const operation = entry.operation ?? `none (${method} ${path})`
    yield { sentence: () => `operation is ${operation}, expected ${call.operation}`, fields: 1 }
  }
  if (call.path !== undefined && !matches(call.path, path)) {
    const pattern = call.path
    const hint = /\?[^/?=&]+=/.test(pattern) ? "; a query is expected under query, not in the path" : ""
    yield { sentence: () => `path is ${shorten(path)}, expected ${shorten(pattern)}${hint}`, fields: 1 }
  }
  yield* fieldDifferences(call.query ?? {}, entry.query, "query ", byPattern)
  if (call.headers !== undefined) {
    yield* fieldDifferences(inLowerCase(call.headers), entry.headers, "header ", byPattern)
  }
  if (call.body !== undefined) yield* bodyDifferences(call.body, body)
  if (call.status !== undefined && call.status !== status) {
    const sentence = () =>
      status === null
        ? `there was no reply, expected status ${call.status}`
        : `status is ${status}, expected ${call.status ?? "no reply"}`
    yield { sentence, fields: 1, isAnswer: true }
  }
  for (const fault of call.faults ?? []) {
    if (!entry.faults.includes(fault)) {
      yield { sentence: () => `fault ${fault} did not fire`, fields: 1, isAnswer: true }
    }
  }
}

/** The headers by lower-case name, because the case of a name does not matter. */
const inLowerCase = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, pattern]) => [name.toLowerCase(), pattern]))

const another = (name: string, wanted: unknown, given: unknown): Difference => ({
  sentence: () => `${name} is ${show(given)}, expected ${show(wanted)}`,
  fields: fieldsIn(wanted)
})

const byPattern = (wanted: string, given: string, name: string): Iterable<Difference> =>
  matches(wanted, given) ? [] : [another(name, wanted, given)]

/** Number of plain values in a value, at least 1. */
const fieldsIn = (value: unknown): number =>
  Predicate.isObjectOrArray(value)
    ? Math.max(
        1,
        Object.values(value).reduce((sum: number, inner) => sum + fieldsIn(inner), 0)
      )
    : 1

/**
 * Yields the differences of named values. If a name is missing, the difference suggests a similar name that was not
 * expected, because that may be a typo.
 */
function* fieldDifferences<W, G>(
  wanted: Readonly<Record<string, W>>,
  given: Readonly<Record<string, G>>,
  prefix: string,
  compare: (wanted: W, given: G, name: string) => Iterable<Difference>
): Generator<Difference> {
  for (const name of Object.keys(wanted)) {
    if (!Object.hasOwn(given, name)) yield missing(name, wanted, given, prefix)
    else if (!Object.is(wanted[name], given[name])) yield* compare(wanted[name]!, given[name]!, `${prefix}${name}`)
  }
}

const missing = (
  name: string,
  wanted: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
  prefix: string
): Difference => ({
  sentence: () => {
    const beside = Object.keys(given)
      .filter((other) => !Object.hasOwn(wanted, other))
      .slice(0, maxCandidates)
    const [misnamed] = nearest(name, beside)
    const hint = misnamed === undefined ? "" : `; there is ${misnamed}`
    return `${prefix}${name} is missing, expected ${show(wanted[name])}${hint}`
  },
  fields: fieldsIn(wanted[name])
})

function* bodyDifferences(wanted: Schema.Json, body: Request["body"]): Generator<Difference> {
  if (Result.isSuccess(body)) return yield* within(wanted, body.success, "body")
  const found = {
    absent: "missing",
    cut: "too long to compare: the journal kept only its beginning",
    "no JSON": "no JSON"
  } as const
  yield { sentence: () => `body is ${found[body.failure]}, expected ${show(wanted)}`, fields: fieldsIn(wanted) }
}

/** Yields the places where a value of `wanted` is missing from `given`. Additional values in `given` do not matter. */
function* within(wanted: unknown, given: unknown, path: string): Generator<Difference> {
  if (Predicate.isObject(wanted) && Predicate.isObject(given)) {
    return yield* fieldDifferences(
      wanted as Record<string, unknown>,
      given as Record<string, unknown>,
      `${path}.`,
      within
    )
  }
  if (Array.isArray(wanted) && Array.isArray(given)) {
    if (wanted.length !== given.length) {
      const sentence = () => `${path} has the length ${given.length}, expected ${wanted.length}`
      return yield { sentence, fields: fieldsIn(wanted) }
    }
    for (const [index, value] of wanted.entries()) {
      // Most values are equal. A generator for each of them would take most of the time.
      if (value !== given[index]) yield* within(value, given[index], `${path}.${index}`)
    }
    return
  }
  if (wanted !== given) yield another(path, wanted, given)
}

const maxShown = 120

const shorten = (text: string): string => (text.length > maxShown ? `${text.slice(0, maxShown)}…` : text)

export const show = (value: unknown): string => shorten(JSON.stringify(value) ?? "nothing")
