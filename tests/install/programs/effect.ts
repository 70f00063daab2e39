// A program with Effect that uses the client: once against the mock service in its own process, and once with scripted replies.
import * as Berth from "@berthkit/core/client/Berth"
import { Nodes } from "@berthkit/core/client/Nodes"
import * as Scripted from "@berthkit/core/testing"
import { BerthError } from "@berthkit/core"
import { TestServer } from "@berthkit/server/testing"
import { Effect, Layer, Stream } from "effect"

const Client = Layer.unwrap(
  TestServer.use(({ accessToken, apiKey, baseUrl }) =>
    Effect.succeed(Berth.layer({ baseUrl, credentials: { apiKey, accessToken } }))
  )
)

const program = Effect.gen(function* () {
  const nodes = yield* Nodes
  const { node } = yield* nodes.create({ name: "web", plan: "C-4VCPU-16RAM-100DISK", image: "Ubuntu-24.04" })
  const ids = yield* nodes.list().pipe(
    Stream.map(({ id }) => id),
    Stream.runCollect
  )
  const refused = yield* nodes.get(999_999 as typeof node.id).pipe(
    Effect.as("nothing"),
    Effect.catchReason("BerthError", "NodeNotFound", ({ nodeId }) => Effect.succeed(nodeId))
  )
  return { listed: ids.includes(node.id), refused }
})

const found = await Effect.runPromise(
  program.pipe(Effect.provide(Client.pipe(Layer.provideMerge(TestServer.layerHttpClient()))))
)
const scripted = await Scripted.createTestClient([Scripted.failure(404, "There is no node 7.")])
  .nodes.get(7)
  .catch((error: unknown) => error instanceof BerthError && error._tag)

console.log(JSON.stringify({ ...found, scripted }))
