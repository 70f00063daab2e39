/**
 * The calls that a test expects in a journal: which calls, how often each of them, whether they must come in this order, and whether
 * there may be other calls.
 */
import { METHODS } from "node:http"
import { Predicate, Schema } from "effect"
import { operations } from "@berthkit/profile/operations"
import { maxPatternLength, patternCost } from "../lifecycle/pattern.ts"
import { isSecretName } from "@berthkit/core/domain/secretName"

const Times = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))

/** Maximum number of names in one call: more than any request has, but few enough to compare with a whole journal. */
const maxNames = 50
const maxBodyValues = 200

/** Maximum number of characters in the names and strings of an expected body: twice as many as a journal keeps of a body. */
const maxBodyLength = 4096

/** The method of a request line, in upper or lower case. */
export const Method = Schema.String.check(
  Schema.makeFilter((text) => METHODS.includes(text.toUpperCase()) || "Expected an HTTP method")
)

/**
 * The number of values in a body, and the number of characters in its names and strings. Counting stops above the limit on
 * values.
 */
const sizeOf = (body: Schema.Json) => {
  let [values, characters] = [0, 0]
  JSON.stringify(body, function (this: unknown, name: string, value: unknown) {
    values += 1
    characters += (Array.isArray(this) ? 0 : name.length) + (typeof value === "string" ? value.length : 0)
    return values > maxBodyValues ? undefined : value
  })
  return { values, characters }
}

/** A pattern: `*` matches any text, `?` one character. */
const Pattern = Schema.String.check(Schema.isMaxLength(maxPatternLength))

const Name = Schema.String.check(Schema.isMaxLength(maxPatternLength))

const Query = Schema.Record(Schema.String, Pattern).check(
  Schema.isMaxProperties(maxNames),
  Schema.makeFilter(
    (query) =>
      Object.keys(query).every((name) => name.length <= maxPatternLength) ||
      `Expected names of at most ${maxPatternLength} characters`
  ),
  // Refuse parameters that carry a credential. The journal does not record them, so the expectation could never match, and a
  // request that has such a parameter would be reported as not having it.
  Schema.makeFilter((query) =>
    Object.keys(query)
      .filter(isSecretName)
      .map((name) => ({ path: [name], issue: "A journal contains no credentials: leave this out" }))
  )
)

const Headers = Schema.Record(Schema.String.check(Schema.isPattern(/^[\w!#$%&'*+.^`|~-]{1,1024}$/)), Pattern).check(
  Schema.isMaxProperties(maxNames)
)

export const ExpectedCall = Schema.Struct({
  method: Schema.optionalKey(Method),
  path: Schema.optionalKey(Pattern).annotate({ description: "`*` is any text, `?` one character." }),
  operation: Schema.optionalKey(Schema.Literals(operations)),
  query: Schema.optionalKey(Query).annotate({
    description: "Required parameters, each with a pattern; others may be present, too."
  }),
  headers: Schema.optionalKey(Headers).annotate({
    description:
      "Headers that must be there, by pattern; others may be, too. One that carries a credential is `<redacted>`."
  }),
  // Describe first and check last, because a check that has no JSON schema removes a description that comes after it.
  body: Schema.optionalKey(
    Schema.Json.annotate({
      description:
        "Fields that must be there with these values, at any depth; others may be, too. Lists must have the same length."
    }).check(
      Schema.makeFilter((body) => {
        const { characters, values } = sizeOf(body)
        if (values > maxBodyValues) return `Expected at most ${maxBodyValues} values`
        return characters <= maxBodyLength || `Expected at most ${maxBodyLength} characters in its names and texts`
      })
    )
  ),
  status: Schema.optionalKey(Schema.NullOr(Schema.Int)),
  faults: Schema.optionalKey(Schema.Array(Name).check(Schema.isMaxLength(maxNames))).annotate({
    description: "Faults that must have fired; others may have, too."
  }),
  count: Schema.optionalKey(Times).annotate({ description: "How often exactly; not together with the other two." }),
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
})
  .check(
    // An empty list of expected calls would always pass. It is refused because most likely somebody forgot to fill it.
    Schema.makeFilter(({ expected, noOthers = false }) =>
      expected.length > 0 || noOthers
        ? undefined
        : { path: ["expected"], issue: "Expected at least one call, or noOthers" }
    )
  )
  .annotate({ identifier: "Expectation" })
export type Expectation = typeof Expectation.Type

export interface Times {
  readonly min: number
  readonly max: number
  /** The expected number of calls, in words. */
  readonly wanted: string
}

const times = (min: number, max: number): Times => {
  if (min === max) return { min, max, wanted: `exactly ${min}` }
  const words = [...(min > 0 ? [`at least ${min}`] : []), ...(Number.isFinite(max) ? [`at most ${max}`] : [])]
  return { min, max, wanted: words.join(" and ") || "any number" }
}

/** How often a call is expected. */
export const timesOf = ({ atLeast, atMost, count }: ExpectedCall): Times =>
  count === undefined
    ? times(atLeast ?? (atMost === undefined ? 1 : 0), atMost ?? Number.POSITIVE_INFINITY)
    : times(count, count)

/** How often several calls are expected in total. */
export const sumOf = (all: ReadonlyArray<Times>): Times =>
  times(
    all.reduce((sum, { min }) => sum + min, 0),
    all.reduce((sum, { max }) => sum + max, 0)
  )

/**
 * The number of steps per character of a request that the most expensive pattern of this call takes. It is not the sum over
 * the patterns, because each text of a request is compared with only one of them.
 */
export const patternCostOf = ({ headers = {}, path = "", query = {} }: ExpectedCall): number =>
  [...Object.values(query), ...Object.values(headers)].reduce(
    (max, pattern) => Math.max(max, patternCost(pattern)),
    patternCost(path)
  )

/** A string that is equal for calls that expect the same requests, no matter how often. */
export const callKey = ({ method, ...call }: ExpectedCall): string =>
  JSON.stringify(
    { ...call, method: method?.toUpperCase(), atLeast: undefined, atMost: undefined, count: undefined },
    (_key, value: unknown) =>
      Predicate.isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value
  )
