/** Finds the node of an earlier create, for a program that is about to delete it. It only reads. */
import { Effect, Option, Result, Stream } from "effect"
import { BerthError } from "../domain/BerthError.ts"
import { OutcomeUnknown } from "../domain/ErrorReason.ts"
import type { Node, NodeId } from "../domain/Node.ts"
import type { NodeSpec } from "../domain/NodeSpec.ts"
import { reconciliationKey } from "./creation/Creator.ts"
import { type Instant, IntentStore } from "./creation/IntentStore.ts"
import { maxFreeMillis } from "./creation/KeyLock.ts"
import { isQuietAtLast, isSpelling } from "./creation/Ownership.ts"
import { instantNow } from "./instantNow.ts"
import type { Listed } from "./listing/Listed.ts"
import { Nodes } from "./Nodes.ts"

/** How long to look for the node. */
const settleSeconds = 20

/**
 * Waits until the locks that a create takes are free, but no longer than an ended process can hold locks. After a
 * restart of the machine, that is longer than the deadline of the search below. Without this wait, each command would
 * watch the locks anew, give up before they are free, and never find anything.
 */
const awaitLocks = Effect.fnUntraced(function* (key: string) {
  const store = yield* IntentStore
  if (store === undefined) return
  yield* Effect.forEach([key, reconciliationKey], (each) => store.withKeyLock(each)(() => Effect.void), {
    concurrency: "unbounded",
    discard: true
  }).pipe(Effect.timeoutOption(maxFreeMillis), Effect.ignore)
})

type Order = Pick<NodeSpec, "image" | "name" | "plan">

/** The error of the search. Its time limit is not a deadline that the caller gave, so the error does not call it one. */
const ofSearch = (error: BerthError): BerthError => {
  const { reason } = error
  if (reason._tag !== "OutcomeUnknown" || reason.because !== "TimedOut") return error
  const detail = `the search for its node ended after ${settleSeconds} s`
  return new BerthError({ ...error, reason: new OutcomeUnknown({ ...reason, detail }) })
}

/** The node that a create with this key made; undefined if it made none or the node is gone. Fails while this is unknown. */
export const nodeOfCreate = Effect.fnUntraced(function* ({ image, name, plan }: Order, key: string) {
  const nodes = yield* Nodes
  yield* awaitLocks(key)
  return yield* nodes
    .create({ name, plan, image }, { key, adoptOnly: true, deadline: `${settleSeconds} seconds` })
    .pipe(
      Effect.mapError(ofSearch),
      Effect.map(({ node }) => node as Node | undefined),
      // The client reports the key as invalid if no create with the key made a node, or if that node is gone.
      Effect.catchIf(
        ({ reason }) =>
          reason._tag === "InvalidRequest" && reason.status === null && reason.fields["key"] !== undefined,
        () => Effect.undefined
      )
    )
})

/** Whether the list was read to its end and has none of these nodes. */
const isListedWithout = (ids: ReadonlyArray<NodeId>) =>
  Effect.gen(function* () {
    const nodes = yield* Nodes
    let end: Listed | undefined
    const onEnd = (listed: Listed) => Effect.sync(() => void (end = listed))
    const found = yield* Stream.runCollect(nodes.list({ lane: "interactive", onEnd }))
    const isWhole = end !== undefined && end.readToEnd !== false
    return isWhole && found.every(({ id }) => !ids.includes(id))
  })

/**
 * Whether nothing is left of a create: the service can no longer make its node, and the candidates are gone. After a restart only the wall
 * clock may show the time. It may be wrong, but nothing is sent because of it.
 */
const isNothingLeft = Effect.fnUntraced(function* (candidates: ReadonlyArray<NodeId>, sentAt: Instant | null) {
  if (sentAt === null || !isQuietAtLast(sentAt, yield* instantNow) || !(yield* isListedWithout(candidates)))
    return false
  const areGone = yield* Effect.forEach(candidates, (id) =>
    Effect.match(
      Nodes.use((nodes) => nodes.get(id)),
      { onFailure: ({ reason }) => reason._tag === "NodeNotFound", onSuccess: () => false }
    )
  )
  return areGone.every(Boolean)
})

/** The fate of a create that the list and the dates of nodes do not show. Fails with `error` if it stays unknown. */
const undecided = Effect.fnUntraced(function* (
  { isNameDrawn, name }: Order & { readonly isNameDrawn: boolean },
  sentAt: Instant | null,
  error: BerthError
) {
  const { reason } = error
  if (reason._tag !== "OutcomeUnknown" || !reason.listRead || reason.listFault !== null) return yield* error
  const { candidates } = reason
  const [id, ...others] = candidates
  if (id !== undefined && others.length === 0 && isNameDrawn) {
    const found = yield* Effect.result(Nodes.use((nodes) => nodes.get(id)))
    if (Result.isSuccess(found) && isSpelling(found.success.name, name)) return found.success
  }
  const isOver = yield* Effect.orElseSucceed(isNothingLeft(candidates, sentAt), () => false)
  return isOver ? undefined : yield* error
})

/**
 * Like `nodeOfCreate`, for a program that only deletes the node and sends no other create because of the answer. If the
 * program drew the name at random, the only node with that name is its own. If no node has the name and the service can
 * no longer make one, there is nothing to delete (decision 0336).
 */
export const nodeToDelete = Effect.fnUntraced(function* (
  order: Order & { readonly isNameDrawn: boolean },
  key: string
) {
  const store = yield* IntentStore
  const sentAt =
    store === undefined
      ? null
      : yield* Effect.match(store.find(key), {
          onFailure: () => null,
          onSuccess: (found) => Option.getOrNull(found)?.sentAt ?? null
        })
  return yield* Effect.catch(nodeOfCreate(order, key), (error) => undecided(order, sentAt, error))
})
