/**
 * What a test expects of a journal: calls, how often each, and whether in this order or no others.
 */
import { Schema } from "effect"
import { operations } from "../faults/operations.ts"

const Times = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))

/** `*` is any text, `?` one character. */
const Pattern = Schema.String.check(Schema.isMaxLength(1024))

export const ExpectedCall = Schema.Struct({
  method: Schema.optionalKey(Schema.String),
  path: Schema.optionalKey(Pattern).annotate({ description: "`*` is any text, `?` one character." }),
  operation: Schema.optionalKey(Schema.Literals(operations)),
  query: Schema.optionalKey(Schema.Record(Schema.String, Pattern)).annotate({
    description: "Parameters that are there, by pattern; others may be."
  }),
  body: Schema.optionalKey(Schema.Json).annotate({
    description: "Fields that are there, with these values, at any depth; others may be. Lists are of the same length."
  }),
  status: Schema.optionalKey(Schema.NullOr(Schema.Int)),
  faults: Schema.optionalKey(Schema.Array(Schema.String)).annotate({ description: "Faults that fired; others may." }),
  count: Schema.optionalKey(Times).annotate({ description: "How often, exactly; not together with the other two." }),
  atLeast: Schema.optionalKey(Times).annotate({ description: "How often, at least; 1 without any count." }),
  atMost: Schema.optionalKey(Times)
})
  .check(
    Schema.makeFilter(({ atLeast, atMost, count }) =>
      count !== undefined && (atLeast !== undefined || atMost !== undefined)
        ? "Expected either count, or atLeast and atMost"
        : (atLeast ?? 0) <= (atMost ?? Number.POSITIVE_INFINITY) || "Expected atLeast to be no more than atMost"
    )
  )
  .annotate({ identifier: "ExpectedCall" })
export type ExpectedCall = typeof ExpectedCall.Type

export const Expectation = Schema.Struct({
  expected: Schema.Array(ExpectedCall).check(Schema.isMaxLength(1000)),
  inOrder: Schema.optionalKey(Schema.Boolean).annotate({
    description: "Whether the expected calls come in this order; others may be between them."
  }),
  noOthers: Schema.optionalKey(Schema.Boolean).annotate({ description: "Whether any other call is a mismatch." })
}).annotate({ identifier: "Expectation" })
export type Expectation = typeof Expectation.Type

interface Times {
  readonly min: number
  readonly max: number
  /** How often, in words. */
  readonly wanted: string
}

/** How often a call is expected. */
export const timesOf = ({ atLeast, atMost, count }: ExpectedCall): Times => {
  if (count !== undefined) return { min: count, max: count, wanted: `exactly ${count}` }
  const min = atLeast ?? (atMost === undefined ? 1 : 0)
  const max = atMost ?? Number.POSITIVE_INFINITY
  const words = [...(min > 0 ? [`at least ${min}`] : []), ...(atMost === undefined ? [] : [`at most ${atMost}`])]
  return { min, max, wanted: words.join(" and ") || "any number" }
}
