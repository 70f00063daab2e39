/**
 * Failures as responses. Every reply that is not a success has the envelope (assumption A2 in
 * docs/interface/assumptions.md).
 */
import { fail, type Failure, type FieldErrors } from "@berthkit/core/api/Envelope"
import type { HttpApiError } from "effect/http-api"
import { HttpServerResponse } from "effect/http"
import { fieldErrors } from "@berthkit/core/api/readFields"
import type { Problems, Refusal } from "../world/Refusal.ts"

/** A failure as a response, in the envelope. */
export const failureResponse = (
  status: number,
  message: string,
  options?: { readonly errors?: FieldErrors; readonly headers?: Readonly<Record<string, string>> }
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(fail(status, message, options?.errors), { status, headers: options?.headers })

interface StatusOf {
  readonly Invalid: 422
  readonly NodeUnknown: 404
  readonly NodeLocked: 409
  readonly NodeTerminating: 409
  readonly NameTaken: 409
  readonly TooManySavedImages: 409
}

type WireNames = Readonly<Record<string, string>>

/** Problems by the wire names of their fields. A field without an entry in `wireNames` has the same name on the wire. */
export const onWire = (problems: Problems, wireNames: WireNames): FieldErrors =>
  Object.fromEntries(Object.entries(problems).map(([field, sentences]) => [wireNames[field] ?? field, sentences]))

const describe = (refusal: Refusal, wireNames: WireNames): Failure => {
  switch (refusal._tag) {
    case "Invalid":
      return invalidFields(onWire(refusal.problems, wireNames))
    case "NodeUnknown":
      return fail(404, `There is no node ${refusal.id}.`)
    case "NodeLocked":
      return fail(409, `Node ${refusal.id} is locked and refuses user actions.`)
    case "NodeTerminating":
      return fail(409, `Node ${refusal.id} is being terminated.`)
    case "NameTaken":
      return fail(409, `The name is taken by node ${refusal.holder}.`, {
        name: [`The name is taken by node ${refusal.holder}.`]
      })
    case "TooManySavedImages":
      return fail(409, `The world has ${refusal.limit} saved images already.`)
  }
}

/** The failure of a well-formed request with invalid fields. */
export const invalidFields = (errors: FieldErrors): Failure<422> => fail(422, sentenceOf(errors), errors)

/** One sentence about all invalid fields. */
const sentenceOf = (errors: FieldErrors): string => {
  if (errors["detail"]?.[0] !== undefined) return errors["detail"][0]
  const fields = Object.keys(errors)
  return fields.length === 1 ? `The field ${fields[0]} is not valid.` : `The fields ${fields.join(", ")} are not valid.`
}

/** The failure of an endpoint if its world refuses the request. `wireNames` has the wire names of the input's fields. */
export const refusalFailure = <R extends Refusal>(refusal: R, wireNames: WireNames = {}) =>
  describe(refusal, wireNames) as { [T in R["_tag"]]: Failure<StatusOf[T]> }[R["_tag"]]

/**
 * The reply to an invalid path or query. If a path parameter is not an id, no node has that id: 404. If an invalid query
 * value is a whole number, it is out of bounds: 422. Any other value has the wrong type: 400 (A4).
 */
export const unreadableResponse = (
  error: HttpApiError.HttpApiSchemaError,
  query: Readonly<Record<string, string | ReadonlyArray<string>>>
): HttpServerResponse.HttpServerResponse | undefined => {
  if (error.kind === "Params") return failureResponse(404, "There is no such node: an id is a whole number from 1.")
  if (error.kind !== "Query") return undefined
  const errors = fieldErrors(error.cause.issue)
  const malformed = Object.entries(errors).filter(([name]) => !isWholeNumber(query[name]))
  if (malformed.length === 0) return failureResponse(422, sentenceOf(errors), { errors })
  return failureResponse(400, "A query parameter is of the wrong type.", {
    errors: Object.fromEntries(
      malformed.map(([name]) => [
        name,
        [Array.isArray(query[name]) ? "The parameter is given more than once." : "The value must be a whole number."]
      ])
    )
  })
}

const isWholeNumber = (value: string | ReadonlyArray<string> | undefined): boolean =>
  typeof value === "string" && /^-?\d+$/.test(value)
