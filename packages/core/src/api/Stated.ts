/**
 * Adds statements to the OpenAPI description that its schemas do not make. Some name the source of a fact (documented,
 * observed or chosen), because nobody should mistake a guess for a fact. Others state constraints that the schemas
 * leave unchecked: the service checks requests with its own messages, and the client accepts replies that deviate.
 */
import { type JsonSchema, Schema } from "effect"

/** A fact from the service's documentation, in the given part of the interface description. */
export const documented = (part: string, text: string) => ({
  description: `${text} (documented: interface.md §${part})`
})

/** A fact from public clients of similar services. */
export const observed = (assumption: number, text: string) => ({
  description: `${text} (observed: A${assumption})`
})

/** Undocumented; Berth's choice. */
export const chosen = (assumption: number, text: string) => ({ description: `${text} (chosen: A${assumption})` })

/** Adds `constraint` to a field's JSON Schema. The field still accepts every value. */
export const stated = <A>(constraint: JsonSchema.JsonSchema) =>
  Schema.makeFilter<A>(() => true, { toJsonSchema: () => constraint })

/** A whole number, described as at least `minimum`. */
export const wholeNumber = (minimum: number) => Schema.Int.check(stated({ minimum }))

/** A string, described as having this form. */
export const text = (pattern: RegExp) => Schema.String.check(stated({ pattern: pattern.source }))

/** A string, described as one of these. */
export const oneOf = (values: ReadonlyArray<string>) => Schema.String.check(stated({ enum: values }))
