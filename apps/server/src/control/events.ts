/**
 * The endpoint of `EventsGroup`. A client that reads slowly misses the oldest of what waits for it.
 */
import { Effect, Queue, Stream } from "effect"
import * as Sse from "effect/encoding/Sse"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { Recorded } from "../journal/Journal.ts"
import type { EndedJournal, WorldJournal } from "../journal/Journals.ts"
import { showEntry } from "../journal/JournalEntry.ts"
import { noteHeld } from "../transport/held.ts"
import { ControlApi } from "./ControlApi.ts"
import { ControlledWorlds, namedWorld } from "./ControlledWorlds.ts"

/** How many events wait for a client that is slow; the oldest go first. */
const maxWaiting = 1000

/** How often a silent stream shows that it is open. */
const heartbeat = "15 seconds"

interface Event {
  /** Counts the events of the server, from 1. */
  readonly id: number
  readonly event: "request" | "world-ended"
  /** Made when it is sent: most events of a long journal wait, and some are never sent. */
  readonly data: () => object
  /** Whether the stream of one world has nothing more to wait for. */
  readonly isLast: boolean
}

const requestEvent = ({ account, id: world }: WorldJournal, recorded: Recorded): Event => ({
  id: recorded.event,
  event: "request",
  data: () => ({ world, ...showEntry(account, recorded) }),
  isLast: false
})

const endEvent = ({ ended, id: world }: EndedJournal): Event => ({
  id: ended.event,
  event: "world-ended",
  data: () => ({ world, reason: ended.reason }),
  isLast: true
})

/** What a journal has of a world since event `last`. */
const eventsSince = (last: number, kept: WorldJournal): ReadonlyArray<Event> =>
  kept.journal
    .entries()
    .filter(({ event }) => event > last)
    .map((recorded) => requestEvent(kept, recorded))

/** How many of the events a client missed are made at once; between them the server answers others. */
const chunkSize = 64

const utf8 = new TextEncoder()

const eventText = ({ data, event, id }: Event): Uint8Array =>
  utf8.encode(Sse.encoder.write({ _tag: "Event", event, id: String(id), data: JSON.stringify(data()) }))

/** Comes first, so that a client sees at once that the stream is open. */
const opening = utf8.encode(": requests\n\n")

export const layer = HttpApiBuilder.group(ControlApi, "events", (handlers) =>
  handlers.handle("watch", ({ headers, query, request }) =>
    Effect.gen(function* () {
      const { journals, realMillis, use, worlds } = yield* ControlledWorlds
      const only = query.world === undefined ? undefined : (yield* namedWorld(query.world)).world
      noteHeld(request.source)
      // Not a number without the header, or with one that is none: then nothing was missed.
      const last = Number(headers["last-event-id"] ?? Number.NaN)
      const stream = Effect.gen(function* () {
        const queue = yield* Queue.sliding<Event>(maxWaiting)
        const kept = only === undefined ? worlds.list().map((world) => journals.of(world)) : [journals.of(only)]
        const ended = only === undefined ? journals.allEnded() : []
        const missed = Number.isNaN(last)
          ? []
          : [
              ...[...kept, ...ended].flatMap((journal) => eventsSince(last, journal)),
              ...ended.map(endEvent).filter(({ id }) => id > last)
            ].sort((a, b) => a.id - b.id)
        // From here on nothing is missed: no other fiber runs between reading the journals and this.
        yield* Effect.acquireRelease(
          Effect.sync(() => {
            if (only !== undefined) use.watch(only)
            return journals.listen({
              onRequest: (world, recorded) => {
                if (only !== undefined && only !== world) return
                Queue.offerUnsafe(queue, requestEvent(journals.of(world), recorded))
              },
              onEnd: (ended) => {
                if (only === undefined || only.id === ended.id) Queue.offerUnsafe(queue, endEvent(ended))
              }
            })
          }),
          (stop) =>
            Effect.sync(() => {
              stop()
              if (only !== undefined) use.unwatch(only, realMillis())
            })
        )
        const events = Stream.concat(
          Stream.fromIterable(missed, { chunkSize }),
          Stream.takeUntil(Stream.fromQueue(queue), ({ isLast }) => isLast && only !== undefined)
        )
        const beats = Stream.map(Stream.tick(heartbeat), () => utf8.encode(":\n\n"))
        return Stream.concat(
          Stream.succeed(opening),
          Stream.merge(Stream.map(events, eventText), Stream.drop(beats, 1), { haltStrategy: "left" })
        )
      })
      return HttpServerResponse.stream(Stream.unwrap(stream), {
        contentType: "text/event-stream",
        headers: { "cache-control": "no-store" }
      })
    })
  )
)
