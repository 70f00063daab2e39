import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Stream } from "effect"
import * as Berth from "@berthkit/core/client/Berth"
import { Nodes } from "@berthkit/core/client/Nodes"

const program = Nodes.use((nodes) => Stream.runForEach(nodes.list(), (node) => Console.log(node.name, node.status)))
const client = Berth.layerConfig.pipe(Layer.provide(NodeHttpClient.layerUndici))
NodeRuntime.runMain(Effect.provide(program, client))
