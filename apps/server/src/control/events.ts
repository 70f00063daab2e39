/**
 * The endpoint of `EventsGroup`. A client that reads slowly misses the oldest of what waits for it.
 */
import { Effect, Queue, Stream } from "effect"
import * as Sse from "effect/encoding/Sse"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { Recorded } from "../journal/Journals.ts"
import { showEntry } from "../journal/JournalEntry.ts"
import type { World } from "../world/World.ts"
import { ControlApi } from "./ControlApi.ts"
import { ControlledWorlds, worldUnknown } from "./ControlledWorlds.ts"

/** How many events wait for a client that is slow; the oldest go first. */
const maxWaiting = 1000

/** How often a silent stream shows that it is open. */
const heartbeat = "15 seconds"

interface Event {
  readonly world: World
  readonly recorded: Recorded
}

const utf8 = new TextEncoder()

const eventText = ({ recorded, world }: Event): Uint8Array =>
  utf8.encode(
    Sse.encoder.write({
      _tag: "Event",
      event: "request",
      id: String(recorded.event),
      data: JSON.stringify({ world: world.id, ...showEntry(world.settings.account, recorded) })
    })
  )

/** Comes first, so that a client sees at once that the stream is open. */
const opening = utf8.encode(": requests\n\n")

export const layer = HttpApiBuilder.group(ControlApi, "events", (handlers) =>
  handlers.handle("watch", ({ headers, query }) =>
    Effect.gen(function* () {
      const { journals, worlds } = yield* ControlledWorlds
      if (query.world !== undefined && worlds.get(query.world) === undefined) {
        return yield* Effect.fail(worldUnknown(query.world))
      }
      const isWatched = (world: World) => query.world === undefined || world.id === query.world
      const last = Number(headers["last-event-id"] ?? Number.NaN)
      const stream = Effect.gen(function* () {
        const queue = yield* Queue.sliding<Event>(maxWaiting)
        const missed = worlds
          .list()
          .filter(isWatched)
          .flatMap((world) =>
            journals
              .of(world)
              .entries()
              .map((recorded) => ({ world, recorded }))
          )
          .filter(({ recorded }) => recorded.event > last)
          .sort((a, b) => a.recorded.event - b.recorded.event)
        // From here on nothing is missed: no other fiber runs between reading the journals and this.
        yield* Effect.acquireRelease(
          Effect.sync(() =>
            journals.listen((world, recorded) => {
              if (isWatched(world)) Queue.offerUnsafe(queue, { world, recorded })
            })
          ),
          (stop) => Effect.sync(stop)
        )
        const events = Stream.concat(Stream.fromIterable(missed), Stream.fromQueue(queue))
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
