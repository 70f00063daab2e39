// A test file for `node --test`.
import assert from "node:assert/strict"
import { after, test } from "node:test"
import { startServer } from "@berthkit/server/testing/promise"

const server = await startServer()
after(() => server.close())

test("a list that fails once is asked for again", async () => {
  await using world = await server.makeWorld({ scenario: "small" })
  await world.arm([{ fault: "status", status: 503, times: 1, scope: { operation: "nodes.list" } }])
  const list = () =>
    fetch(`${world.baseUrl}/myaccount/api/v1/nodes/?apikey=${world.apiKey}`, {
      headers: { authorization: `Bearer ${world.accessToken}` }
    })
  assert.equal((await list()).status, 503)
  assert.equal((await list()).status, 200)
  await world.verify({ expected: [{ operation: "nodes.list", count: 2 }], noOthers: true })
})
