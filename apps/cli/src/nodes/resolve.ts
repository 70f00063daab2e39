/**
 * Finds the nodes of NODE arguments, and reads each node's current record. The record has the same fields and values, whether the argument
 * is an id, a name or a pattern.
 */
import { Nodes } from "@berthkit/core/client/Nodes"
import type { CallOptions } from "@berthkit/core/client/call/Operation"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import type { Node, NodeId } from "@berthkit/core/domain/Node"
import { label } from "@berthkit/core/domain/NodeStatus"
import { Effect, Result } from "effect"
import { ListNotWhole, NameAmbiguous, NameChanged, NameNotFound } from "../failure/CliFailure.ts"
import { concurrency, lane, wholeList, withListed, withListedFields } from "./allNodes.ts"
import { type ByName, byName, type Seen, unsearched } from "./byName.ts"
import { type Naming, otherReading, parseTarget, type Target, targetMatcher } from "./Target.ts"

/** A node that an argument names. */
export interface Found {
  /** The argument as the user gave it. */
  readonly given: string
  readonly id: NodeId
  /** The record; null if it was not needed or could not be read. */
  readonly node: Node | null
  /** Whether the record is the reply to a get, which has more fields than the list. */
  readonly isRead: boolean
  /** Whether a node of the given name matches the argument; always true if the argument is an id. */
  readonly isNamed: (name: string) => boolean
}

/** An argument that matches no node, and why. */
export interface Unfound {
  readonly given: string
  readonly id: NodeId | null
  /** The name or pattern; null for an id. */
  readonly name: string | null
  readonly failure: NameNotFound | ListNotWhole | NameChanged | BerthError
}

/** The results of the arguments, in the order of the arguments. Each node appears only once. */
export interface Resolution {
  readonly nodes: ReadonlyArray<Result.Result<Found, Unfound>>
  /** Whether there is one argument, and it is an id or a name, not a pattern. */
  readonly single: boolean
}

/** For each id, the node's record, or why it could not be read. */
type ReadIds = ReadonlyMap<NodeId, Result.Result<Seen, BerthError>>

/** Up to this many ids are read one by one, even if the whole list would take fewer requests. */
const maxSingly = 8

const getAll = Effect.fnUntraced(function* (ids: ReadonlyArray<NodeId>, options: CallOptions) {
  const nodes = yield* Nodes
  return yield* Effect.forEach(
    ids,
    (id) =>
      Effect.map(
        Effect.result(nodes.get(id, { lane, ...options })),
        (node) => [id, Result.map(node, (node): Seen => ({ node, isRead: true }))] as const
      ),
    { concurrency }
  )
})

/** Reads nodes by id: one by one, or all from the list if there are many. */
const readIds = Effect.fnUntraced(function* (ids: ReadonlyArray<NodeId>, options: CallOptions) {
  if (ids.length <= maxSingly) {
    const read = new Map(yield* getAll(ids, options))
    const found = Array.from(read.values()).flatMap((each) => (Result.isSuccess(each) ? [each.success.node] : []))
    for (const node of yield* withListedFields(found)) read.set(node.id, Result.succeed({ node, isRead: true }))
    return read as ReadIds
  }
  const listed = new Map((yield* wholeList).nodes.map((node) => [node.id, node]))
  // An unlisted node may exist: only a 404 for the node itself proves that it does not.
  const missing = new Map(
    yield* getAll(
      ids.filter((id) => !listed.has(id)),
      options
    )
  )
  return new Map(
    ids.map((id) => {
      const node = listed.get(id)
      return [id, node === undefined ? missing.get(id)! : Result.succeed({ node, isRead: false })]
    })
  ) as ReadIds
})

const isMissing = (read: Result.Result<Seen, BerthError> | undefined): boolean =>
  read === undefined || (Result.isFailure(read) && read.failure.reason._tag === "NodeNotFound")

const ambiguous = (name: string, nodes: ReadonlyArray<Seen>, { isPattern = false } = {}) =>
  new NameAmbiguous({
    name,
    isPattern,
    candidates: nodes.map(({ node: { id, status } }) => ({ id, status: label(status) }))
  })

type Selected = Result.Result<ReadonlyArray<Result.Result<Found, Unfound>>, NameAmbiguous>

/** Selects the nodes of one target from those that were read. */
const select = (target: Target, naming: Naming, read: ReadIds, named: ByName): Selected => {
  const { given } = target
  const found =
    (isNamed: Found["isNamed"]) =>
    ({ isRead, node }: Seen): Result.Result<Found, Unfound> =>
      Result.succeed({ given, id: node.id, node, isRead, isNamed })
  if (target._tag === "Id") {
    const ofId = target.id === undefined ? undefined : read.get(target.id)
    if (ofId !== undefined && !(isMissing(ofId) && naming.digitsMayBeName)) {
      const unfound = (failure: BerthError): Unfound => ({ given, id: target.id!, name: null, failure })
      return Result.succeed([
        Result.isSuccess(ofId) ? found(() => true)(ofId.success) : Result.fail(unfound(ofId.failure))
      ])
    }
  }
  const matches = targetMatcher(target)
  const matching =
    target._tag === "Id" && !naming.digitsMayBeName ? [] : named.nodes.filter(({ node: { name } }) => matches(name))
  if (target._tag !== "Pattern" && matching.length > 1) {
    return Result.fail(ambiguous(target._tag === "Name" ? target.name : given, matching))
  }
  if (target._tag === "Pattern" && !target.isMarked && naming.change) {
    // A node has exactly the text of the pattern as its name. If the command deleted that node and ran again, the text
    // would match other nodes. So the user has to say whether the text is a name or a pattern.
    const exact = matching.filter(({ node: { name } }) => name === given)
    if (exact.length > 0) return Result.fail(ambiguous(given, exact, { isPattern: true }))
  }
  if (matching.length > 0) return Result.succeed(matching.map(found(matches)))
  const ofId = target._tag === "Id" && target.id !== undefined ? read.get(target.id) : undefined
  const failure =
    ofId !== undefined && Result.isFailure(ofId)
      ? ofId.failure
      : named.isWhole
        ? new NameNotFound({ name: given, other: naming.patterns ? otherReading(target) : undefined })
        : new ListNotWhole({ given })
  const id = target._tag === "Id" ? (target.id ?? null) : null
  const name = target._tag === "Id" ? null : target._tag === "Name" ? target.name : given
  return Result.succeed([Result.fail({ given, id, name, failure })])
}

