/**
 * Defines the intent: the record of a create. It is written before the create is sent, so this process or a later one can find out which
 * node the create made. Also defines the intent store and the store in memory, which ends with its client. `IntentFolder.ts` is the store
 * that later processes find.
 */
import { Context, Data, Effect, Option, Semaphore } from "effect"
import type { BerthError } from "../../domain/BerthError.ts"
import type { Node, NodeId } from "../../domain/Node.ts"
import { type Stamp, stampNow } from "../files/Stamp.ts"
import type { KeyLock } from "./KeyLock.ts"

/** A time on every available clock, because any single clock may be wrong later. */
export interface Instant extends Stamp {
  /** A time, counted from the epoch, that the service's clock had certainly reached; 0 if unknown. */
  readonly serviceMillis: number
}

/** The version of the record; fields of a later version may have another meaning. */
export const intentVersion = 1

/** An intent without a caller's key stays this long after its create ended, so that no concurrent create claims its node. */
export const endedMillis = 3_600_000

/**
 * An intent under a caller's key is kept at least this long after it was last asked for: settled, never sent, or refused because of the rate
 * limit.
 */
export const keptMillis = 90 * 86_400_000

/** The record of one create request. */
export interface Intent {
  readonly version: typeof intentVersion
  /** The idempotency key of the create: the caller's own, or a random one. */
  readonly key: string
  readonly name: string
  readonly plan: string
  readonly image: string
  /** Digest of the whole order (`specDigest`); null if the call only looks for a node. */
  readonly spec: string | null
  /** Highest node id known before sending; a node of this create has a higher id (A11). */
  readonly newerThan: number
  /**
   * Highest node id that earlier creates of the account had made. The list may have left out an older node that
   * somebody else made, and show it only after this create was sent. Berth takes no node up to this id for the node of
   * this create, unless the reply names it: a service may restart its ids.
   */
  readonly newest?: number | undefined
  /** When the create was last sent; null if it was certainly not sent or not processed. */
  readonly sentAt: Instant | null
  /**
   * What became of the create. `open`: its reply may still come while its process runs. `refused`: the service refused it because of the
   * rate limit, but may still have made a node. `lost`: its reply was lost, or its process ended. `reported`: it was lost, and the caller
   * was told so, because the caller has no key to repeat it with. Without a reply, only the list shows what the create made.
   */
  readonly fate: "open" | "refused" | "lost" | "reported"
  /** The node of the create; null until it is known. */
  readonly nodeId: NodeId | null
  /** The node that the reply named, if that node differs from the order. The create is then never sent again. */
  readonly told?: Told | undefined
  /** The ids of possible nodes that calls under this key have seen. */
  readonly seen?: ReadonlyArray<NodeId> | undefined
}

/** A node that the reply to a create named, and that the create may have made. */
export interface Told {
  readonly id: NodeId
  /** The difference from the order, such as `the name db instead of web`. */
  readonly difference: string
  /**
   * Set if the reply did not state exactly one node. The value is the nodes that the reply named in addition to this
   * one, often none. Nobody knows which of the nodes is meant.
   */
  readonly others?: ReadonlyArray<NodeId> | undefined
}

/**
 * Every node that a reply named.
 *
 * @internal
 */
export const idsOf = (told: Told | undefined): ReadonlyArray<NodeId> =>
  told === undefined ? [] : [told.id, ...(told.others ?? [])]

/** An intent whose request was sent. */
export type SentIntent = Intent & { readonly sentAt: Instant }

/** A sent intent that can no longer get a reply. */
export type UnansweredIntent = SentIntent & { readonly fate: Exclude<Intent["fate"], "open"> }

/**
 * Whether the create was sent.
 *
 * @internal
 */
export const isSent = (intent: Intent): intent is SentIntent => intent.sentAt !== null

/**
 * Whether a reply to the create may still come.
 *
 * @internal
 */
export const mayBeAnswered = (intent: Intent): intent is SentIntent & { readonly fate: "open" } =>
  isSent(intent) && intent.nodeId === null && intent.fate === "open"

/**
 * The intent once a reply can no longer come.
 *
 * @internal
 */
export const unanswered = (intent: SentIntent): UnansweredIntent => ({
  ...intent,
  fate: intent.fate === "open" ? "lost" : intent.fate
})

/** The listed nodes with an id above another one. */
export interface ListedAbove {
  readonly nodes: ReadonlyArray<Pick<Node, "id" | "name">>
  /**
   * Whether the list shows every node. False if the service returns the same page for every page number and its totals do not say that this
   * page is the whole list. Such a service may cut the list after its own page size.
   */
  readonly isWhole: boolean
}

