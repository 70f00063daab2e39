/**
 * Tools for all endpoints of the control plane: access to the worlds, how worlds end, and a strict reader of request bodies.
 */
import { fail, type Failure } from "@berthkit/core/api/Envelope"
import { Clock, Context, Effect, Result, type Schema, type Scope } from "effect"
import type { HttpServerRequest } from "effect/http"
import { invalidFields } from "../http/failures.ts"
import type { EndReason, Journals, WorldJournal } from "../journal/Journals.ts"
import { strictReader } from "@berthkit/core/api/readFields"
import { readStrictJson } from "../transport/readJson.ts"
import * as World from "../world/World.ts"
import { type RemoveRefusal, type TooManyNodes, useWorld, type Worlds } from "../world/Worlds.ts"

/** The worlds of a server, with their journals and the clock. */
export interface Controlled {
  readonly worlds: Worlds
  readonly journals: Journals
  /** Real time in milliseconds since the epoch, from the server's `Clock`. */
  readonly realMillis: () => number
}

/** `plane.ts` sets this for every request. */
export const ControlledWorlds = Context.Reference<Controlled>("@berthkit/server/control/ControlledWorlds", {
  defaultValue: () => {
    throw new Error("An endpoint of the control plane was reached without the plane")
  }
})

export const worldUnknown = (worlds: Worlds, id: string): Failure<404> =>
  fail(404, worlds.hasEnded(id) ? `World ${id} has ended.` : `There is no world ${id}.`)

/** The failure if there would be too many nodes. `field` is the field of the request that asks for them. */
export const tooManyNodes = ({ limit, more, present }: TooManyNodes, field: string): Failure<409> =>
  fail(409, `All worlds together may have ${limit} nodes: they have ${present}, and these are ${more} more.`, {
    [field]: [`All worlds together may have ${limit} nodes.`]
  })

interface NamedWorld extends Controlled {
  readonly world: World.World
  readonly now: number
}

/** The world that a path names, and its current instant. Removes what has ended in the world by then. */
export const namedWorld = Effect.fnUntraced(function* (id: string) {
  const controlled = yield* ControlledWorlds
  const world = controlled.worlds.get(id)
  if (world === undefined) return yield* Effect.fail(worldUnknown(controlled.worlds, id))
  yield* useWorld(controlled, world)
  const named: NamedWorld = { ...controlled, world, now: World.enter(world, controlled.realMillis()) }
  return named
})

/** The journal of the world that a path names. A journal outlives its world for a while. */
export const namedJournal = (id: string): Effect.Effect<WorldJournal, Failure<404>, Scope.Scope> =>
  Effect.flatMap(ControlledWorlds, ({ journals }) => {
    const ended = journals.ofEnded(id)
    return ended === undefined ? Effect.map(namedWorld(id), ({ world }) => journals.of(world)) : Effect.succeed(ended)
  })

/**
 * Ends a world. Its credentials stop working at once. Its journal stays for a while, because people look into a failed test
 * only after it has ended.
 */
export const endWorld = (
  { journals, realMillis, worlds }: Controlled,
  id: string,
  reason: EndReason
): Result.Result<void, RemoveRefusal> =>
  Result.map(worlds.remove(id), (world) => journals.end(world, World.instantOf(world, realMillis()), reason))

/** The longest pause between two searches for idle worlds. One search covers all worlds, so no world needs a timer. */
const maxSweepMillis = 10_000

/** Ends each world that has been unused for `ttlMillis`, or up to a tenth of that time later. Never returns. */
export const endIdleWorlds = Effect.fnUntraced(function* (controlled: Controlled, ttlMillis: number) {
  for (;;) {
    yield* Effect.sleep(Math.min(maxSweepMillis, Math.ceil(ttlMillis / 10)))
    const now = yield* Clock.currentTimeMillis
    for (const { id } of controlled.worlds.idleSince(now - ttlMillis)) endWorld(controlled, id, "idle")
  }
})

/**
 * A reader of request bodies with this schema. It fails with all invalid and unknown fields at once, so a request is never
 * carried out in part. `whenEmpty` replaces a missing body.
 */
export const readBody = <A, I>(schema: Schema.Codec<A, I>, whenEmpty?: unknown) => {
  const read = strictReader(schema)
  return (request: HttpServerRequest.HttpServerRequest) =>
    Effect.flatMap(readStrictJson(request, { whenEmpty }), (body) =>
      Effect.mapError(Effect.fromResult(read(body)), invalidFields)
    )
}
