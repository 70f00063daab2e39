/**
 * Reads the body of a control request against its schema. Every field at fault is named at once, one that nobody knows
 * included, and then nothing is changed.
 */
import { fail, type Failure } from "@berth/core/api/Envelope"
import { Effect, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { sentenceOf } from "../http/failures.ts"
import { readJson } from "../transport/readJson.ts"
import { fieldErrors } from "../transport/fields.ts"

/** A reader of bodies. Where `whenEmpty` is given it stands for a body that is not there. */
export const readBody = <A, I>(schema: Schema.Codec<A, I>, whenEmpty?: unknown) => {
  const decode = Schema.decodeUnknownEffect(schema, { errors: "all", onExcessProperty: "error" })
  return (
    request: HttpServerRequest.HttpServerRequest
  ): Effect.Effect<A, Failure<400> | Failure<413> | Failure<415> | Failure<422>> =>
    Effect.flatMap(readJson(request, whenEmpty), (body) =>
      Effect.mapError(decode(body), ({ issue }) => {
        const errors = fieldErrors(issue, "whole")
        return fail(422, sentenceOf(errors), errors)
      })
    )
}
