/**
 * What is told and not yet written: the way from the diff to a sink. It takes everything, so that an observation is
 * never half told; who polls waits for `room` first, so that a slow reader slows the polling and loses nothing.
 */
import { Effect, Latch, Queue } from "effect"
import type { Cause } from "effect"
import type { Event } from "../events/Event.ts"

/** With this many events unread nothing more is asked of the service. */
const roomLimit = 1000

export interface EventLog {
  readonly tell: (events: ReadonlyArray<Event>) => void
  /** Waits while too much is unread. */
  readonly room: Effect.Effect<void>
  /** Everything that is unread, at least one event. Done after `end`, once all is read. */
  readonly take: Effect.Effect<ReadonlyArray<Event>, Cause.Done>
  /** Nothing more will be told. */
  readonly end: Effect.Effect<void>
}

export const makeEventLog: Effect.Effect<EventLog> = Effect.gen(function* () {
  const queue = yield* Queue.unbounded<Event, Cause.Done>()
  const hasRoom = yield* Latch.make(true)
  return {
    tell: (events) => {
      Queue.offerAllUnsafe(queue, events)
      if (Queue.sizeUnsafe(queue) >= roomLimit) hasRoom.closeUnsafe()
    },
    room: hasRoom.await,
    take: Effect.tap(Queue.takeAll(queue), () => hasRoom.open),
    end: Effect.asVoid(Queue.end(queue))
  }
})
