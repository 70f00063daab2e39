/**
 * In what a request differs from an expected call, in plain words. The request that differs in the fewest fields is the nearest; what was
 * asked for counts before what was answered.
 */
import { nearest } from "@berthkit/terminal/usage"
import { Predicate, Result, type Schema } from "effect"
import { matches } from "../lifecycle/pattern.ts"
import type { ExpectedCall } from "./ExpectedCall.ts"
import type { JournalEntry } from "./JournalEntry.ts"

/** A difference. Its sentence is made when it is asked for: most differences are only counted. */
export interface Difference {
  readonly sentence: () => string
  /** How many fields differ. */
  readonly fields: number
  /** Whether it lies in the reply, not in the request. */
  readonly isAnswer?: true
}

/** A request of the journal, its body parsed once for all expected calls. */
export interface Request {
  readonly entry: JournalEntry
  readonly body: Result.Result<unknown, "absent" | "cut" | "no JSON">
  /** About how much there is to compare, in characters. */
  readonly size: number
  /** How much of it patterns are compared with. */
  readonly patternSize: number
}

/** What a comparison costs even where the request is short, in characters. */
const minSize = 100

/** `areHeadersCompared` where any call expects some. */
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

/** Names of a request that are compared with one that is missing. */
const maxCandidates = 50

/** The differences of a request, one after another; none when it is the one expected. */
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

/** Names of headers are the same in any case. */
const inLowerCase = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, pattern]) => [name.toLowerCase(), pattern]))

const another = (name: string, wanted: unknown, given: unknown): Difference => ({
  sentence: () => `${name} is ${show(given)}, expected ${show(wanted)}`,
  fields: fieldsIn(wanted)
})

const byPattern = (wanted: string, given: string, name: string): Iterable<Difference> =>
  matches(wanted, given) ? [] : [another(name, wanted, given)]

/** How many values are in a value; itself if it has none. */
const fieldsIn = (value: unknown): number =>
  Predicate.isObjectOrArray(value)
    ? Math.max(
        1,
        Object.values(value).reduce((sum: number, inner) => sum + fieldsIn(inner), 0)
      )
    : 1

/** The differences of named values. A name that is missing may be there misspelt, under a name that was not expected. */
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
  const found = { absent: "missing", cut: "too long for the journal to be compared", "no JSON": "no JSON" } as const
  yield { sentence: () => `body is ${found[body.failure]}, expected ${show(wanted)}`, fields: fieldsIn(wanted) }
}

/** The places where `given` lacks what `wanted` has. What it has besides does not matter. */
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
      // Most values are the same, and a generator for each takes longer than the rest.
      if (value !== given[index]) yield* within(value, given[index], `${path}.${index}`)
    }
    return
  }
  if (wanted !== given) yield another(path, wanted, given)
}

const maxShown = 120

const shorten = (text: string): string => (text.length > maxShown ? `${text.slice(0, maxShown)}…` : text)

export const show = (value: unknown): string => shorten(JSON.stringify(value) ?? "nothing")
