import { createClient } from "@berthkit/core/promise"
import { startServer } from "@berthkit/server/testing/promise"
import { afterAll, expect, it } from "vitest"

const server = await startServer()
afterAll(() => server.close())

it("a node runs after ten seconds", async () => {
  await using world = await server.makeWorld({ provisioning: "10 seconds" })
  await using client = createClient(world.connection)
  const { node } = await client.nodes.create({ name: "web", plan: "C-4VCPU-16RAM-100DISK", image: "Ubuntu-24.04" })
  await world.advance("10 seconds")
  expect((await client.nodes.get(node.id)).status).toBe("running")
  await world.verify({ expected: [{ operation: "nodes.create", body: { name: "web" }, count: 1 }] })
})
