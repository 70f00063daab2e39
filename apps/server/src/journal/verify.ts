/**
 * Compares a journal with the calls that were expected. A call that is missing is shown with the nearest requests, and with
 * their differences.
 */
import { Effect, Schema } from "effect"
import { differences, readRequest, type Request, show } from "./differences.ts"
import { type Expectation, ExpectedCall, timesOf } from "./ExpectedCall.ts"
import { JournalEntry } from "./JournalEntry.ts"

const NearMiss = Schema.Struct({ request: JournalEntry, differs: Schema.Array(Schema.String) })

const Mismatch = Schema.Struct({
  expected: ExpectedCall,
  wanted: Schema.String.annotate({ description: "How often, in words; with `inOrder` also after which request." }),
  found: Schema.Int,
  nearMisses: Schema.Array(NearMiss)
})
type Mismatch = typeof Mismatch.Type

export const Verdict = Schema.Struct({
  ok: Schema.Boolean,
  message: Schema.String.annotate({ description: "The same as text, for a test to print." }),
  mismatches: Schema.Array(Mismatch),
  others: Schema.Array(JournalEntry).annotate({ description: "With `noOthers`: calls that were not expected." })
}).annotate({ identifier: "Verdict" })
export type Verdict = typeof Verdict.Type

/** Near misses of a mismatch, differences of a near miss, and mismatches that have any. A reader needs no more. */
const maxNearMisses = 3
const maxDifferences = 10
const maxExplained = 20

export const verify = Effect.fnUntraced(function* (
  entries: ReadonlyArray<JournalEntry>,
  { expected, inOrder = false, noOthers = false }: Expectation
) {
  const requests = entries.map(readRequest)
  const explained = new Set<Request>()
  const mismatches: Array<Mismatch> = []
  // With `inOrder`: the last request of the expected calls so far.
  let reached = 0
  for (const [index, call] of expected.entries()) {
    // Between two calls the server answers other requests.
    if (index > 0) yield* Effect.yieldNow
    const { max, min, wanted } = timesOf(call)
    const found = requests.filter((request) => differences(call, request).next().done)
    for (const request of found) explained.add(request)
    const canExplain = mismatches.length < maxExplained
    if (found.length < min || found.length > max) {
      const nearMisses = found.length > max || !canExplain ? [] : nearest(call, requests)
      mismatches.push({ expected: call, wanted, found: found.length, nearMisses })
      continue
    }
    if (!inOrder || min === 0) continue
    const later = found.filter(({ entry }) => entry.seq > reached)
    const last = later[min - 1]
    if (last !== undefined) {
      reached = last.entry.seq
      continue
    }
    const tooEarly = found.filter(({ entry }) => entry.seq <= reached).slice(-maxNearMisses)
    mismatches.push({
      expected: call,
      wanted: `${wanted} after request ${reached}`,
      found: later.length,
      nearMisses: tooEarly.map(({ entry }) => ({
        request: entry,
        differs: [`request ${entry.seq} came too early, expected after request ${reached}`]
      }))
    })
  }
  const others = noOthers ? requests.filter((request) => !explained.has(request)).map(({ entry }) => entry) : []
  const ok = mismatches.length === 0 && others.length === 0
  return {
    ok,
    message: ok ? "Every expected call was made." : explain(mismatches, others, entries),
    mismatches,
    others
  }
})

/** A request that is so much further away than the nearest is another one altogether, and not shown beside it. */
const maxFurther = 1

/** The requests that a person would name when a call is missing, the nearest first. */
const nearest = (call: ExpectedCall, requests: ReadonlyArray<Request>): Mismatch["nearMisses"] => {
  const ranked = requests
    .map((request) => ({ request, weight: weigh(call, request) }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => a.weight - b.weight || a.request.entry.seq - b.request.entry.seq)
  const [first] = ranked
  return ranked
    .filter(({ weight }) => weight <= first!.weight + maxFurther)
    .slice(0, maxNearMisses)
    .map(({ request }) => ({
      request: request.entry,
      differs: Array.from(differences(call, request).take(maxDifferences), ({ sentence }) => sentence())
    }))
}

const weigh = (call: ExpectedCall, request: Request): number => {
  let total = 0
  for (const { weight } of differences(call, request)) total += weight()
  return total
}

const maxOthersShown = 10

const explain = (
  mismatches: ReadonlyArray<Mismatch>,
  others: ReadonlyArray<JournalEntry>,
  [first]: ReadonlyArray<JournalEntry>
): string => {
  const lines = mismatches
    .slice(0, maxExplained)
    .flatMap(({ expected, found, nearMisses, wanted }) => [
      `Expected ${describeCall(expected)}: ${wanted}, found ${found}.`,
      ...nearMisses.map(
        ({ differs, request }, index) =>
          `  ${index === 0 ? "Nearest" : "Then"} ${describeRequest(request)}: ${differs.join("; ")}.`
      )
    ])
  if (mismatches.length > maxExplained) lines.push(`${mismatches.length - maxExplained} further mismatches.`)
  for (const other of others.slice(0, maxOthersShown)) lines.push(`Not expected: ${describeRequest(other)}.`)
  if (others.length > maxOthersShown) lines.push(`${others.length - maxOthersShown} further requests, not expected.`)
  // One of them may be what is missing.
  if (first !== undefined && first.seq > 1) lines.push(`Requests up to number ${first.seq - 1} are no longer kept.`)
  return lines.join("\n")
}

const describeCall = ({ body, faults, method, operation, path, query, status }: ExpectedCall): string => {
  const what = [method, path ?? operation].filter((part) => part !== undefined).join(" ")
  const search = new URLSearchParams(query).toString()
  return [
    what === "" ? "any request" : what,
    ...(search === "" ? [] : [`with query ${search}`]),
    ...(body === undefined ? [] : [`with body ${show(body)}`]),
    ...(status === undefined ? [] : [`with ${status === null ? "no reply" : `status ${status}`}`]),
    ...(faults === undefined ? [] : [`with faults ${faults.join(", ")}`])
  ].join(" ")
}

const describeRequest = ({ method, path, query, seq, status }: JournalEntry): string => {
  const search = new URLSearchParams(query).toString()
  return `request ${seq}, ${method} ${path}${search === "" ? "" : `?${search}`} → ${status ?? "no reply"}`
}
