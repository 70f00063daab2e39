/**
 * In what a request differs from an expected call: each difference in plain words, and with a weight by which the request that a
 * person would name first is the nearest. What was asked for weighs more than what was answered.
 */
import { Predicate, Result, type Schema } from "effect"
import { formOf } from "../faults/operations.ts"
import { matches } from "../lifecycle/pattern.ts"
import type { ExpectedCall } from "./ExpectedCall.ts"
import type { JournalEntry } from "./JournalEntry.ts"
import { comparisonCost, pathDistance, patternDistance, textDistance } from "./textDistance.ts"

/** Steps for which the texts of one request are compared with those of a call: 20 long texts, or 200 short names. */
const maxSteps = 20_000

type Measure = (wanted: string, given: string) => number

/** Measures with so many steps together. Once they are used up, texts that are not the same are as different as can be. */
const boundedMeasures = () => {
  let left = maxSteps
  const bounded =
    (measure: Measure): Measure =>
    (wanted, given) => {
      if (wanted === given) return 0
      if (left <= 0) return 1
      left -= comparisonCost(wanted, given)
      return measure(wanted, given)
    }
  return { text: bounded(textDistance), pattern: bounded(patternDistance), path: bounded(pathDistance) }
}
type Measures = ReturnType<typeof boundedMeasures>

/** A difference. Both its sides are made when they are asked for: most differences are only found, never shown. */
export interface Difference {
  readonly sentence: () => string
  /** 0 is no difference, 1 is another thing altogether. */
  readonly weight: () => number
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

const weights = {
  method: 0.5,
  /** More than any answer: a request of another operation was meant to be that. */
  operation: 0.4,
  status: 0.3,
  fault: 0.3,
  absent: 1,
  misnamed: 0.2,
  /** What is there, and differs however much, is nearer than what is not. */
  maxValue: 0.9,
  length: 0.5,
  maxBody: 2
} as const

/** The differences of a request, one after another; none when it is the one expected. */
export function* differences(call: ExpectedCall, { body, entry }: Request): Generator<Difference> {
  const { method, path, status } = entry
  const asked = `${method} ${path}`
  const measures = boundedMeasures()
  if (call.method !== undefined && call.method.toUpperCase() !== method) {
    yield simple(`method is ${method}, expected ${call.method.toUpperCase()}`, weights.method)
  }
  if (call.operation !== undefined && call.operation !== entry.operation) {
    const form = formOf(call.operation)
    yield {
      sentence: () => `operation is ${entry.operation ?? `none (${asked})`}, expected ${call.operation}`,
      weight: () =>
        (entry.operation === null ? 0 : weights.operation) +
        (form.method === method ? 0 : weights.method) +
        measures.path(form.pattern, path)
    }
  }
  if (call.path !== undefined && !matches(call.path, path)) {
    const pattern = call.path
    const [bare] = pattern.split(/\?(?=[^/?=&]+=)/, 1) as [string]
    const hint = bare === pattern ? "" : "; a query is expected under query, not in the path"
    yield {
      sentence: () => `path is ${shorten(path)}, expected ${shorten(pattern)}${hint}`,
      weight: () => (hint === "" ? 0 : weights.misnamed) + measures.path(bare, path)
    }
  }
  const byPattern = (wanted: string, given: string, name: string) =>
    matches(wanted, given) ? [] : [valueDifference(name, wanted, given, measures.pattern)]
  yield* fieldDifferences(call.query ?? {}, entry.query, "query ", measures, byPattern)
  if (call.headers !== undefined) {
    yield* fieldDifferences(inLowerCase(call.headers), entry.headers, "header ", measures, byPattern)
  }
  if (call.body !== undefined) yield* bodyDifferences(call.body, body, measures)
  if (call.status !== undefined && call.status !== status) {
    const sentence =
      status === null
        ? `there was no reply, expected status ${call.status}`
        : `status is ${status}, expected ${call.status ?? "no reply"}`
    yield simple(sentence, weights.status)
  }
  for (const fault of call.faults ?? []) {
    if (!entry.faults.includes(fault)) yield simple(`fault ${fault} did not fire`, weights.fault)
  }
}

/** Names of headers are the same in any case. */
const inLowerCase = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, pattern]) => [name.toLowerCase(), pattern]))

const simple = (sentence: string, weight: number): Difference => ({ sentence: () => sentence, weight: () => weight })

const valueDifference = (name: string, wanted: string, given: string, distance: Measure): Difference => ({
  sentence: () => `${name} is ${show(given)}, expected ${show(wanted)}`,
  weight: () => weights.maxValue * distance(wanted, given)
})

