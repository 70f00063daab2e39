import { createClient } from "@berthkit/core/promise"
import { startServer } from "@berthkit/server/testing/promise"
import { afterAll, expect, it } from "vitest"

const server = await startServer()
afterAll(() => server.close())

it("waits after a 429, and lists the nodes", async () => {
  await using world = await server.makeWorld({ scenario: "small" })
  await using client = createClient(world.connection)
  await world.arm([{ fault: "rate-limited", retryAfter: 1, times: 1 }])
  expect(await client.nodes.list().toArray()).toHaveLength(5)
  await world.verify({ expected: [{ operation: "nodes.list", status: 429, count: 1 }] })
})

it("finds the node of a create whose reply was lost", async () => {
  await using world = await server.makeWorld()
  await using client = createClient(world.connection)
  await world.arm([{ fault: "create-lost-reply", times: 1 }])
  const order = { name: "web", plan: "C-4VCPU-16RAM-100DISK", image: "Ubuntu-24.04" }
  const { node, outcome } = await client.nodes.create(order)
  expect([node.name, outcome]).toEqual(["web", "adopted"])
  await world.verify({ expected: [{ operation: "nodes.create", count: 1 }] })
})