/** Adds the names that were last read to a not-found error, to suggest the nearest. */
const withKnownNames = (selected: Result.Result<Found, Unfound>, { names }: ByName) =>
  Result.mapError(selected, (unfound) =>
    unfound.failure._tag === "NameNotFound" && unfound.name !== null
      ? {
          ...unfound,
          failure: new NameNotFound({ name: unfound.given, names: names(), other: unfound.failure.other })
        }
      : unfound
  )

const keyOf = (node: Result.Result<Found, Unfound>): number | string =>
  Result.isSuccess(node) ? node.success.id : node.failure.given

/** Finds the nodes. Fails if a name is ambiguous, before any node is changed. `options` apply to the reads by id. */
export const resolveNodes = Effect.fn("resolveNodes")(function* (
  given: ReadonlyArray<string>,
  naming: Naming,
  options: CallOptions = {}
): Effect.fn.Return<Resolution, BerthError | ListNotWhole | NameAmbiguous, Nodes> {
  const targets = given.map((each) => parseTarget(each, naming))
  const ids = new Set(targets.flatMap((target) => (target._tag === "Id" && target.id !== undefined ? [target.id] : [])))
  const read = yield* readIds(Array.from(ids), options)
  const byNames = targets.filter((target) =>
    target._tag === "Id" ? naming.digitsMayBeName && (target.id === undefined || isMissing(read.get(target.id))) : true
  )
  const matchers = byNames.map(targetMatcher)
  const isMatch = (name: string) => matchers.some((matches) => matches(name))
  // If all these arguments are digits, the list is read only to find nodes whose name is those digits, so a failed read does not matter.
  const isFallback = byNames.every(({ _tag }) => _tag === "Id")
  const search = byName(isMatch, naming)
  const named =
    matchers.length === 0 ? unsearched : yield* isFallback ? Effect.orElseSucceed(search, () => unsearched) : search
  const once = new Map<number | string, Result.Result<Found, Unfound>>()
  for (const target of targets) {
    for (const selected of yield* Effect.fromResult(select(target, naming, read, named))) {
      const node = withKnownNames(selected, named)
      if (!once.has(keyOf(node))) once.set(keyOf(node), node)
    }
  }
  const isOne = targets.length === 1 && targets[0]?._tag !== "Pattern"
  return { nodes: Array.from(once.values()), single: isOne && once.size === 1 }
})

/** The full record of a node. Reads it if necessary, and fails if the argument found the node by a name that it no longer has. */
export const wholeNode = Effect.fnUntraced(function* ({
  given,
  id,
  isNamed,
  isRead,
  node
}: Found): Effect.fn.Return<Node, BerthError | NameChanged, Nodes> {
  if (isRead && node !== null) return node
  const read = yield* Nodes.use((nodes) => nodes.get(id, { lane }))
  if (!isNamed(read.name)) return yield* new NameChanged({ given, id, has: read.name })
  if (node !== null) return withListed(read, node)
  const [whole = read] = yield* withListedFields([read])
  return whole
})

/** Above this number the records of the list are used, because single reads would take too many requests. */
export const maxReads = 20

/** The nodes, with their full records if there are few of them. */
export const wholeNodes = Effect.fnUntraced(function* (
  resolution: Resolution
): Effect.fn.Return<Resolution, never, Nodes> {
  const unread = resolution.nodes.filter((node) => Result.isSuccess(node) && !node.success.isRead)
  if (unread.length > maxReads) return resolution
  const whole = (found: Found) =>
    Effect.match(wholeNode(found), {
      onFailure: (failure): Resolution["nodes"][number] =>
        Result.fail({ given: found.given, id: found.id, name: null, failure }),
      onSuccess: (node) => Result.succeed({ ...found, node, isRead: true })
    })
  const nodes = yield* Effect.forEach(
    resolution.nodes,
    (node) => (Result.isSuccess(node) ? whole(node.success) : Effect.succeed(node)),
    { concurrency }
  )
  return { ...resolution, nodes }
})

/** Finds the one node that an argument names by its id or full name, and reads it. */
export const resolveNode = Effect.fn("resolveNode")(function* (
  given: string,
  { change }: Pick<Naming, "change">
): Effect.fn.Return<Node, BerthError | ListNotWhole | NameAmbiguous | NameNotFound | NameChanged, Nodes> {
  const {
    nodes: [first]
  } = yield* resolveNodes([given], { patterns: false, digitsMayBeName: false, change })
  if (first === undefined) return yield* new NameNotFound({ name: given })
  const found = yield* Effect.fromResult(Result.mapError(first, ({ failure }) => failure))
  return yield* wholeNode(found)
})
