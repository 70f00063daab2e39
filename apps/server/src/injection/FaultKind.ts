/**
 * What a kind of fault consists of: a name, what it does, its options, and what every fault has besides them: when it
 * fires and at which requests. A fault is plain JSON, the same in a request of the control plane, in a snapshot and in
 * memory.
 */
import { DateTime, Option, Schema } from "effect"
import { readDurationMillis } from "../lifecycle/durationText.ts"
import { type Operation, operations } from "../faults/operations.ts"

/** Where a fault shows: in the reply as HTTP, on the wire, or in what the reply says. */
export type Family = "http" | "wire" | "lies"

/** The largest count a trigger takes. */
const mostRequests = 1_000_000_000

export const count = (minimum: number, description: string, maximum = mostRequests) =>
  Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum, maximum }))).annotate({ description })

export const flag = (description: string) => Schema.optionalKey(Schema.Boolean).annotate({ description })

/** A text of at most 255 characters that fits into a header. */
export const text = (description: string) =>
  Schema.optionalKey(Schema.String.check(Schema.isPattern(/^[ -~]{1,255}$/))).annotate({ description })

export const choice = <const L extends ReadonlyArray<string>>(values: L, description: string) =>
  Schema.optionalKey(Schema.Literals(values)).annotate({ description: `${values.join(", ")}; ${description}` })

/** A duration as text, `10 seconds` or `10s`. */
const Duration = Schema.String.check(
  Schema.makeFilter((given) =>
    Option.isSome(readDurationMillis(given)) ? undefined : 'Expected a duration such as 10s or "10 seconds"'
  )
)

export const duration = (description: string) => Schema.optionalKey(Duration).annotate({ description })

/** The same, which may also be negative: `-5m`. */
export const signedDuration = (description: string) =>
  Schema.optionalKey(
    Schema.String.check(
      Schema.makeFilter((given) =>
        Option.isSome(readDurationMillis(given.replace(/^-/, ""))) ? undefined : "Expected a duration such as 5m or -5m"
      )
    )
  ).annotate({ description })

/** Milliseconds of a duration that a schema above has let through. */
export const millis = (given: string): number =>
  given.startsWith("-") ? -millis(given.slice(1)) : Option.getOrElse(readDurationMillis(given), () => 0)

/** An instant of the world, or a duration from the moment the fault is armed. */
const Moment = Schema.String.check(
  Schema.makeFilter((given) =>
    readMoment(given, 0) === undefined
      ? "Expected an instant such as 2026-01-01T00:00:10Z, or a duration such as 10s"
      : undefined
  )
)

const isoInstant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?Z$/

/** Milliseconds since the epoch, `undefined` for what is neither an instant nor a duration. */
export const readMoment = (given: string, armedAt: number): number | undefined => {
  if (!isoInstant.test(given)) return Option.getOrUndefined(Option.map(readDurationMillis(given), (ms) => armedAt + ms))
  return Option.getOrUndefined(Option.map(DateTime.make(given), DateTime.toEpochMillis))
}

/** When a fault fires. Without any of these it always does. Requests are counted in its scope and its time only. */
export const triggerFields = {
  after: count(0, "Lets the first N requests pass."),
  every: count(1, "Fires at every Nth request."),
  times: count(1, "Fires N times, then never again."),
  probability: Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))).annotate({
    description: "Fires at this share of the requests, decided by the world's seed."
  }),
  from: Schema.optionalKey(Moment).annotate({ description: "Not before this instant of the world." }),
  until: Schema.optionalKey(Moment).annotate({ description: "No more from this instant of the world on." })
}

/** At which requests a fault looks. Without any of these at all of them. */
export const Scope = Schema.Struct({
  operation: Schema.optionalKey(
    Schema.Union([Schema.Literals(operations), Schema.Array(Schema.Literals(operations))])
  ).annotate({ description: `One or several of ${operations.join(", ")}.` }),
  node: Schema.optionalKey(Schema.Union([Schema.Int, Schema.String])).annotate({
    description: "The id of a node, or its name, in which * and ? stand for others."
  }),
  header: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)).annotate({
    description: "Headers of the request by name, in whose values * and ? stand for others."
  })
})
export type Scope = typeof Scope.Type

const pascal = (name: string): string => name.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** `only` are the operations at which the fault can strike at all; without it, at every request. */
export const kind = <const Name extends string, const Options extends Schema.Struct.Fields>(
  family: Family,
  name: Name,
  summary: string,
  options: Options,
  only?: ReadonlyArray<Operation>
) => ({
  family,
  name,
  summary,
  options,
  only,
  schema: Schema.Struct({
    fault: Schema.Literal(name),
    ...options,
    ...triggerFields,
    scope: Schema.optionalKey(Scope)
  }).annotate({ identifier: `Fault${pascal(name)}`, description: summary })
})
