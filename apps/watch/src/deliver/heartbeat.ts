/**
 * Sends a request to a monitor periodically, as long as every account is swept. If the requests stop, the monitor raises an
 * alarm: the daemon is dead, or runs without seeing its nodes.
 */
import { Effect, type Redacted, Schedule } from "effect"
import type { Outcome } from "./Health.ts"
import type { Header } from "./SinkOptions.ts"
import { makeSender } from "./webhook/send.ts"

/** The methods that monitors accept. They differ; many monitors just give a link to call, which takes GET. */
export const heartbeatMethods = ["GET", "HEAD", "POST", "PUT"] as const

export interface HeartbeatOptions {
  readonly url: Redacted.Redacted<URL>
  readonly everyMillis: number
  readonly method: (typeof heartbeatMethods)[number]
  readonly headers: ReadonlyArray<Header>
}

/**
 * Sends requests until interrupted. Before each one it runs `isWell`, and `onBeat` gets each outcome. A failed request is not
 * repeated, because the next one comes soon.
 */
export const heartbeat = Effect.fnUntraced(function* (
  { everyMillis, headers, method, url }: HeartbeatOptions,
  isWell: Effect.Effect<boolean>,
  onBeat: (outcome: Outcome) => Effect.Effect<void>
) {
  // Private addresses are allowed, because the operator chooses the monitor, and may run it on this machine.
  const target = {
    _tag: "Webhook",
    url,
    secrets: [],
    isPrivateAllowed: true,
    format: "cloudevents",
    key: null,
    headers,
    template: null
  } as const
  const send = yield* makeSender(target, { method })
  const beat = Effect.flatMap(isWell, (well) => (well ? Effect.flatMap(send("heartbeat", "{}"), onBeat) : Effect.void))
  return yield* Effect.repeat(beat, Schedule.fixed(everyMillis))
})
