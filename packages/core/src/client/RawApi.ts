/**
 * Any request below the service's address, with the same credentials, limits and errors as the typed calls: for what
 * the types do not cover yet.
 */
import { Context, Effect, Layer, Result } from "effect"
import { prefix } from "../api/Routes.ts"
import type { RawReply } from "../api/Reply.ts"
import type { BerthError } from "../domain/BerthError.ts"
import { Engine } from "./Engine.ts"
import type { CallOptions, Operation } from "./Operation.ts"
import type { WireRequest } from "./Transport.ts"

/** A request as the caller writes it. */
export interface RawRequest {
  readonly method: WireRequest["method"]
  /** Below `/myaccount/api/v1`, such as `/nodes/`; an address that repeats this beginning is taken as it is. */
  readonly path: string
  readonly query?: ReadonlyArray<readonly [name: string, value: string]> | undefined
  /** JSON text, sent as it is. */
  readonly body?: string | undefined
}

/** Whether a request may be repeated goes by its method, as HTTP has it: who knows what a POST does. */
const rawRequest = (method: RawRequest["method"]): Operation<unknown> => ({
  name: "raw",
  lane: "interactive",
  repeatable: method === "POST" || method === "PATCH" ? "create" : "idempotent",
  expectation: { emptyAllowed: true },
  decode: Result.succeed
})

const addressOf = (path: string) => {
  const absolute = path.startsWith("/") ? path : `/${path}`
  return absolute === prefix || absolute.startsWith(`${prefix}/`) ? absolute : `${prefix}${absolute}`
}

export class RawApi extends Context.Service<
  RawApi,
  {
    /** Sends the request; succeeds with the whole reply when it is a success. */
    readonly request: (request: RawRequest, options?: CallOptions) => Effect.Effect<RawReply, BerthError>
  }
>()("@berth/core/client/RawApi") {
  static readonly layer = Layer.effect(
    RawApi,
    Effect.gen(function* () {
      const { call } = yield* Engine
      const request = ({ body, method, path, query = [] }: RawRequest, options?: CallOptions) =>
        Effect.map(call(rawRequest(method), { method, path: addressOf(path), query, body }, options), ({ raw }) => raw)
      return RawApi.of({ request })
    })
  )
}
