/**
 * Records in a file of the command, such as a fleet's ledger, that a create is about to be sent. This happens before
 * each request of the create, including retries. A create that cannot be recorded is not sent.
 */
import {
  type Instant,
  type Intent,
  IntentStore,
  type IntentStoreFailed
} from "@berthkit/core/client/creation/IntentStore"
import { Context, Effect, Layer } from "effect"

type Note = (sentAt: Instant) => Effect.Effect<unknown, IntentStoreFailed>

/**
 * Runs the create with the idempotency key `key`. `note` runs before each request of the create, and gets the time at which the request is
 * sent.
 */
type Noting = (key: string, note: Note) => <A, E, R>(create: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** The default records nothing. A command that has to record its creates provides `notingSends`. */
export const SendNotes = Context.Reference<Noting>("@berthkit/cli/nodes/SendNotes", {
  defaultValue: () => () => (create) => create
})

/** Keeps the notes of running creates, and wraps the intent store (the records of creates) so that it calls them. */
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
  /** Calls the note when the client saves a create as sent but without an outcome, which it does right before each request. */
  const before = ({ fate, key, nodeId, sentAt }: Intent) =>
    sentAt === null || fate !== "open" || nodeId !== null ? Effect.void : (notes.get(key)?.(sentAt) ?? Effect.void)
  const withNotes = (store: IntentStore): IntentStore => ({
    ...store,
    save: (intent) => Effect.andThen(before(intent), store.save(intent))
  })
  return { noting, withNotes }
}

/** Wraps the given intent store so that it calls the notes. */
export const notingSends = Layer.unwrap(
  Effect.sync(() => {
    const { noting, withNotes } = noted()
    const store = Effect.map(IntentStore, (store) => (store === undefined ? undefined : withNotes(store)))
    return Layer.merge(Layer.effect(IntentStore, store), Layer.succeed(SendNotes, noting))
  })
)
