/**
 * The events that are published and not yet written. It takes everything, so that an observation is never half published; the
 * poller waits for `room` first, so that a slow reader slows the polling and loses nothing.
 */
import { Effect, Latch, Queue } from "effect"
import type { Cause } from "effect"
import type { Event } from "../events/Event.ts"

/** With this many events unread no further request is sent. */
const maxUnread = 1000

export interface EventLog {
  readonly publish: (events: ReadonlyArray<Event>) => void
  /** Waits while too much is unread. */
  readonly room: Effect.Effect<void>
  /** All unread events, at least one. Done after `end`, once all are read. */
  readonly take: Effect.Effect<ReadonlyArray<Event>, Cause.Done>
  /** Nothing more will be published. */
  readonly end: Effect.Effect<void>
}

export const makeEventLog: Effect.Effect<EventLog> = Effect.gen(function* () {
  const queue = yield* Queue.unbounded<Event, Cause.Done>()
  const hasRoom = yield* Latch.make(true)
  return {
    publish: (events) => {
      Queue.offerAllUnsafe(queue, events)
      if (Queue.sizeUnsafe(queue) >= maxUnread) hasRoom.closeUnsafe()
    },
    room: hasRoom.await,
    take: Effect.tap(Queue.takeAll(queue), () => hasRoom.open),
    end: Effect.asVoid(Queue.end(queue))
  }
})
