/** Tools for all endpoints of the control plane: access to the worlds, and a strict reader of request bodies. */
import { fail, type Failure } from "@berthkit/core/api/Envelope"
import { Context, Effect, type Schema, type Scope } from "effect"
import type { HttpServerRequest } from "effect/http"
import { invalidFields } from "../http/failures.ts"
import type { Journals, WorldJournal } from "../journal/Journals.ts"
import { strictReader } from "@berthkit/core/api/readFields"
import { readStrictJson } from "../transport/readJson.ts"
import * as World from "../world/World.ts"
import type { TooManyNodes, Worlds } from "../world/Worlds.ts"

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

/** Marks a world as in use until the request's scope closes, because a request may take longer than a world may be idle. */
export const useWorld = (
  { realMillis, worlds }: Controlled,
  world: World.World
): Effect.Effect<unknown, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => worlds.use(world, realMillis())),
    (end) => Effect.sync(() => end(realMillis()))
  )

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
