/**
 * A request to a monitor at regular times, for as long as every account is swept: its absence is the alarm for a daemon that is
 * dead, or alive without a view of its nodes.
 */
import { Effect, type Redacted, Schedule } from "effect"
import type { Outcome } from "./Health.ts"
import type { Header } from "./SinkOptions.ts"
import { makeSender } from "./webhook/send.ts"

/** Monitors differ in what they take: those that are pushed to by a link take GET. */
export const heartbeatMethods = ["GET", "HEAD", "POST", "PUT"] as const

export interface HeartbeatOptions {
  readonly url: Redacted.Redacted<URL>
  readonly everyMillis: number
  readonly method: (typeof heartbeatMethods)[number]
  readonly headers: ReadonlyArray<Header>
}

/**
 * Beats until it is interrupted. `isWell` is asked before each beat; a beat that fails is not repeated, the next one comes soon.
 * `onBeat` gets how each one ended.
 */
export const heartbeat = Effect.fnUntraced(function* (
  { everyMillis, headers, method, url }: HeartbeatOptions,
  isWell: Effect.Effect<boolean>,
  onBeat: (outcome: Outcome) => Effect.Effect<void>
) {
  // The monitor is chosen by the operator, who may run it on this machine.
  const target = {
    _tag: "Webhook",
    url,
    secrets: [],
    isPrivateAllowed: true,
    format: "cloudevents",
    headers
  } as const
  const send = yield* makeSender(target, { method })
  const beat = Effect.flatMap(isWell, (well) => (well ? Effect.flatMap(send("heartbeat", "{}"), onBeat) : Effect.void))
  return yield* Effect.repeat(beat, Schedule.fixed(everyMillis))
})
