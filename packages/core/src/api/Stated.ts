/**
 * Constraints that the OpenAPI description states and the schemas do not check. The service checks those of requests itself,
 * with a sentence of its own; in replies the client reads every deviation.
 */
import { type JsonSchema, Schema } from "effect"

/** Adds `constraint` to the JSON Schema of a field. It refuses no value. */
export const stated = <A>(constraint: JsonSchema.JsonSchema) =>
  Schema.makeFilter<A>(() => true, { toJsonSchema: () => constraint })

/** A whole number, stated to be at least `minimum`. */
export const wholeNumber = (minimum: number) => Schema.Int.check(stated({ minimum }))

/** A text, stated to have this form. */
export const text = (pattern: RegExp) => Schema.String.check(stated({ pattern: pattern.source }))

/** A text, stated to be one of these. */
export const oneOf = (values: ReadonlyArray<string>) => Schema.String.check(stated({ enum: values }))
