/**
 * The way to the service: undici. Made here and not by `NodeHttpClient.layerUndici`, because of a CommonJS module that
 * is loaded on demand only the default export survives bundling.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Layer } from "effect"

/** Connections are cut when the command ends. */
const dispatcher = Layer.effect(
  NodeHttpClient.Dispatcher,
  Effect.acquireRelease(
    Effect.map(
      Effect.promise(() => import("@effect/platform-node/Undici")),
      (undici) => new undici.default.Agent()
    ),
    (agent) => Effect.promise(() => agent.destroy())
  )
)

export const transport = NodeHttpClient.layerUndiciNoDispatcher.pipe(Layer.provide(dispatcher))