/** An intent cannot be read or written. */
export class IntentStoreFailed extends Data.TaggedError("IntentStoreFailed")<{
  /** The cause, such as the file system's message. */
  readonly detail: string
  /** The code of the file system, such as `ENOSPC`; null if something else failed. */
  readonly code: string | null
  /** The file or folder; null if there is none. */
  readonly path: string | null
}> {
  override get message() {
    return `The intents of creates cannot be kept: ${this.detail}.`
  }
}

export interface IntentStore {
  /** The current time, on all clocks by which a later reader of an intent may compare it. */
  readonly now: Effect.Effect<Stamp>
  /**
   * Every intent that is not settled; if its process has ended, its fate is no longer `open`. An intent without a caller's key is never
   * settled. For an hour after its create has ended, it stays here with its node or as `reported`, so that no concurrent create of
   * another process claims its node.
   */
  readonly unsettled: Effect.Effect<ReadonlyArray<Intent>, IntentStoreFailed>
  readonly find: (key: string) => Effect.Effect<Option.Option<Intent>, IntentStoreFailed>
  /** Returns once the intent survives a crash. */
  readonly save: (intent: Intent) => Effect.Effect<void, IntentStoreFailed>
  readonly remove: (key: string) => Effect.Effect<void, IntentStoreFailed>
  /**
   * Maps each of these nodes to the key of the settled create that made it. Read `unsettled` first and this afterwards: it finds an
   * intent that has just left `unsettled`.
   */
  readonly ownersOf: (ids: ReadonlyArray<NodeId>) => Effect.Effect<ReadonlyMap<NodeId, string>, IntentStoreFailed>
  /** The highest node id of any recorded create; 0 if there is none. */
  readonly newestNode: Effect.Effect<number, IntentStoreFailed>
  /**
   * The highest node id before a create under a caller's key. A store that was restored from a backup may have
   * forgotten creates. It fails here if the list has a node that a forgotten create with this key may have made. A
   * store without this function uses `highest`, the highest id in the list.
   */
  readonly highestId?: (
    create: Pick<Intent, "key" | "name">,
    highest: Effect.Effect<number, BerthError>,
    above: (id: number) => Effect.Effect<ListedAbove, BerthError>
  ) => Effect.Effect<number, BerthError>
  /**
   * Runs `use` while no other call with this store uses the same key, in this process or another; waits for its turn. A process that has
   * ended blocks nobody.
   */
  readonly withKeyLock: (
    key: string
  ) => <A, E, R>(
    use: (lock: KeyLock<IntentStoreFailed>) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | IntentStoreFailed, R>
  /**
   * The intents without a caller's key whose process ended after it had sent the create and before it knew the outcome.
   * No caller will ask for them again. Each becomes `reported` and so is returned only once.
   */
  readonly takeAbandoned: Effect.Effect<ReadonlyArray<Intent>, IntentStoreFailed>
}

/** The intent store of the client. Without a layer for it, creates cannot have a key. */
export const IntentStore = Context.Reference<IntentStore | undefined>("@berthkit/core/client/creation/IntentStore", {
  defaultValue: () => undefined
})

/** The prefix of random keys; no caller's key begins with it. */
export const drawnKeyPrefix = "_"

/**
 * Gives `use` a value that all simultaneous users of a key share. The first user makes the value.
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

/** Gives each key one turn at a time within this process. */
export const makeTurns = () => {
  const withTurn = sharedByKey(() => Semaphore.makeUnsafe(1))
  return (key: string) =>
    <A, E, R>(use: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      withTurn(key, (turn) => turn.withPermit(use))
}

/** Intents in memory. Each client needs a store of its own, because intents do not name the account. */
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
        // Forget this intent: the client itself remembers the nodes of its creates.
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

/** A store for creates without a key if there is no folder; a create with a key fails, because its key could not be kept. */
export const withoutFolder = (why: string): IntentStore => ({
  ...makeMemory(),
  withKeyLock: () => () =>
    Effect.fail(new IntentStoreFailed({ detail: `there is no state folder: ${why}`, code: null, path: null }))
})

/**
 * The record of the create under a key: null if there is none, undefined if it cannot be read.
 *
 * @internal
 */
export const recordedCreate = (key: string): Effect.Effect<Intent | null | undefined> =>
  Effect.flatMap(IntentStore, (store) =>
    store === undefined
      ? Effect.undefined
      : Effect.orElseSucceed(Effect.map(store.find(key), Option.getOrNull), () => undefined)
  )

/**
 * The nodes that a create may have made: the nodes that its reply named, and the nodes that calls with its key have recorded as possible.
 *
 * @internal
 */
export const candidatesOf = (recorded: Intent | null | undefined): ReadonlyArray<number> =>
  Array.from(new Set([...idsOf(recorded?.told), ...(recorded?.seen ?? [])]))
