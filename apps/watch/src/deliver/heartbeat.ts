/**
 * A periodic request to a monitor for as long as every account is swept. Its absence is the alarm for a daemon that is dead, or
 * runs without seeing its nodes.
 */
import { Effect, type Redacted, Schedule } from "effect"
import type { Outcome } from "./Health.ts"
import type { Header } from "./SinkOptions.ts"
import { makeSender } from "./webhook/send.ts"

/** Monitors differ: those that are pinged by a link take GET. */
export const heartbeatMethods = ["GET", "HEAD", "POST", "PUT"] as const

export interface HeartbeatOptions {
  readonly url: Redacted.Redacted<URL>
  readonly everyMillis: number
  readonly method: (typeof heartbeatMethods)[number]
  readonly headers: ReadonlyArray<Header>
}

/**
 * Beats until interrupted. `isWell` is called before each beat. A failed beat is not repeated, because the next one comes soon.
 * `onBeat` gets each outcome.
 */
export const heartbeat = Effect.fnUntraced(function* (
  { everyMillis, headers, method, url }: HeartbeatOptions,
  isWell: Effect.Effect<boolean>,
  onBeat: (outcome: Outcome) => Effect.Effect<void>
) {
  // The operator chooses the monitor, and may run it on this machine.
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
