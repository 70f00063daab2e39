/**
 * Checks a JSON body against its schema and reports every wrong field at once (A4), each with one sentence. Bodies of 1000 values or more
 * get only the first error. In an optional field `null` counts as absent, because many clients send `null` for no value.
 */
import type { FieldErrors } from "@berthkit/core/api/Envelope"
import { Predicate, Result, Schema, SchemaIssue } from "effect"

/** The value if every field is valid, otherwise `null`; the wrong fields; and the object as received. */
export interface FieldsRead<A> {
  readonly fields: A | null
  readonly errors: FieldErrors
  readonly raw: Readonly<Record<string, unknown>>
}

/** A reader for the bodies of one schema. */
export const readFields = <S extends Schema.Struct<Schema.Struct.Fields> & { readonly DecodingServices: never }>(
  schema: S
): ((body: unknown) => FieldsRead<S["Type"]>) => {
  const decode = boundedDecoder(schema)
  const required = new Set(
    Object.entries(schema.fields).flatMap(([name, field]) => (field.ast.context?.isOptional === true ? [] : [name]))
  )
  return (body) => {
    if (!Predicate.isObject(body))
      return { fields: null, errors: { detail: ["The body must be a JSON object."] }, raw: {} }
    const raw = Object.fromEntries(Object.entries(body).filter(([name, value]) => value !== null || required.has(name)))
    const decoded = decode(raw)
    return Result.isSuccess(decoded)
      ? { fields: decoded.success as S["Type"], errors: {}, raw }
      : { fields: null, errors: fieldErrors(decoded.failure.issue), raw }
  }
}

/** Plain words for the types of a schema. `undefined` is omitted, because an absent field is not a type error. */
const typeWords: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  null: "null"
}

/** Matches a type, a literal, or an object, which has its name in the code or its fields. */
const alternative = /[a-z]+|"[^"]*"|[A-Z][A-Za-z]*|\{[^}]*\}/

const alternatives = new RegExp(`^Expected ((?:${alternative.source})(?: \\| (?:${alternative.source}))*)(?:, .*)?$`)

/** Rewrites `Expected array | "all" | undefined` in plain words; other sentences stay unchanged. */
const plainly = (sentence: string): string => {
  const given = alternatives.exec(sentence)?.[1]?.split(" | ") ?? []
  const words = given
    .filter((one) => one !== "undefined")
    .map((one) => (one.startsWith('"') ? one : /^[A-Z{]/.test(one) ? typeWords["object"] : typeWords[one]))
  const last = words.at(-1)
  if (last === undefined || words.includes(undefined)) return sentence
  const others = [...new Set(words)].filter((word) => word !== last)
  return `Expected ${others.length === 0 ? last : `${others.join(", ")} or ${last}`}`
}

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) =>
    issue._tag === "MissingKey"
      ? (issue.annotations?.messageMissingKey ?? "This field is required")
      : issue._tag === "UnexpectedKey"
        ? "There is no such field"
        : SchemaIssue.defaultLeafHook(issue)
})

/**
 * The sentences about an issue, by field. A field is the first name of its path or, with `whole`, the full path, such as
 * `rateLimit.limit`.
 */
export const fieldErrors = (issue: SchemaIssue.Issue, by: "first" | "whole" = "first"): FieldErrors => {
  // A Map, because a field may be called `constructor`.
  const errors = new Map<string, Array<string>>()
  for (const { message, path } of format(issue).issues) {
    const named = path === undefined || path.length === 0 ? ["detail"] : by === "first" ? path.slice(0, 1) : path
    const field = named.map(String).join(".")
    const sentences = errors.get(field) ?? []
    const sentence = `${plainly(message)}.`
    if (!sentences.includes(sentence)) errors.set(field, [...sentences, sentence])
  }
  return Object.fromEntries(errors)
}

/** Reporting all wrong fields among this many values takes about 50 ms. */
const manyValues = 1000

/** Decodes and reports all errors, or only the first error in a value of `manyValues` values or more. */
const boundedDecoder = <S extends Schema.Constraint & { readonly DecodingServices: never }>(
  schema: S,
  options: { readonly onExcessProperty?: "error" } = {}
): ((value: unknown) => Result.Result<S["Type"], Schema.SchemaError>) => {
  const decodeAll = Schema.decodeUnknownResult(schema, { ...options, errors: "all" })
  const decodeFirst = Schema.decodeUnknownResult(schema, { ...options, errors: "first" })
  return (value) => (countValues(value, manyValues) < manyValues ? decodeAll : decodeFirst)(value)
}

/** Counts a value and its nested values, up to `max`. */
const countValues = (value: unknown, max: number): number => {
  if (typeof value !== "object" || value === null) return 1
  let count = 1
  for (const part of Object.values(value)) {
    if (count >= max) break
    count += countValues(part, max - count)
  }
  return count
}

/**
 * A reader that rejects unknown fields. It reports every wrong field by its full path, or only the first in a value of 1000 values or more.
 */
export const strictReader = <A, I>(schema: Schema.Codec<A, I>): ((value: unknown) => Result.Result<A, FieldErrors>) => {
  const decode = boundedDecoder(schema, { onExcessProperty: "error" })
  return (value) => Result.mapError(decode(value), ({ issue }) => fieldErrors(issue, "whole"))
}
