// Blocks of the README of this package: they are compiled.
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import * as Berth from "@berthkit/core/client/Berth"
import { Nodes } from "@berthkit/core/client/Nodes"
import { NodeId } from "@berthkit/core/domain/Node"

const client = Berth.layerConfig.pipe(Layer.provide(NodeHttpClient.layerUndici))
const node = Nodes.use((nodes) => nodes.get(NodeId.make(97898))).pipe(
  Effect.catchReason("BerthError", "NodeNotFound", () => Effect.succeed(undefined)),
  Effect.provide(client)
)

export { node }
