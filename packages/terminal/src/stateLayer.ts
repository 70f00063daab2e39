/** Provides the state of a client's account from the database that a setting names. Without such a setting it loads nothing. */
import { Context, Effect, Layer, type Redacted } from "effect"
import type { Connection } from "./Connection.ts"

/** The stores in the database. */
class Opened extends Context.Service<Opened, Context.Context<never>>()("@berthkit/terminal/stateLayer/Opened") {}

const layers = new WeakMap<Connection, Layer.Layer<Opened>>()

/** Keeps one layer for each connection, so that a command opens the database once, however many stores it uses. */
const openedOf = (connection: Connection, address: Redacted.Redacted) => {
  const known = layers.get(connection)
  if (known !== undefined) return known
  const layer = Layer.effect(
    Opened,
    Effect.flatMap(
      Effect.promise(() => import("./openState.ts")),
      ({ openState }) => openState(connection.options, address)
    )
  )
  layers.set(connection, layer)
  return layer
}

/** One of the stores of `SharedState`, for a connection with a `stateUrl`. */
export const stateLayer = <A>(
  connection: Connection,
  address: Redacted.Redacted,
  store: Context.Reference<A>
): Layer.Layer<never> =>
  Layer.provide(
    Layer.effect(
      store,
      Effect.map(Opened, (stores) => Context.get(stores, store))
    ),
    openedOf(connection, address)
  )