/** The same differences, which together weigh no more than so much. */
function* atMost(max: number, differences: Iterable<Difference>): Generator<Difference> {
  let left = max
  for (const difference of differences) {
    const before = left
    let known: number | undefined
    const weight = () => (known ??= before === 0 ? 0 : Math.min(before, difference.weight()))
    yield { ...difference, weight }
    // Only where more than the first one is asked for: to weigh takes long.
    left -= weight()
  }
}

/** The differences of named values. A name that is missing may be there misspelt, under a name that was not expected. */
function* fieldDifferences<W, G>(
  wanted: Readonly<Record<string, W>>,
  given: Readonly<Record<string, G>>,
  prefix: string,
  measures: Measures,
  compare: (wanted: W, given: G, name: string) => Iterable<Difference>
): Generator<Difference> {
  let candidates: ReadonlyArray<string> | undefined
  const notWanted = () => (candidates ??= namesBeside(wanted, given))
  for (const name of Object.keys(wanted)) {
    if (!Object.hasOwn(given, name)) yield missing(name, wanted[name], given, notWanted, prefix, measures)
    else if (!Object.is(wanted[name], given[name])) yield* compare(wanted[name]!, given[name]!, `${prefix}${name}`)
  }
}

/** Some of the names that were given and not expected. */
const namesBeside = (wanted: object, given: object): ReadonlyArray<string> => {
  const names: Array<string> = []
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(wanted, name)) names.push(name)
    if (names.length === maxCandidates) break
  }
  return names
}

const missing = (
  name: string,
  wanted: unknown,
  given: Readonly<Record<string, unknown>>,
  notWanted: () => ReadonlyArray<string>,
  prefix: string,
  measures: Measures
): Difference => {
  const nearest = () => {
    const ranked = notWanted().map((other) => ({ other, distance: measures.text(name, other) }))
    return ranked.sort((a, b) => a.distance - b.distance).find(({ distance }) => distance <= 0.5)
  }
  return {
    sentence: () => {
      const misnamed = nearest()
      const hint = misnamed === undefined ? "" : `; there is ${misnamed.other}`
      return `${prefix}${name} is missing, expected ${show(wanted)}${hint}`
    },
    weight: () => {
      const misnamed = nearest()
      return misnamed === undefined
        ? weights.absent
        : weights.misnamed + (misnamed.distance + measures.text(show(wanted), show(given[misnamed.other]))) / 2
    }
  }
}

function* bodyDifferences(wanted: Schema.Json, body: Request["body"], measures: Measures): Generator<Difference> {
  if (Result.isFailure(body)) {
    const found = { absent: "missing", cut: "too long for the journal to be compared", "no JSON": "no JSON" } as const
    return yield simple(`body is ${found[body.failure]}, expected ${show(wanted)}`, weights.maxBody)
  }
  // Heavier than a body that is not there it cannot get: there the differences end.
  let total = 0
  for (const difference of atMost(weights.maxBody, within(wanted, body.success, "body", measures))) {
    yield difference
    total += difference.weight()
    if (total >= weights.maxBody) return
  }
}

/** The places where `given` lacks what `wanted` has. What it has besides does not matter. */
function* within(wanted: unknown, given: unknown, path: string, measures: Measures): Generator<Difference> {
  if (Predicate.isObject(wanted) && Predicate.isObject(given)) {
    return yield* fieldDifferences(
      wanted as Record<string, unknown>,
      given as Record<string, unknown>,
      `${path}.`,
      measures,
      (wanted, given, name) => atMost(weights.maxValue, within(wanted, given, name, measures))
    )
  }
  if (Array.isArray(wanted) && Array.isArray(given)) {
    if (wanted.length !== given.length) {
      return yield simple(`${path} has the length ${given.length}, expected ${wanted.length}`, weights.length)
    }
    for (const [index, value] of wanted.entries()) {
      // Most values are the same, and a generator for each takes longer than the rest.
      if (value !== given[index]) yield* within(value, given[index], `${path}.${index}`, measures)
    }
    return
  }
  if (wanted === given) return
  yield {
    sentence: () => `${path} is ${show(given)}, expected ${show(wanted)}`,
    weight: () =>
      typeof wanted === typeof given && typeof wanted !== "object"
        ? weights.maxValue * measures.text(String(wanted), String(given))
        : weights.maxValue
  }
}

const maxShown = 120

const shorten = (text: string): string => (text.length > maxShown ? `${text.slice(0, maxShown)}…` : text)

export const show = (value: unknown): string => shorten(JSON.stringify(value) ?? "nothing")
