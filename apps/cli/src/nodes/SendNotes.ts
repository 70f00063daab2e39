/**
 * Records in a file of the command, such as a fleet's ledger, that a create is about to be sent: the first time, and for every repetition.
 * A create that cannot be recorded is not sent.
 */
import {
  type Instant,
  type Intent,
  IntentStore,
  type IntentStoreFailed
} from "@berthkit/core/client/creation/IntentStore"
import { Context, Effect, Layer } from "effect"

type Note = (sentAt: Instant) => Effect.Effect<unknown, IntentStoreFailed>

/** Runs a create under `key`; `note` runs before each request of the create, with the time in its record. */
type Noting = (key: string, note: Note) => <A, E, R>(create: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Without a layer, creates are not recorded, so none may be sent under a key. */
export const SendNotes = Context.Reference<Noting>("@berthkit/cli/nodes/SendNotes", {
  defaultValue: () => () => (create) => create
})

/** The creates with notes, and the intent store (the records of creates) that calls their notes. */
const noted = () => {
  const notes = new Map<string, Note>()
  const noting: Noting = (key, note) => (create) =>
    Effect.suspend(() => {
      notes.set(key, note)
      return Effect.ensuring(
        create,
        Effect.sync(() => notes.delete(key))
      )
    })
  /** A create is saved as sent and open before its request. */
  const before = ({ fate, key, nodeId, sentAt }: Intent) =>
    sentAt === null || fate !== "open" || nodeId !== null ? Effect.void : (notes.get(key)?.(sentAt) ?? Effect.void)
  const withNotes = (store: IntentStore): IntentStore => ({
    ...store,
    save: (intent) => Effect.andThen(before(intent), store.save(intent))
  })
  return { noting, withNotes }
}

/** Calls the notes on top of the given store. */
export const notingSends = Layer.unwrap(
  Effect.sync(() => {
    const { noting, withNotes } = noted()
    const store = Effect.map(IntentStore, (store) => (store === undefined ? undefined : withNotes(store)))
    return Layer.merge(Layer.effect(IntentStore, store), Layer.succeed(SendNotes, noting))
  })
)
