/** Compares a journal with the expected calls. For each missing call it shows the nearest requests and their differences. */
import { Effect, Order, Schema } from "effect"
import { differences, readRequest, type Request, show } from "./differences.ts"
import { callKey, type Expectation, ExpectedCall, patternCostOf, sumOf, timesOf } from "./ExpectedCall.ts"
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

/**
 * Maximum number of near misses of a mismatch, of differences of a near miss (`maxDifferences`), and of mismatches that get
 * near misses (`maxExplained`). A reader needs no more.
 */
const maxNearMisses = 3
const maxDifferences = 10
const maxExplained = 20

/** Number of compared characters after which the server gets a chance to answer other requests. */
const maxAtOnce = 8_000

/** Maximum number of steps for all patterns and all requests. They take about a second. */
const maxPatternSteps = 200_000_000

/** The sentence that refuses a comparison if its many patterns and requests would take too long. */
const tooMuch = (calls: number, requests: number): string =>
  `The patterns of ${calls} calls and the texts of ${requests} requests are too long to be compared: expect fewer calls ` +
  "with patterns at a time, or forget the journal at the start of the test, with DELETE …/requests."

/**
 * Compares entries of a journal with the expectation. `entries` may be lazy. `dropped` is the number of earlier requests
 * that the journal no longer keeps.
 */
export const verify = Effect.fnUntraced(function* (
  entries: Iterable<JournalEntry>,
  { expected, inOrder = false, noOthers = false }: Expectation,
  dropped = 0
) {
  const requests: Array<Request> = []
  const areHeadersCompared = expected.some(({ headers }) => headers !== undefined)
  let read = 0
  for (const entry of entries) {
    if (entry.change !== undefined) continue
    const request = readRequest(entry, areHeadersCompared)
    requests.push(request)
    read += request.size
    if (read < maxAtOnce) continue
    read = 0
    yield* Effect.yieldNow
  }
  const patternSize = requests.reduce((sum, request) => sum + request.patternSize, 0)
  const patternSteps = patternSize * expected.reduce((sum, call) => sum + patternCostOf(call), 0)
  if (patternSteps > maxPatternSteps) return yield* Effect.fail(tooMuch(expected.length, requests.length))
  const explained = new Set<Request>()
  const mismatches: Array<Mismatch> = []
  // The requests of each call that came as often as expected. Calls that describe the same requests are counted together.
  const met = new Map<ExpectedCall, ReadonlyArray<Request>>()
  let isUnknown = dropped > 0 && noOthers
  for (const calls of Map.groupBy(expected, callKey).values()) {
    const [call] = calls as [ExpectedCall]
    const times = sumOf(calls.map(timesOf))
    const found: Array<Request> = []
    yield* eachInTurns(requests, 1 + patternCostOf(call), (request) => {
      if (differences(call, request).next().done) found.push(request)
    })
    for (const request of found) explained.add(request)
    if (found.length >= times.min && found.length <= times.max) {
      for (const call of calls) met.set(call, found)
      isUnknown ||= dropped > 0 && Number.isFinite(times.max)
      continue
    }
    const isExplained = found.length < times.min && mismatches.length < maxExplained
    const nearMisses = isExplained ? yield* nearest(call, requests) : []
    mismatches.push({ expected: call, wanted: times.wanted, found: found.length, nearMisses })
  }
  if (inOrder) yield* checkOrder(expected, met, mismatches)
  const others = noOthers ? requests.filter((request) => !explained.has(request)).map(({ entry }) => entry) : []
  const ok = mismatches.length === 0 && others.length === 0 && !isUnknown
  return {
    ok,
    message: ok ? "Every expected call was made." : explain(mismatches, others, dropped),
    mismatches,
    others
  }
})

/** Runs a function on each request. In between, it lets the server answer other requests. */
const eachInTurns = Effect.fnUntraced(function* (
  requests: ReadonlyArray<Request>,
  cost: number,
  use: (request: Request) => void
) {
  let done = 0
  for (const request of requests) {
    use(request)
    done += request.size * cost
    if (done < maxAtOnce) continue
    done = 0
    yield* Effect.yieldNow
  }
  yield* Effect.yieldNow
})

