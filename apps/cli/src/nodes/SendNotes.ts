/**
 * What a command notes in a file of its own whenever a create under one of its keys is about to be sent, such as in the ledger of a fleet: the
 * first time, and each time that it is sent again. What cannot be noted is not sent.
 */
import {
  type Instant,
  type Intent,
  IntentStore,
  type IntentStoreFailed
} from "@berthkit/core/client/creation/IntentStore"
import { Context, Effect, Layer } from "effect"

type Note = (sentAt: Instant) => Effect.Effect<unknown, IntentStoreFailed>

/** Runs a create under `key`; `note` runs before each request of it, with the instant that its record gets. */
type Noting = (key: string, note: Note) => <A, E, R>(create: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Without a layer no create has a record, so none under a key is sent. */
export const SendNotes = Context.Reference<Noting>("@berthkit/cli/nodes/SendNotes", {
  defaultValue: () => () => (create) => create
})

/** The creates that are noted, and their store with the notes. */
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
  /** Before its request a create is saved as sent and open. */
  const before = ({ fate, key, nodeId, sentAt }: Intent) =>
    sentAt === null || fate !== "open" || nodeId !== null ? Effect.void : (notes.get(key)?.(sentAt) ?? Effect.void)
  const withNotes = (store: IntentStore): IntentStore => ({
    ...store,
    save: (intent) => Effect.andThen(before(intent), store.save(intent))
  })
  return { noting, withNotes }
}

/** Notes sends, over the store that it is given. */
export const notingSends = Layer.unwrap(
  Effect.sync(() => {
    const { noting, withNotes } = noted()
    const store = Effect.map(IntentStore, (store) => (store === undefined ? undefined : withNotes(store)))
    return Layer.merge(Layer.effect(IntentStore, store), Layer.succeed(SendNotes, noting))
  })
)
