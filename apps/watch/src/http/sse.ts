/**
 * The events as server-sent events. A stream reads the log by a cursor of its own, a page at a time and only when its client has
 * taken the page before: a slow client costs one page of memory, misses nothing, and holds up nothing.
 */
import { Effect, Option, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { EventFilter } from "../store/events.ts"
import { type Daemon, Refused } from "./Daemon.ts"
import type { LoggedEvent } from "./records.ts"

/** Events that are read at once. */
const pageSize = 100

/** Clients at once, each with a connection. */
const maxStreams = 100

/** How often a silent stream shows that it is open. */
const beatMillis = 15_000

/** How soon a client comes back after a restart of the daemon. */
const retryMillis = 1000

const utf8 = new TextEncoder()

const eventText = ({ cursor, event }: LoggedEvent): string => `id: ${cursor}\ndata: ${JSON.stringify(event)}\n\n`

/** An id without data is no event, and yet the client comes back with it. */
const placeText = (cursor: string): string => `id: ${cursor}\n\n`

interface Place {
  readonly cursor: string
  readonly isNew: boolean
}

/** Follows the log from `cursor` for ever. Fails only before the first byte: with the cursor or the filter. */
const follow = Effect.fnUntraced(function* (daemon: Daemon["Service"], filter: EventFilter, cursor: string) {
  // Whether they can be meant at all shows before the reply begins.
  yield* daemon.events({ ...filter, after: cursor, limit: 1 })
  const step = Effect.fnUntraced(function* (place: Place) {
    const { events, more, next } = yield* daemon.events({ ...filter, after: place.cursor, limit: pageSize })
    const texts = events.map(eventText)
    if (next !== place.cursor && events.at(-1)?.cursor !== next) texts.push(placeText(next))
    if (texts.length === 0 && !more && !place.isNew) {
      const woken = yield* Effect.raceFirst(
        Effect.as(daemon.eventAfter(next), true),
        Effect.as(Effect.sleep(beatMillis), false)
      )
      if (!woken) texts.push(":\n\n")
    }
    return [texts.map((text) => utf8.encode(text)), Option.some<Place>({ cursor: next, isNew: false })] as const
  })
  const opening = Stream.succeed(utf8.encode(`retry: ${retryMillis}\n${placeText(cursor)}`))
  return Stream.concat(opening, Stream.paginate({ cursor, isNew: true } as Place, step))
})

/** Streams for the clients of one server. */
export const makeStreams = () => {
  let open = 0
  return Effect.fnUntraced(function* (daemon: Daemon["Service"], filter: EventFilter, after: string | undefined) {
    if (open >= maxStreams)
      return yield* new Refused({ kind: "busy", message: `${maxStreams} clients follow the events already.` })
    const stream = yield* follow(daemon, filter, after ?? (yield* daemon.cursor))
    const counted = Stream.unwrap(
      Effect.as(
        Effect.acquireRelease(
          Effect.sync(() => void open++),
          () => Effect.sync(() => void open--)
        ),
        stream
      )
    )
    return HttpServerResponse.stream(counted, {
      contentType: "text/event-stream",
      headers: { "cache-control": "no-store, no-transform", "x-accel-buffering": "no" }
    })
  })
}
