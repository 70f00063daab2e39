// The blocks of the README of this package: they are compiled.
import { Effect } from "effect"
import type { Nodes } from "@berthkit/core/client/Nodes"
import type { NodeId } from "@berthkit/core/domain/Node"
import { NodeHttpClient } from "@effect/platform-node"
import { Layer, Redacted } from "effect"
import * as Berth from "@berthkit/core/client/Berth"

const client = Berth.layer({
  baseUrl: "https://service.example",
  credentials: { apiKey: Redacted.make("…"), accessToken: Redacted.make("…") }
}).pipe(Layer.provide(NodeHttpClient.layerUndici))

const nodeOrUndefined = (nodes: Nodes["Service"], id: NodeId) =>
  nodes.get(id).pipe(Effect.catchReason("BerthError", "NodeNotFound", () => Effect.succeed(undefined)))

export { client, nodeOrUndefined }
