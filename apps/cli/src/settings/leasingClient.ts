/**
 * The client of commands that use leases (the records that `berth run` keeps of its nodes). It has the records of the leases' creates.
 */
import { type Intent, IntentStore } from "@berthkit/core/client/creation/IntentStore"
import { Effect, Layer, Option } from "effect"
import { leaseFault } from "../leases/leases.ts"
import { clientOf, intents, overConnection, type Unkept, unrecorded } from "./client.ts"

const unkept = (why: Unkept) => Layer.effect(IntentStore, leaseFault(why))

/** How long to wait for a lock in a folder that can no longer be written. */
const maxLockMillis = 2000

/**
 * The same store, which also remembers in memory what this process has written. If the folder is gone or can no longer be written, a run
 * can still find and delete its node. New creates fail in that case.
 */
const remembering = (store: IntentStore): IntentStore => {
  const own = new Map<string, Intent>()
  let isBroken = false
  /** Whether the record is about an earlier request. If so, saving it allows no new request. */
  const isPast = ({ fate, key, nodeId, sentAt }: Intent) =>
    own.has(key) && (nodeId !== null || (sentAt !== null && fate !== "open"))
  return {
    ...store,
    save: (intent) =>
      store.save(intent).pipe(
        Effect.catch((failure) => {
          isBroken = true
          return isPast(intent) ? Effect.void : Effect.fail(failure)
        }),
        Effect.tap(() => Effect.sync(() => own.set(intent.key, intent)))
      ),
    remove: (key) =>
      Effect.andThen(
        Effect.sync(() => own.delete(key)),
        store.remove(key)
      ),
    find: (key) =>
      Effect.suspend(() => {
        const known = own.get(key)
        if (known === undefined) return store.find(key)
        const isNewer = (found: Intent) => known.nodeId !== null && found.nodeId === null
        return store.find(key).pipe(
          Effect.map((found) => Option.filter(found, (intent) => !isNewer(intent))),
          Effect.orElseSucceed(() => Option.none<Intent>()),
          Effect.map(Option.orElseSome(() => known))
        )
      }),
    withKeyLock: (key) => (use) =>
      Effect.suspend(() => {
        let isLocked = false
        const broken = Effect.sync(() => void (isBroken = true))
        const locked = store.withKeyLock(key)(({ confirm }) => {
          isLocked = true
          return use({ confirm: Effect.tapError(confirm, () => broken) })
        })
        // A process that has sent nothing needs the lock. A process that has sent its create does not, because it only looks for the
        // outcome.
        const unlocked = use({ confirm: Effect.void })
        const failedOrLocked = Effect.catch(locked, (failure) =>
          isLocked || own.size === 0 ? Effect.fail(failure) : unlocked
        )
        // If files can no longer be removed, an earlier lock of this process stays, and waiting for that lock is
        // useless.
        const late = Effect.delay(
          Effect.suspend(() => (isLocked || !isBroken ? Effect.never : unlocked)),
          maxLockMillis
        )
        return Effect.raceFirst(failedOrLocked, late)
      })
  }
}

const remembered = Layer.effect(
  IntentStore,
  Effect.map(IntentStore, (store) => (store === undefined ? undefined : remembering(store)))
)

/** If `mustKeep` is set, fails if leases or creates cannot be recorded. */
export const leasingClient = (mustKeep: boolean) =>
  overConnection((found) =>
    Layer.provideMerge(clientOf(found), Layer.provide(remembered, intents(found, mustKeep ? unkept : unrecorded)))
  )
