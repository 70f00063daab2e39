/**
 * Answers a request in a world where faults are armed: finds out what the request is about, which faults strike, and lets
 * them.
 */
import { Effect, Predicate } from "effect"
import * as ByteSize from "effect/ByteSize"
import { HttpIncomingMessage, type HttpServerRequest } from "effect/http"
import { largestBodyBytes } from "../transport/limits.ts"
import type { World } from "../world/World.ts"
import { decide, looksAtNodes } from "../faults/ArmedFaults.ts"
import { misbehave, type Occasion } from "./injectFaults.ts"
import { nodeIdOf, type Operation, operationOf } from "../faults/operations.ts"

export const serveFaulty = Effect.fnUntraced(function* ({
  now,
  record,
  request,
  serve,
  world
}: Omit<Occasion, "strikes" | "operation"> & { readonly now: number }) {
  const operation = operationOf(request.method, request.url.split("?", 1)[0]!)
  const node = looksAtNodes(world.faults) ? yield* nodeOf(request, operation, world) : undefined
  const facts = { operation, nodeId: node?.id, nodeName: node?.name, headers: request.headers }
  const { armed, strikes } = decide(world.faults, facts, world.settings.seed, now)
  world.faults = armed
  if (strikes.length > 0) return yield* misbehave({ operation, record, request, serve, strikes, world })
  const reply = yield* serve(world.allowance)
  record(reply.status, [], 0)
  return reply
})

interface AskedNode {
  readonly id: number | undefined
  readonly name: string | undefined
}

/** The node a request is about: that of its path, or of its body, where a create has only a name. */
const nodeOf = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  operation: Operation | undefined,
  world: World
) {
  const named = (id: number | undefined): AskedNode => ({
    id,
    name: id === undefined ? undefined : world.nodes.get(id)?.name
  })
  if (operation === "nodes.get" || operation === "nodes.delete") return named(nodeIdOf(request.url))
  if (operation !== "nodes.create" && operation !== "commitments.set") return undefined
  // The endpoint gets the same bytes, or the same failure.
  const body = yield* Effect.option(
    Effect.flatMap(
      Effect.provideService(request.arrayBuffer, HttpIncomingMessage.MaxBodySize, ByteSize.bytes(largestBodyBytes)),
      (bytes) => Effect.try((): unknown => JSON.parse(new TextDecoder().decode(bytes)))
    )
  )
  if (body._tag === "None" || !Predicate.isObject(body.value)) return undefined
  const { name, vcn_id: id } = body.value
  if (operation === "commitments.set") return named(typeof id === "number" ? id : undefined)
  return { id: undefined, name: typeof name === "string" ? name : undefined }
})
