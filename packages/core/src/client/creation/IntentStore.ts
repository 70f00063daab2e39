/**
 * What is kept of a create before and while it is sent, so that this process or a later one can find out which node came of it; what a
 * store of it can do; and the store in memory, which ends with its client. The one that later processes find is `IntentFolder.ts`.
 */
import { Context, Data, Effect, Option, Semaphore } from "effect"
import type { BerthError } from "../../domain/BerthError.ts"
import type { Node, NodeId } from "../../domain/Node.ts"
import { type Stamp, stampNow } from "../files/Boot.ts"
import type { KeyLock } from "./KeyLock.ts"

/** An instant on every clock there is, because none of them alone can be trusted later. */
export interface Instant extends Stamp {
  /** The service's clock had certainly reached this, since the epoch; 0 when nothing is known of it. */
  readonly serviceMillis: number
}

/** The version of the record: in a later one a field may mean something else. */
export const intentVersion = 1

/** The record of one create. */
export interface Intent {
  readonly version: typeof intentVersion
  /** Names the create: the caller's own key, or one drawn for it. */
  readonly key: string
  readonly name: string
  readonly plan: string
  readonly image: string
  /** Digest of all that was asked for (`specDigest`); null in one that only adopts a node. */
  readonly spec: string | null
  /** Highest node id known before sending; what comes of it is higher (A11). */
  readonly newerThan: number
  /**
   * Highest id of a node that creates of the account had made before: a list may have left out an older node of somebody else then, which
   * it shows later. Only what a reply names may be at or below it, as where a service begins anew.
   */
  readonly newest?: number | undefined
  /** When it was sent last; null while it was certainly not sent, or what was sent was certainly not processed. */
  readonly sentAt: Instant | null
  /**
   * What became of it: its reply may still come, as long as its process runs (`open`); the service refused it for its rate limit,
   * and need not have made nothing (`refused`); its reply was lost, or its process ended (`lost`); it was lost and its caller, who
   * has no key to ask again with, was told so (`reported`). Without a reply, what came of the create shows in the list alone.
   */
  readonly fate: "open" | "refused" | "lost" | "reported"
  /** The node that came of it; null until that is known. */
  readonly nodeId: NodeId | null
  /** The node that its reply named, if that node differs from what was asked for. The create is then never sent again. */
  readonly told?: Told | undefined
  /** The ids of the nodes that calls under its key took for possible ones. */
  readonly seen?: ReadonlyArray<NodeId> | undefined
}

/** A node that the reply to a create named and that the create may have made. */
export interface Told {
  readonly id: NodeId
  /** How it differs from what was asked for, such as `the name db instead of web`. */
  readonly difference: string
  /** Set if the reply did not state exactly one node: the other nodes that it named, often none. Nobody can tell which of them is meant. */
  readonly others?: ReadonlyArray<NodeId> | undefined
}

/**
 * Every node that a reply named.
 *
 * @internal
 */
export const idsOf = (told: Told | undefined): ReadonlyArray<NodeId> =>
  told === undefined ? [] : [told.id, ...(told.others ?? [])]

/** An intent that was sent. */
export type SentIntent = Intent & { readonly sentAt: Instant }

/** A sent intent to which no reply can come any more. */
export type UnansweredIntent = SentIntent & { readonly fate: Exclude<Intent["fate"], "open"> }

/**
 * Whether it was sent.
 *
 * @internal
 */
export const isSent = (intent: Intent): intent is SentIntent => intent.sentAt !== null

/**
 * Whether a reply to it may still come.
 *
 * @internal
 */
export const mayBeAnswered = (intent: Intent): intent is SentIntent & { readonly fate: "open" } =>
  isSent(intent) && intent.nodeId === null && intent.fate === "open"

/**
 * The intent once no reply can come any more.
 *
 * @internal
 */
export const unanswered = (intent: SentIntent): UnansweredIntent => ({
  ...intent,
  fate: intent.fate === "open" ? "lost" : intent.fate
})

/** An intent cannot be read or written. */
export class IntentStoreFailed extends Data.TaggedError("IntentStoreFailed")<{
  /** Why, such as the message of the file system. */
  readonly detail: string
  /** The code of the file system, such as `ENOSPC`; null where it is not the one that failed. */
  readonly code: string | null
  /** The file or folder; null where there is none. */
  readonly path: string | null
}> {
  override get message() {
    return `The intents of creates cannot be kept: ${this.detail}.`
  }
}

