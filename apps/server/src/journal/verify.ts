/**
 * Compares a journal with the calls that were expected. A call that is missing is shown with the nearest requests, and with
 * their differences.
 */
import { Predicate, Result, Schema } from "effect"
import { operations } from "../faults/operations.ts"
import { matches } from "../lifecycle/pattern.ts"
import { JournalEntry } from "./JournalEntry.ts"

const times = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))

export const Expected = Schema.Struct({
  method: Schema.optionalKey(Schema.String),
  path: Schema.optionalKey(Schema.String).annotate({ description: "`*` is any text, `?` one character." }),
  operation: Schema.optionalKey(Schema.Literals(operations)),
  query: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)).annotate({
    description: "Parameters that are there, by pattern; others may be."
  }),
  body: Schema.optionalKey(Schema.Json).annotate({
    description: "Fields that are there, with these values; others may be."
  }),
  status: Schema.optionalKey(Schema.NullOr(Schema.Int)),
  faults: Schema.optionalKey(Schema.Array(Schema.String)).annotate({ description: "Faults that fired; others may." }),
  count: Schema.optionalKey(times).annotate({ description: "How often, exactly." }),
  atLeast: Schema.optionalKey(times).annotate({ description: "How often, at least; 1 without any count." }),
  atMost: Schema.optionalKey(times)
}).annotate({ identifier: "ExpectedCall" })
export type Expected = typeof Expected.Type

export const Expectation = Schema.Struct({
  expected: Schema.Array(Expected).check(Schema.isMaxLength(1000)),
  noOthers: Schema.optionalKey(Schema.Boolean).annotate({ description: "Whether any other call is a mismatch." })
}).annotate({ identifier: "Expectation" })

const NearMiss = Schema.Struct({ request: JournalEntry, differs: Schema.Array(Schema.String) })

export const Verdict = Schema.Struct({
  ok: Schema.Boolean,
  mismatches: Schema.Array(
    Schema.Struct({
      expected: Expected,
      wanted: Schema.String.annotate({ description: "How often, in words." }),
      found: Schema.Int,
      nearMisses: Schema.Array(NearMiss)
    })
  ),
  others: Schema.Array(JournalEntry).annotate({ description: "With `noOthers`: calls that were not expected." })
}).annotate({ identifier: "Verdict" })
export type Verdict = typeof Verdict.Type

const maxNearMisses = 3

export const verify = (
  entries: ReadonlyArray<JournalEntry>,
  { expected, noOthers = false }: typeof Expectation.Type
): Verdict => {
  const explained = new Set<JournalEntry>()
  const mismatches: Array<Verdict["mismatches"][number]> = []
  for (const call of expected) {
    const compared = entries.map((request) => ({ request, differs: differences(call, request) }))
    const found = compared.filter(({ differs }) => differs.length === 0)
    for (const { request } of found) explained.add(request)
    const { max, min, wanted } = bounds(call)
    if (found.length >= min && found.length <= max) continue
    const nearMisses = compared
      .filter(({ differs }) => differs.length > 0)
      .sort((a, b) => a.differs.length - b.differs.length || a.request.seq - b.request.seq)
      .slice(0, maxNearMisses)
    mismatches.push({ expected: call, wanted, found: found.length, nearMisses: found.length > max ? [] : nearMisses })
  }
  const others = noOthers ? entries.filter((request) => !explained.has(request)) : []
  return { ok: mismatches.length === 0 && others.length === 0, mismatches, others }
}

const bounds = ({ atLeast, atMost, count }: Expected) => {
  if (count !== undefined) return { min: count, max: count, wanted: `exactly ${count}` }
  const min = atLeast ?? (atMost === undefined ? 1 : 0)
  const max = atMost ?? Number.POSITIVE_INFINITY
  const words = [...(min > 0 ? [`at least ${min}`] : []), ...(atMost === undefined ? [] : [`at most ${atMost}`])]
  return { min, max, wanted: words.join(" and ") || "any number" }
}

/** The differences of a request in words; none when it is the one expected. */
const differences = (call: Expected, request: JournalEntry): ReadonlyArray<string> => {
  const found: Array<string> = []
  const differs = (what: string, is: unknown, wanted: unknown) =>
    found.push(`${what}: ${show(is)}, not ${show(wanted)}`)
  if (call.method !== undefined && call.method !== request.method) differs("method", request.method, call.method)
  if (call.operation !== undefined && call.operation !== request.operation) {
    differs("operation", request.operation, call.operation)
  }
  if (call.path !== undefined && !matches(call.path, request.path)) differs("path", request.path, call.path)
  if (call.status !== undefined && call.status !== request.status) differs("status", request.status, call.status)
  for (const [name, pattern] of Object.entries(call.query ?? {})) {
    const value = request.query[name]
    if (value === undefined || !matches(pattern, value)) differs(`query ${name}`, value, pattern)
  }
  for (const fault of call.faults ?? []) {
    if (!request.faults.includes(fault)) differs("faults", request.faults, [fault])
  }
  if (call.body !== undefined) found.push(...bodyDifferences(call.body, request.body))
  return found
}

const bodyDifferences = (wanted: Schema.Json, body: string | null): ReadonlyArray<string> => {
  if (body === null) return ["body: there is none"]
  const parsed = Result.try((): unknown => JSON.parse(body))
  if (Result.isFailure(parsed)) return ["body: no JSON, or too long for the journal"]
  return within(wanted, parsed.success, "body")
}

/** The places where `given` lacks what `wanted` has. What it has besides does not matter. */
const within = (wanted: unknown, given: unknown, path: string): ReadonlyArray<string> => {
  if (Predicate.isObject(wanted) && Predicate.isObject(given)) {
    return Object.entries(wanted).flatMap(([name, value]) => within(value, given[name], `${path}.${name}`))
  }
  if (Array.isArray(wanted) && Array.isArray(given) && wanted.length === given.length) {
    return wanted.flatMap((value, index) => within(value, given[index], `${path}.${index}`))
  }
  return JSON.stringify(wanted) === JSON.stringify(given) ? [] : [`${path}: ${show(given)}, not ${show(wanted)}`]
}

const show = (value: unknown): string => JSON.stringify(value) ?? "absent"
