/**
 * The endpoint of `EventsGroup`. It formats an event when the client reads it, so events that nobody reads take no memory
 * for strings.
 */
import { Cause, Effect, Option, Stream } from "effect"
import * as Sse from "effect/encoding/Sse"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { fail } from "@berthkit/core/api/Envelope"
import { bytesOf, type JournalEvent } from "../journal/Journals.ts"
import { showEntry } from "../journal/JournalEntry.ts"
import { noteHeld } from "../transport/held.ts"
import type { World } from "../world/World.ts"
import { ControlApi } from "./ControlApi.ts"
import { type Controlled, ControlledWorlds, namedWorld } from "./ControlledWorlds.ts"

/** Maximum number of events that wait for one client. */
export const maxWaiting = 1000

/**
 * Maximum bytes of the requests that wait for one client: as much as a journal keeps. The bytes count here, because a
 * backlog may keep requests in memory that the journals have dropped.
 */
export const maxWaitingBytes = 4 * 1024 * 1024

/**
 * The events that wait for one client of the stream. They are references to journal entries, not the strings to send. A client
 * that reads slowly misses the oldest events.
 */
export class EventBacklog {
  readonly #waiting: Array<JournalEvent> = []
  #bytes = 0
  #onOffer: (() => void) | undefined

  /** How many events wait. */
  get size(): number {
    return this.#waiting.length
  }

  offer(event: JournalEvent): void {
    this.#waiting.push(event)
    this.#bytes += bytesOfEvent(event)
    while (this.size > maxWaiting || (this.#bytes > maxWaitingBytes && this.size > 1)) this.take()
    this.#onOffer?.()
  }

  /** Removes and returns the oldest event. */
  take(): JournalEvent | undefined {
    const event = this.#waiting.shift()
    if (event !== undefined) this.#bytes -= bytesOfEvent(event)
    return event
  }

  /** Calls `resume` once, as soon as there is an event. The returned function cancels the wait. */
  whenOffered(resume: () => void): () => void {
    if (this.size > 0) resume()
    else {
      this.#onOffer = () => {
        this.#onOffer = undefined
        resume()
      }
    }
    return () => void (this.#onOffer = undefined)
  }
}

const bytesOfEvent = ({ recorded }: JournalEvent): number => (recorded === undefined ? 0 : bytesOf(recorded))

/** Maximum number of open streams, because each may keep as much memory as a journal. */
export const maxStreams = 100

/** If nothing happens for this long, the stream sends a comment as a sign of life. */
const heartbeat = "15 seconds"

/** Number of characters after which the stream lets the server answer other requests. */
const maxTextLength = 16 * 1024

const textOf = (event: JournalEvent): string => {
  const { account, id: world } = event.in
  const [name, data] =
    event.recorded === undefined
      ? ["world-ended", { world, reason: event.in.ended.reason }]
      : ["request", { world, ...showEntry(account, event.recorded) }]
  return Sse.encoder.write({ _tag: "Event", event: name, id: String(event.id), data: JSON.stringify(data) })
}

/** The strings of the waiting events, each formatted on demand. A stream about one world ends when that world ends. */
const textsOf = (backlog: EventBacklog, only: World | undefined): Stream.Stream<string> => {
  let isOver = false
  const offered = Effect.callback<void>((resume) => {
    const stop = backlog.whenOffered(() => resume(Effect.void))
    return Effect.sync(stop)
  })
  const next = Effect.gen(function* () {
    if (isOver) return yield* Cause.done()
    yield* Effect.yieldNow
    if (backlog.size === 0 && Option.isNone(yield* Effect.timeoutOption(offered, heartbeat))) return ":\n\n"
    let text = ""
    while (text.length < maxTextLength && !isOver) {
      const event = backlog.take()
      if (event === undefined) break
      text += textOf(event)
      isOver = only !== undefined && event.recorded === undefined
    }
    return text
  })
  return Stream.fromEffectRepeat(next)
}

/**
 * The events after number `last`, which a client has missed: all that the journal of one world still has, or the latest events of all
 * worlds.
 */
const missedSince = (last: number, { journals, worlds }: Controlled, only: World | undefined) =>
  only === undefined
    ? journals.since(
        Math.max(last, journals.eventCount - maxWaiting),
        worlds.list().map((world) => journals.of(world)),
        journals.allEnded()
      )
    : journals.since(last, [journals.of(only)])

const tooMany = fail(503, `The limit of ${maxStreams} event streams is reached: close one, or read the journals.`)

/** A backlog that receives events until the scope closes. */
const follow = Effect.fnUntraced(function* (controlled: Controlled, only: World | undefined, last: number) {
  const { journals } = controlled
  if (journals.listeners >= maxStreams) return yield* Effect.fail(tooMany)
  const backlog = new EventBacklog()
  // Read the journals and begin to listen in one step: no other fiber runs in between, so no event is missed.
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      // Without a valid header, `last` is NaN: a new client has missed nothing.
      if (!Number.isNaN(last)) for (const event of missedSince(last, controlled, only)) backlog.offer(event)
      return journals.listen((event) => {
        if (only === undefined || only.id === event.in.id) backlog.offer(event)
      })
    }),
    (stop) => Effect.sync(stop)
  )
  return backlog
})

const utf8 = new TextEncoder()

export const layer = HttpApiBuilder.group(ControlApi, "events", (handlers) =>
  handlers.handle("watch", ({ headers, query, request }) =>
    Effect.gen(function* () {
      const controlled = yield* ControlledWorlds
      const only = query.world === undefined ? undefined : (yield* namedWorld(query.world)).world
      const backlog = yield* follow(controlled, only, Number(headers["last-event-id"] ?? Number.NaN))
      noteHeld(request.source)
      // The comment comes first, so that a client sees at once that the stream is open.
      const texts = Stream.concat(Stream.succeed(": requests\n\n"), textsOf(backlog, only))
      return HttpServerResponse.stream(
        Stream.map(texts, (text) => utf8.encode(text)),
        {
          contentType: "text/event-stream",
          headers: { "cache-control": "no-store, no-transform", "x-accel-buffering": "no" }
        }
      )
    })
  )
)