export interface IntentStore {
  /** This instant, on the clocks that every reader of an intent here may know. */
  readonly now: Effect.Effect<Stamp>
  /**
   * Every intent that is not settled; of one whose process has ended the fate is known. One without a caller's key is never settled: it
   * stays for an hour after its create ended, with its node or as `reported`, because a create beside it, in another process, must not
   * take that node.
   */
  readonly unsettled: Effect.Effect<ReadonlyArray<Intent>, IntentStoreFailed>
  readonly find: (key: string) => Effect.Effect<Option.Option<Intent>, IntentStoreFailed>
  /** Returns once the intent is safe: a crash afterwards does not lose it. */
  readonly save: (intent: Intent) => Effect.Effect<void, IntentStoreFailed>
  readonly remove: (key: string) => Effect.Effect<void, IntentStoreFailed>
  /**
   * Of these nodes those that settled intents have, with the keys of these. An intent that is not among `unsettled` any more is
   * among these when they are read after it.
   */
  readonly ownersOf: (ids: ReadonlyArray<NodeId>) => Effect.Effect<ReadonlyMap<NodeId, string>, IntentStoreFailed>
  /** The highest id of a node that a create made, as far as it is kept; 0 where there is none. */
  readonly newestNode: Effect.Effect<number, IntentStoreFailed>
  /**
   * The highest id that there is before a create under a caller's key. A store that may have forgotten creates, as one that was restored
   * from a backup, fails here if the list has a node that may have come of the create. Default: `highest`, as the list shows it.
   */
  readonly highestId?: (
    create: Pick<Intent, "key" | "name">,
    highest: Effect.Effect<number, BerthError>,
    above: (id: number) => Effect.Effect<ReadonlyArray<Pick<Node, "id" | "name">>, BerthError>
  ) => Effect.Effect<number, BerthError>
  /**
   * Runs `use` while no other does under the same key with this store, in this process or another; waits for its turn. A
   * process that ended holds up no other.
   */
  readonly withKeyLock: (
    key: string
  ) => <A, E, R>(
    use: (lock: KeyLock<IntentStoreFailed>) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | IntentStoreFailed, R>
  /**
   * The intents without a caller's key whose process ended after it had sent the create, before it knew what came of it: no caller
   * asks for them again. They are `reported` from then on, so that each is given once.
   */
  readonly takeAbandoned: Effect.Effect<ReadonlyArray<Intent>, IntentStoreFailed>
}

/** The store of the client's intents. Where no layer gives one, a create cannot have a key. */
export const IntentStore = Context.Reference<IntentStore | undefined>("@berthkit/core/client/creation/IntentStore", {
  defaultValue: () => undefined
})

/** Begins the keys that are drawn for creates without one; no caller's key begins so. */
export const drawnKeyPrefix = "_"

/**
 * Gives `use` what the present users of its key share; the first of them makes it.
 *
 * @internal
 */
export const sharedByKey = <S>(make: () => S) => {
  const entries = new Map<string, { readonly shared: S; users: number }>()
  return <A, E, R>(key: string, use: (shared: S) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const entry = entries.get(key) ?? { shared: make(), users: 0 }
        entries.set(key, entry)
        entry.users++
        return entry
      }),
      ({ shared }) => use(shared),
      (entry) => Effect.sync(() => --entry.users === 0 && entries.delete(key))
    )
}

/** A turn for each key within this process. */
export const makeTurns = () => {
  const withTurn = sharedByKey(() => Semaphore.makeUnsafe(1))
  return (key: string) =>
    <A, E, R>(use: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      withTurn(key, (turn) => turn.withPermit(use))
}

/** Intents in memory: for one client, because the account is not part of them. */
export const makeMemory = (): IntentStore => {
  const intents = new Map<string, Intent>()
  const unsettled = new Map<string, Intent>()
  const owners = new Map<NodeId, string>()
  let newest = 0
  const turnOf = makeTurns()
  return {
    now: stampNow("memory"),
    unsettled: Effect.sync(() => Array.from(unsettled.values())),
    find: (key) => Effect.sync(() => Option.fromUndefinedOr(intents.get(key))),
    save: (intent) =>
      Effect.sync(() => {
        const { key, nodeId } = intent
        newest = Math.max(newest, nodeId ?? 0)
        // The client knows the nodes of its own creates.
        if (nodeId !== null && key.startsWith(drawnKeyPrefix)) {
          intents.delete(key)
          unsettled.delete(key)
          return
        }
        intents.set(key, intent)
        if (nodeId === null) unsettled.set(key, intent)
        else {
          unsettled.delete(key)
          owners.set(nodeId, key)
        }
      }),
    remove: (key) =>
      Effect.sync(() => {
        intents.delete(key)
        unsettled.delete(key)
      }),
    ownersOf: (ids) =>
      Effect.sync(() => new Map(ids.flatMap((id) => (owners.has(id) ? [[id, owners.get(id)!] as const] : [])))),
    newestNode: Effect.sync(() => newest),
    withKeyLock: (key) => (use) => turnOf(key)(use({ confirm: Effect.void })),
    takeAbandoned: Effect.succeed([])
  }
}

/** A store for creates without a key where there is no folder; one with a key fails, for it could not be kept. */
export const withoutFolder = (why: string): IntentStore => ({
  ...makeMemory(),
  withKeyLock: () => () =>
    Effect.fail(new IntentStoreFailed({ detail: `there is no state folder: ${why}`, code: null, path: null }))
})
