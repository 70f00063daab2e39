/**
 * Lets a request through to its endpoint only with good credentials (A4 to A6).
 */
import { Authorization } from "@berth/core/api/Authorization"
import { CommitmentsGroup } from "@berth/core/api/CommitmentsGroup"
import { fail, type Failure, type FieldErrors } from "@berth/core/api/Envelope"
import { Effect, Layer, type Types } from "effect"
import type { Identity } from "./credentials.ts"
import { CurrentExchange, type Reply } from "./Exchange.ts"

const unauthorized = (errors: FieldErrors) => fail(401, "The API key or the access token is missing or wrong.", errors)

/** Why the caller may not use an endpoint; `undefined` when it may. */
const objection = (identity: Identity, group: string): Failure<401> | Failure<403> | undefined => {
  if (identity._tag === "Unknown") return unauthorized(identity.errors)
  if (identity._tag === "Mixed") return fail(403, "The API key and the access token are of different accounts.")
  // Cookies stand in for the token on the commitment endpoint only (A6).
  return identity.bySession && group !== CommitmentsGroup.identifier
    ? unauthorized({ authorization: ["This endpoint takes the access token, not cookies."] })
    : undefined
}

export const layer: Layer.Layer<Authorization> = Layer.succeed(Authorization)((endpoint, { group }) =>
  Effect.flatMap(CurrentExchange, (exchange): Effect.Effect<Reply, Types.unhandled | Failure<401> | Failure<403>> => {
    const failure = objection(exchange?.identity ?? { _tag: "Unknown", errors: {}, world: undefined }, group.identifier)
    return failure === undefined ? endpoint : Effect.fail(failure)
  })
)
