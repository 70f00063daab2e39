/**
 * One request and its reply on their way through the steps of `app.ts`. Each step finds here what the steps before it have
 * found out, and notes what the steps around it need.
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
  /** The world the request belongs to. `bySession` when cookies stood in for the token. */
  | { readonly _tag: "Known"; readonly world: World.World; readonly bySession: boolean }
  /** Something is missing or wrong, named by where it belongs. The world is the one of the good credential. */
  | { readonly _tag: "Unknown"; readonly errors: FieldErrors; readonly world: World.World | undefined }
  /** Key and token are good but belong to different accounts. The world is the one of the key. */
  | { readonly _tag: "Mixed"; readonly world: World.World }

export interface Exchange {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly identity: Identity
  /** The world that the request names, or else the main one. */
  readonly world: World.World
  /** When the request came, in milliseconds of the world's time. */
  readonly arrivedAt: number
  /** Real time in milliseconds since the epoch, from the server's `Clock`. */
  readonly realMillis: () => number
  /** The allowance the request spends. */
  allowance: Allowance
  /** The answer of a fault in place of the endpoint. */
  answerInstead?: () => Reply | undefined
  /** Headers that the endpoint gives the reply. */
  headers?: Readonly<Record<string, string>>
  /** The body, once it has been read. */
  body?: Uint8Array
  /** How faults deliver the reply; absent where none fired. */
  delivery?: FaultyDelivery
}

/** How the reply of a request is delivered at which faults fired. */
interface FaultyDelivery {
  /** The faults that fired, by name. */
  readonly faults: ReadonlyArray<string>
  /** Whether the request got as far as having a reply. */
  readonly isAnswered: boolean
  /** How much real time the reply waits. */
  readonly delayMillis: number
  readonly wireFault: WireFault | undefined
}

/** Answers an exchange. It never fails: what goes wrong is a reply. */
export type Handler = (
  exchange: Exchange
) => Effect.Effect<Reply, never, HttpServerRequest.HttpServerRequest | Scope.Scope>

/**
 * One step of the way: it answers by itself, or asks the next and may change the answer. Steps use `mapEager`, because on the
 * fast path the answer is there at once.
 */
export type Step = (next: Handler) => Handler

/** The exchange of the request that an endpoint answers. Set by `app.ts`. */
export const CurrentExchange = Context.Reference<Exchange | undefined>("@berthkit/server/http/CurrentExchange", {
  defaultValue: () => undefined
})

/** The exchange of an endpoint behind `Authorization`, which lets known callers through and no others. */
const knownExchange = Effect.map(CurrentExchange, (exchange) => {
  if (exchange?.identity._tag !== "Known") throw new Error("An endpoint was reached without authorization")
  return exchange
})

/** The caller's world and its present instant. */
export const callersWorld = Effect.map(knownExchange, ({ realMillis, world }) => ({
  world,
  now: World.enter(world, realMillis())
}))

/** The JSON body of the request. The journal gets its bytes. */
export const callersJson = Effect.flatMap(knownExchange, (exchange) =>
  readJson(exchange.request, (bytes) => void (exchange.body = bytes))
)

/** Adds a header to the reply of an endpoint. */
export const withHeader = (name: string, value: string) =>
  Effect.map(knownExchange, (exchange) => {
    exchange.headers = { ...exchange.headers, [name]: value }
  })
