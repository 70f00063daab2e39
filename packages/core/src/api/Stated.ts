/**
 * What the OpenAPI description states besides the schemas: where each statement comes from, so that a guess is not taken for a fact, in
 * the words of the assumptions; and constraints that the schemas do not check. The service checks those of requests itself, with a
 * sentence of its own; in replies the client reads every deviation.
 */
import { type JsonSchema, Schema } from "effect"

/** Stated by the service's own documentation, in the given part of the interface description. */
export const documented = (part: string, text: string) => ({
  description: `${text} (documented: interface.md §${part})`
})

/** Seen in public clients of services of this family. */
export const observed = (assumption: number, text: string) => ({
  description: `${text} (observed: A${assumption})`
})

/** Not documented; Berth's choice. */
export const chosen = (assumption: number, text: string) => ({ description: `${text} (chosen: A${assumption})` })

/** Adds `constraint` to the JSON Schema of a field. It refuses no value. */
export const stated = <A>(constraint: JsonSchema.JsonSchema) =>
  Schema.makeFilter<A>(() => true, { toJsonSchema: () => constraint })

/** A whole number, stated to be at least `minimum`. */
export const wholeNumber = (minimum: number) => Schema.Int.check(stated({ minimum }))

/** A text, stated to have this form. */
export const text = (pattern: RegExp) => Schema.String.check(stated({ pattern: pattern.source }))

/** A text, stated to be one of these. */
export const oneOf = (values: ReadonlyArray<string>) => Schema.String.check(stated({ enum: values }))
