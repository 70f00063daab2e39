/**
 * The events as server-sent events. A stream has its own cursor, and reads a page of the log only after its client has taken
 * the previous page. A slow client therefore costs one page of memory, misses nothing, and blocks nobody.
 */
import { Effect, Option, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { EventFilter } from "../store/events.ts"
import { type Daemon, Refused } from "./Daemon.ts"
import type { LoggedEvent } from "./records.ts"

/** Events per read. */
const pageSize = 100

/** Maximum number of clients, each with a connection. */
const maxStreams = 100

/** If a stream has no events, it sends a sign of life this often. */
const beatMillis = 15_000

/** How soon a client reconnects after a restart of the daemon. */
const retryMillis = 1000

const utf8 = new TextEncoder()

const eventText = ({ cursor, event }: LoggedEvent): string => `id: ${cursor}\ndata: ${JSON.stringify(event)}\n\n`

/** Tells the client its place without an event: a browser remembers an id without data, and sends it when it reconnects. */
const placeText = (cursor: string): string => `id: ${cursor}\n\n`

interface Place {
  readonly cursor: string
  readonly isNew: boolean
}

/** Follows the log from `cursor` until interrupted. Fails only before the first byte, because of the cursor or the filter. */
const follow = Effect.fnUntraced(function* (daemon: Daemon["Service"], filter: EventFilter, cursor: string) {
  // Check the cursor and the filter before the reply begins.
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
      return yield* new Refused({ kind: "busy", message: `The limit of ${maxStreams} event streams is reached.` })
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
