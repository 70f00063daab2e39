/**
 * Finds the nodes that NODE arguments name. Ids are taken as they are; for names the nodes are listed, once.
 */
import { Nodes } from "@berth/core/client/Nodes"
import type { BerthError } from "@berth/core/domain/BerthError"
import type { Node, NodeId } from "@berth/core/domain/Node"
import { label } from "@berth/core/domain/NodeStatus"
import { Effect, Option, Result, Stream } from "effect"
import { NameAmbiguous, NameNotFound } from "../failure/CliFailure.ts"
import { isPattern, nameMatcher, parseTarget, type Target } from "./Target.ts"

/** At most so many nodes are worked on at a time. */
export const concurrency = 8

/** A node that was named, and its record in the list where the list had to be read. */
export interface Found {
  /** The argument that named it. */
  readonly given: string
  readonly id: NodeId
  readonly listed: Option.Option<Node>
}

/** An argument that names no node, and why. */
export interface Unfound {
  readonly given: string
  readonly failure: NameNotFound | BerthError
}

/** What the arguments name, in their order, each node once. */
export interface Resolution {
  readonly nodes: ReadonlyArray<Result.Result<Found, Unfound>>
  /** Whether exactly one node was named, by its id or name and not by a pattern. */
  readonly single: boolean
}

/** The nodes of one target among those listed. */
const select = (
  target: Target,
  listed: ReadonlyArray<Node>
): Result.Result<ReadonlyArray<Result.Result<Found, Unfound>>, NameAmbiguous> => {
  const { given } = target
  if (target._tag === "Id") return Result.succeed([Result.succeed({ given, id: target.id, listed: Option.none() })])
  const exact = listed.filter(({ name }) => name === given)
  if (exact.length > 1) {
    const candidates = exact.map(({ id, status }) => ({ id, status: label(status) }))
    return Result.fail(new NameAmbiguous({ name: given, candidates }))
  }
  const matches = nameMatcher(given)
  const found = exact.length === 1 ? exact : listed.filter(({ name }) => matches(name))
  if (found.length === 0) return Result.succeed([Result.fail({ given, failure: new NameNotFound({ name: given }) })])
  return Result.succeed(found.map((node) => Result.succeed({ given, id: node.id, listed: Option.some(node) })))
}

const keyOf = (node: Result.Result<Found, Unfound>): number | string =>
  Result.isSuccess(node) ? node.success.id : node.failure.given

/** Finds the nodes. Fails when a name is ambiguous, before any of them is changed. */
export const resolveNodes = Effect.fn("resolveNodes")(function* (
  given: ReadonlyArray<string>
): Effect.fn.Return<Resolution, BerthError | NameAmbiguous, Nodes> {
  const targets = given.map(parseTarget)
  const nodes = yield* Nodes
  // The user waits for it: a sweep would let other calls go first.
  const listed = targets.every(({ _tag }) => _tag === "Id")
    ? []
    : yield* Stream.runCollect(nodes.list({ lane: "interactive" }))
  const once = new Map<number | string, Result.Result<Found, Unfound>>()
  for (const target of targets) {
    for (const node of yield* Effect.fromResult(select(target, listed))) {
      if (!once.has(keyOf(node))) once.set(keyOf(node), node)
    }
  }
  const found = Array.from(once.values())
  const [first] = given
  const named = found.some(
    (node) => Result.isSuccess(node) && Option.exists(node.success.listed, ({ name }) => name === first)
  )
  return { nodes: found, single: given.length === 1 && found.length === 1 && (named || !isPattern(first ?? "")) }
})

/** Gets the nodes that were named by id, so that all are known by name and status. */
export const getUnlisted = Effect.fn("getUnlisted")(function* (
  resolution: Resolution
): Effect.fn.Return<Resolution, never, Nodes> {
  const nodes = yield* Nodes
  const get = (found: Found) =>
    Option.isSome(found.listed)
      ? Effect.succeed(Result.succeed(found))
      : Effect.match(nodes.get(found.id), {
          onFailure: (failure): Resolution["nodes"][number] => Result.fail({ given: found.given, failure }),
          onSuccess: (node) => Result.succeed({ ...found, listed: Option.some(node) })
        })
  const seen = yield* Effect.forEach(
    resolution.nodes,
    (node) => (Result.isSuccess(node) ? get(node.success) : Effect.succeed(node)),
    { concurrency }
  )
  return { ...resolution, nodes: seen }
})

/** Finds the one node that an argument names. */
export const resolveNode = Effect.fn("resolveNode")(function* (
  given: string
): Effect.fn.Return<Found, BerthError | NameAmbiguous | NameNotFound, Nodes> {
  const { nodes } = yield* resolveNodes([given])
  const [first, ...more] = nodes
  if (first === undefined) return yield* new NameNotFound({ name: given })
  if (more.length === 0) return yield* Effect.fromResult(Result.mapError(first, ({ failure }) => failure))
  const candidates = nodes.filter(Result.isSuccess).map(({ success }) => ({
    id: success.id,
    status: Option.match(success.listed, { onNone: () => "", onSome: ({ status }) => label(status) })
  }))
  return yield* new NameAmbiguous({ name: given, candidates })
})

/**
 * The later record of a node, with the fields that it lacks taken from the earlier one: the service's record shapes carry
 * different fields (decision 8).
 */
export const completed = (later: Node, earlier: Option.Option<Node>): Node => {
  if (Option.isNone(earlier)) return later
  const known = Object.fromEntries(Object.entries(later).filter(([, value]) => value !== null))
  return { ...earlier.value, ...known, extra: { ...earlier.value.extra, ...later.extra } }
}
