import { afterAll, beforeAll, expect, test } from "@jest/globals"
import { startServer } from "@berthkit/server/testing/promise"

let server
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())

test("a deleted node is gone after its termination", async () => {
  const world = await server.makeWorld({ scenario: "small", termination: "5 seconds" })
  const [{ id }] = await world.nodes()
  const send = (method) =>
    fetch(`${world.baseUrl}/myaccount/api/v1/nodes/${id}/?apikey=${world.apiKey}`, {
      method,
      headers: { authorization: `Bearer ${world.accessToken}` }
    })
  expect((await send("DELETE")).status).toBe(204)
  expect((await send("GET")).status).toBe(200)
  expect(await world.advanceToNextEvent()).toMatchObject([{ kind: "termination-ends", nodeId: id }])
  expect((await send("GET")).status).toBe(404)
  await world.close()
})
