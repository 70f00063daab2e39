/**
 * The common parts of all faults: a name, a trigger (when the fault fires) and a scope (for which requests). A fault is plain JSON, and
 * looks the same in a request to the control plane, in a snapshot and in memory. `injection/` defines the faults and what each of them
 * does.
 */
import { Option, Schema } from "effect"
import { readDurationMillis, readInstantMillis } from "../lifecycle/timeText.ts"
import { maxNamePatternLength, maxPatternLength, patternCost } from "../lifecycle/pattern.ts"
import { operations } from "@berthkit/profile/operations"

/** Maximum number of armed faults in a world, because the mock compares each request with all of them. */
export const maxFaults = 100

/** Maximum of a count in a trigger. */
const maxRequests = 1_000_000_000

export const integer = (minimum: number, maximum: number, description: string) =>
  Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum, maximum }))).annotate({ description })

export const count = (minimum: number, description: string) => integer(minimum, maxRequests, description)

export const share = (description: string, maximum = 1) =>
  Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum }))).annotate({ description })

/** Maximum number of characters. Real instants and durations are much shorter. */
const maxMomentLength = 100

/** An instant of the world, or a duration that is counted from the moment at which the fault is armed. */
const Moment = Schema.String.check(
  Schema.makeFilter((given) =>
    given.length > maxMomentLength || readMoment(given, 0) === undefined
      ? "Expected an instant such as 2026-01-01T00:00:10Z, or a duration such as 10s"
      : undefined
  )
)

/** The moment in milliseconds since the epoch; `undefined` if the text is neither an instant nor a duration. */
export const readMoment = (given: string, armedAt: number): number | undefined =>
  readInstantMillis(given).pipe(
    Option.orElse(() => Option.map(readDurationMillis(given), (millis) => armedAt + millis)),
    Option.getOrUndefined
  )

/**
 * When a fault fires. Without any of these fields it always fires. The numbers count only requests in the fault's scope and
 * time.
 */
export const triggerFields = {
  after: count(0, "Lets the first N requests pass."),
  every: count(1, "Fires at every Nth request."),
  times: count(1, "Fires N times, then never again."),
  probability: share("Fires at this share of the requests, decided by the world's seed."),
  from: Schema.optionalKey(Moment).annotate({ description: "Not before this instant of the world." }),
  until: Schema.optionalKey(Moment).annotate({ description: "Until this instant of the world." })
}

/** Maximum number of headers in a scope. */
const maxHeaders = 32

// Describe first and check last, because a check that has no JSON schema removes a description that comes after it.
const HeaderPatterns = Schema.Record(Schema.String, Schema.String.check(Schema.isMaxLength(maxPatternLength)))
  .annotate({ description: "Headers of the request by name, each with a pattern of its value." })
  .check(
    Schema.isMaxProperties(maxHeaders),
    Schema.makeFilter(
      (patterns) =>
        new Set(Object.keys(patterns).map((name) => name.toLowerCase())).size === Object.keys(patterns).length ||
        "Expected each header once: the case of a name does not count"
    )
  )

/** The requests that a fault applies to. Without any of these fields it applies to all. */
export const Scope = Schema.Struct({
  operation: Schema.optionalKey(
    Schema.Union([
      Schema.Literals(operations),
      Schema.Array(Schema.Literals(operations)).check(Schema.isMaxLength(operations.length))
    ])
  ).annotate({ description: `One or several of ${operations.join(", ")}.` }),
  node: Schema.optionalKey(
    Schema.Union([Schema.Int, Schema.String.check(Schema.isMaxLength(maxNamePatternLength))])
  ).annotate({
    description: "The id of a node, or a pattern of its name: * is any text, ? one character."
  }),
  header: Schema.optionalKey(HeaderPatterns).annotate({
    description: "Headers of the request by name, each with a pattern of its value."
  })
})

/** When a fault fires, and at which requests. */
const Trigger = Schema.Struct({ ...triggerFields, scope: Schema.optionalKey(Scope) })

/** The fault, with the header names of its scope in lower case, like the header names of a request. */
export const withCanonicalHeaders = <F extends AnyFault>(fault: F): F => {
  const header = fault.scope?.header
  if (header === undefined) return fault
  const patterns = Object.entries(header).map(([name, pattern]) => [name.toLowerCase(), pattern])
  return { ...fault, scope: { ...fault.scope, header: Object.fromEntries(patterns) } }
}

/**
 * Maximum number of steps that the header patterns of all armed faults may cost per character of a header. For the longest
 * headers this makes 4 million steps, which take a few milliseconds.
 */
const maxHeaderPatternCost = 256

export const tooMuchToMatch =
  `Expected patterns of headers with at most ${maxHeaderPatternCost * 32} characters in all faults together, each counted in full ` +
  "32s, and those without * and ? not at all"

/** The index of the first fault whose header patterns, together with those before, cost too much; -1 if there is none. */
export const indexBeyondPatternCost = (faults: ReadonlyArray<AnyFault>): number => {
  let cost = 0
  return faults.findIndex(({ scope }) => {
    for (const pattern of Object.values(scope?.header ?? {})) cost += patternCost(pattern)
    return cost > maxHeaderPatternCost
  })
}

/** A fault of any kind, without the options of its kind. */
export interface AnyFault extends Schema.Schema.Type<typeof Trigger> {
  readonly fault: string
}
