/**
 * One request and its reply on their way through the steps of `app.ts`. A step reads here what earlier steps found out, and
 * records what the outer steps need.
 */
import type { FieldErrors } from "@berthkit/core/api/Envelope"
import { Context, Effect, type Scope } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { readJson } from "../transport/readJson.ts"
import type { WireFault } from "../transport/WireFault.ts"
import type { Allowance } from "../world/allowance.ts"
import * as World from "../world/World.ts"

/** The reply to a request. */
export type Reply = HttpServerResponse.HttpServerResponse

/** The caller of a request. */
export type Identity =
  /** The world to which the request belongs. `bySession` says whether cookies replaced the token. */
  | { readonly _tag: "Known"; readonly world: World.World; readonly bySession: boolean }
  /** A credential is missing or wrong, and `errors` says which one. If one credential is good, the world is that credential's. */
  | { readonly _tag: "Unknown"; readonly errors: FieldErrors; readonly world: World.World | undefined }
  /** Key and token are good but belong to different accounts. The world is the key's. */
  | { readonly _tag: "Mixed"; readonly world: World.World }

export interface Exchange {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly identity: Identity
  /** The world that the request names, otherwise the main world. */
  readonly world: World.World
  /** When the request arrived, in milliseconds of the world's time. */
  readonly arrivedAt: number
  /** Real time in milliseconds since the epoch, from the server's `Clock`. */
  readonly realMillis: () => number
  /** The allowance that the request spends. */
  allowance: Allowance
  /** Returns a fault's answer instead of the endpoint's, if a fault has one. */
  answerInstead?: () => Reply | undefined
  /** Headers that the endpoint adds to the reply. */
  headers?: Readonly<Record<string, string>>
  /** The body, once it has been read. */
  body?: Uint8Array
  /** How faults deliver the reply; absent if no fault fired. */
  delivery?: FaultyDelivery
}

/** How a reply is delivered after faults have fired. */
interface FaultyDelivery {
  /** The faults that fired, by name. */
  readonly faults: ReadonlyArray<string>
  /** Whether the request got a reply at all. */
  readonly isAnswered: boolean
  /** Delay of the reply in real milliseconds. */
  readonly delayMillis: number
  readonly wireFault: WireFault | undefined
}

/** Answers an exchange. It never fails: every problem becomes a reply. */
export type Handler = (
  exchange: Exchange
) => Effect.Effect<Reply, never, HttpServerRequest.HttpServerRequest | Scope.Scope>

/**
 * One step on the way: it either replies itself, or calls the next step and may change that step's reply. Steps use
 * `mapEager`, because the fast path replies without suspending.
 */
export type Step = (next: Handler) => Handler

/** The exchange that an endpoint answers. `app.ts` sets it. */
export const CurrentExchange = Context.Reference<Exchange | undefined>("@berthkit/server/http/CurrentExchange", {
  defaultValue: () => undefined
})

/** The exchange of an endpoint. `Authorization` runs first and admits only known callers. */
const knownExchange = Effect.map(CurrentExchange, (exchange) => {
  if (exchange?.identity._tag !== "Known") throw new Error("An endpoint was reached without authorization")
  return exchange
})

/** The caller's world and its current instant. */
export const callersWorld = Effect.map(knownExchange, ({ realMillis, world }) => ({
  world,
  now: World.enter(world, realMillis())
}))

/** The JSON body of the request. Its bytes are kept for the journal. */
export const callersJson = Effect.flatMap(knownExchange, (exchange) =>
  readJson(exchange.request, (bytes) => void (exchange.body = bytes))
)

/** Adds a header to the reply of an endpoint. */
export const withHeader = (name: string, value: string) =>
  Effect.map(knownExchange, (exchange) => {
    exchange.headers = { ...exchange.headers, [name]: value }
  })