/** Adds a mismatch for each call that came, but not in the expected order. */
const checkOrder = Effect.fnUntraced(function* (
  expected: ReadonlyArray<ExpectedCall>,
  met: ReadonlyMap<ExpectedCall, ReadonlyArray<Request>>,
  mismatches: Array<Mismatch>
) {
  // The number of the last request that has matched so far.
  let reached = 0
  for (const call of expected) {
    const found = met.get(call)
    const { min, wanted } = timesOf(call)
    if (found === undefined || min === 0) continue
    yield* Effect.yieldNow
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
})

/** The number of fields in which a request and its reply differ from a call. */
const distanceOf = (call: ExpectedCall, request: Request) => {
  let [asked, answered] = [0, 0]
  for (const { fields, isAnswer } of differences(call, request)) {
    if (isAnswer) answered += fields
    else asked += fields
  }
  return { request, asked, answered }
}

/**
 * Sorts by the number of differing fields: fields of the request count first. On a tie, requests that no operation serves come first,
 * because their path may be mistyped.
 */
const byDistance = Order.combineAll<ReturnType<typeof distanceOf>>([
  Order.mapInput(Order.Number, ({ asked }) => asked),
  Order.mapInput(Order.Number, ({ answered }) => answered),
  Order.mapInput(Order.Boolean, ({ request }) => request.entry.operation !== null),
  Order.mapInput(Order.Number, ({ request }) => request.entry.seq)
])

/** The requests that differ least from a missing call, nearest first. */
const nearest = Effect.fnUntraced(function* (call: ExpectedCall, requests: ReadonlyArray<Request>) {
  const compared: Array<ReturnType<typeof distanceOf>> = []
  yield* eachInTurns(requests, 1 + patternCostOf(call), (request) => compared.push(distanceOf(call, request)))
  const missed = compared.filter(({ answered, asked }) => asked + answered > 0).sort(byDistance)
  return missed
    .filter(({ asked }) => asked === missed[0]!.asked)
    .slice(0, maxNearMisses)
    .map(({ request }) => ({
      request: request.entry,
      differs: Array.from(differences(call, request).take(maxDifferences), ({ sentence }) => sentence())
    }))
})

const maxOthersShown = 10

const explain = (mismatches: ReadonlyArray<Mismatch>, others: ReadonlyArray<JournalEntry>, dropped: number): string => {
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
  if (others.length > maxOthersShown) lines.push(`${others.length - maxOthersShown} more unexpected requests.`)
  if (dropped > 0) {
    lines.push(
      `${dropped} older request${dropped === 1 ? " is" : "s are"} no longer kept, so it is unknown what ` +
        "they were: forget the journal at the start of the test, with DELETE …/requests."
    )
  }
  return lines.join("\n")
}

const describeCall = ({ body, faults, headers, method, operation, path, query, status }: ExpectedCall): string => {
  const what = [method, path ?? operation].filter((part) => part !== undefined).join(" ")
  // Nothing is escaped, because the values are patterns.
  const search = Object.entries(query ?? {}).map(([name, pattern]) => `${name}=${pattern}`)
  return [
    what === "" ? "any request" : what,
    ...(search.length === 0 ? [] : [`with query ${search.join("&")}`]),
    ...Object.entries(headers ?? {}).map(([name, pattern]) => `with header ${name}: ${pattern}`),
    ...(body === undefined ? [] : [`with body ${show(body)}`]),
    ...(status === undefined ? [] : [`with ${status === null ? "no reply" : `status ${status}`}`]),
    ...(faults === undefined ? [] : [`with faults ${faults.join(", ")}`])
  ].join(" ")
}

const describeRequest = ({ method, path, query, seq, status }: JournalEntry): string => {
  const search = new URLSearchParams(query).toString()
  return `request ${seq}, ${method} ${path}${search === "" ? "" : `?${search}`} → ${status ?? "no reply"}`
}
