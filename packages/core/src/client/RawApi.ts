/**
 * The service for arbitrary requests to the service's address, with the credentials, limits and errors of the typed calls.
 */
import { Context, Effect, Layer, Result } from "effect"
import { addressOf, decodedAddress } from "../api/rawAddress.ts"
import { prefix } from "../api/Routes.ts"
import type { RawReply } from "../api/Reply.ts"
import type { BerthError } from "../domain/BerthError.ts"
import { InvalidRequest } from "../domain/ErrorReason.ts"
import { Engine } from "./call/Engine.ts"
import type { CallOptions, Operation } from "./call/Operation.ts"
import { catalogueBounds } from "./Images.ts"
import { unsent } from "./options/OptionCheck.ts"
import { ChangeLog } from "./state/ChangeLog.ts"
import type { WireRequest } from "./transport/Transport.ts"

/** A request in the caller's form. */
export interface RawRequest {
  readonly method: WireRequest["method"]
  /** The path below `/myaccount/api/v1`, such as `/nodes/`, or with that prefix; without a query. */
  readonly path: string
  readonly query?: ReadonlyArray<readonly [name: string, value: string]> | undefined
  /** JSON text, sent unchanged. A GET or HEAD has none. */
  readonly body?: string | undefined
}

/** The method decides whether a request may be repeated, as in HTTP: a POST or PATCH may not. */
const rawRequest = ({ method, path }: RawRequest): Operation<unknown> => ({
  name: "raw",
  lane: "interactive",
  repeatable: method === "POST" || method === "PATCH" ? "once" : "idempotent",
  expectation: { emptyAllowed: true },
  ...(/(?:^|\/)images\/?$/.test(path) && { bounds: catalogueBounds }),
  decode: Result.succeed
})

const expected = {
  plain: `expected a path below ${prefix}, without a query or a fragment`,
  resolved: "expected a path without backslashes and control characters, and without . or .. as a part"
}

/**
 * Matches a part of a path that a client, a gateway or the service may resolve, such as `..`, and a character that one
 * of them may drop or take for a slash.
 */
const resolvable = /(?:^|\/)\s*\.\.?\s*(?:;[^/]*)?(?:\/|$)|[\\\p{Cc}]/u

/** Why a request cannot be sent; undefined if it can. */
const requestFault = ({ body, method, path }: RawRequest): InvalidRequest | undefined => {
  const refuse = (field: string, message: string) =>
    new InvalidRequest({ status: null, detail: `${field} is not valid`, fields: { [field]: [message] } })
  if (/[?#]/.test(path)) return refuse("path", expected.plain)
  if (resolvable.test(decodedAddress(path))) return refuse("path", expected.resolved)
  if (body !== undefined && (method === "GET" || method === "HEAD")) {
    return refuse("body", `expected no body, because a ${method} has none`)
  }
  return undefined
}

/** The result of a request: its last reply, and the failure with which it ended. `failure` is null after a success. */
export interface RawExchange {
  readonly reply: RawReply
  readonly failure: BerthError | null
}

/**
 * The service that sends any request with the credentials, limits and errors of the client. A commitment that a request buys is in the log
 * of changes only, like one of `Nodes.setCommitment`: `berth commitment set` and `berth apply` may buy the same period again, because they
 * check the purchases of `berth` alone.
 *
 * @example
 * ```ts
 * import { RawApi } from "@berthkit/core/client/RawApi"
 * import { Console, Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const api = yield* RawApi
 *   const { body, status } = yield* api.request({ method: "GET", path: "/nodes/", query: [["per_page", "1"]] })
 *   yield* Console.log(status, typeof body) // 200 string
 * })
 * ```
 */
export class RawApi extends Context.Service<
  RawApi,
  {
    /** Sends the request, and succeeds with the whole reply if that is a success. */
    readonly request: (request: RawRequest, options?: CallOptions) => Effect.Effect<RawReply, BerthError>
    /**
     * Like `request`, but also returns the reply of a failure. Fails only if the last attempt got no reply, or a reply
     * that is too long to read. The returned reply is not masked and may repeat the request with its credentials. The
     * reply in `failure` is masked.
     */
    readonly exchange: (request: RawRequest, options?: CallOptions) => Effect.Effect<RawExchange, BerthError>
  }
>()("@berthkit/core/client/RawApi") {
  static readonly layer = Layer.effect(
    RawApi,
    Effect.gen(function* () {
      const { call } = yield* Engine
      const { requested } = yield* ChangeLog
      const send = (
        raw: RawRequest,
        options: CallOptions | undefined,
        onAttemptReply?: Operation<unknown>["onAttemptReply"]
      ) =>
        Effect.suspend(() => {
          const operation = { ...rawRequest(raw), ...(onAttemptReply && { onAttemptReply }) }
          const fault = requestFault(raw)
          if (fault !== undefined) return unsent(operation.name)(Effect.fail(fault))
          const { body, method, path, query = [] } = raw
          const reply = call(operation, { method, path: addressOf(path), query, body }, options)
          return requested(
            raw,
            Effect.map(reply, ({ raw }) => raw)
          )
        })
      const request = (raw: RawRequest, options?: CallOptions) => send(raw, options)
      const exchange = (raw: RawRequest, options?: CallOptions) =>
        Effect.suspend(() => {
          let last: RawReply | undefined
          return send(raw, options, (reply) => (last = reply)).pipe(
            Effect.map((reply): RawExchange => ({ reply, failure: null })),
            Effect.catch((failure) =>
              last === undefined ? Effect.fail(failure) : Effect.succeed<RawExchange>({ reply: last, failure })
            )
          )
        })
      return RawApi.of({ request, exchange })
    })
  )
}
