import { afterAll, beforeAll, expect, jest, test } from "@jest/globals"
import { createClient } from "@berthkit/core"
import { startServer } from "@berthkit/server/testing/promise"

let server
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())

const clientOf = ({ accessToken, apiKey, baseUrl }) => createClient({ accessToken, apiKey, baseUrl })

test("a deleted node is gone after its termination", async () => {
  const world = await server.makeWorld({ scenario: "small", termination: "5 seconds" })
  await using client = clientOf(world)
  const [{ id }] = await client.nodes.list().toArray({ limit: 1 })
  await client.nodes.delete(id)
  expect((await client.nodes.get(id)).id).toBe(id)
  expect(await world.advanceToNextEvent()).toMatchObject([{ kind: "termination-ends", nodeId: id }])
  await expect(client.nodes.get(id)).rejects.toMatchObject({ name: "NodeNotFound", nodeId: id })
  await world.close()
})

test("a wait goes on when the test advances the time", async () => {
  jest.useFakeTimers()
  const world = await server.makeWorld({ provisioning: "10 seconds" })
  await using client = clientOf(world)
  const spec = { name: "web", plan: "C-4VCPU-16RAM-100DISK", image: "Ubuntu-24.04" }
  const { node } = await client.nodes.create(spec)

  const running = client.nodes.awaitStatus(node.id, "running")
  let isOver = false
  running.finally(() => (isOver = true))
  await world.advance("10 seconds")
  while (!isOver) {
    await jest.advanceTimersByTimeAsync(1000)
    // Replies need real time: while this one arrives, the reply to a poll can arrive, too.
    await client.nodes.get(node.id)
  }
  expect((await running).status).toBe("running")
  jest.useRealTimers()
  await world.close()
})
