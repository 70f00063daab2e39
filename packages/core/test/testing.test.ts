import { InvalidRequest, NodeNotFound } from "@berth/core/promise"
import { createTestClient, failure, layer, lost, nodeRecord, ok, scripted } from "@berth/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { Nodes } from "../src/client/Nodes.ts"
import { NodeId } from "../src/domain/Node.ts"
import { inTime } from "./inTime.ts"

describe("a scripted promise client", () => {
  it("is answered from the script and records the requests without the credentials", async () => {
    const service = scripted([ok(nodeRecord({ id: 7, name: "web" })), ok({}), failure(404, "There is no node 7.")])
    const client = createTestClient(service)
    assert.strictEqual((await client.nodes.get(7)).name, "web")
    await client.nodes.setCommitment(7, "auto_renew", { skuId: 3 })
    assert.instanceOf(await client.nodes.get(7).catch((error: unknown) => error), NodeNotFound)
    assert.deepStrictEqual(service.requests, [
      { method: "GET", path: "/nodes/7/", query: {}, body: undefined },
      {
        method: "POST",
        path: "/update_committed_node_status/",
        query: {},
        body: { vcn_id: 7, node_status: "auto_renew", committed_plan: 3 }
      },
      { method: "GET", path: "/nodes/7/", query: {}, body: undefined }
    ])
    await client.close()
  })

  it("may be answered by an asynchronous function", async () => {
    const client = createTestClient(async ({ path, query }) => {
      await Promise.resolve()
      return path === "/nodes/" && query["page_no"] === "1" ? ok([nodeRecord({ id: 1 })]) : ok([])
    })
    assert.lengthOf(await Array.fromAsync(client.nodes.list()), 1)
    await client.close()
  })

  it("refuses a request that the script has no reply for, and names it", async () => {
    const client = createTestClient([])
    const error: unknown = await client.nodes.delete(7).catch((error: unknown) => error)
    assert.instanceOf(error, InvalidRequest)
    assert.include(error.message, "The script has 0 replies, and none for request 1: DELETE /nodes/7/")
    await client.close()
  })

  it("loses the replies that the script marks as lost", async () => {
    const service = scripted([lost, ok(nodeRecord({ id: 7 }))])
    const client = createTestClient(service)
    assert.strictEqual((await client.nodes.get(7)).id, 7)
    assert.lengthOf(service.requests, 2)
    await client.close()
  })
})

describe("a scripted layer", () => {
  it.effect("provides the services of the client, whose waits run on the test's clock", () => {
    const service = scripted([failure(503, "Later.", {}, { "retry-after": "20" }), ok([nodeRecord({ id: 1 })]), ok([])])
    return Effect.gen(function* () {
      const nodes = yield* inTime(Stream.runCollect(Stream.unwrap(Nodes.useSync((nodes) => nodes.list()))))
      assert.deepStrictEqual(
        Array.from(nodes, ({ name }) => name),
        ["node-1"]
      )
      assert.lengthOf(service.requests, 3)
    }).pipe(Effect.provide(layer(service)))
  })

  it.effect("fails with the reasons of the client", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Nodes.use((nodes) => nodes.get(NodeId.make(7))))
      assert.strictEqual(error.reason._tag, "NodeNotFound")
    }).pipe(Effect.provide(layer([failure(404, "There is no node 7.")])))
  )
})
