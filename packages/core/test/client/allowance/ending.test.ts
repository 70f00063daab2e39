import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ok } from "@berthkit/core/testing"
import { HttpService } from "@berthkit/testing/HttpService"
import { Program } from "@berthkit/testing/Program"
import { assert, it } from "vitest"

it("a program that shares its allowance through a state directory ends at once, though it never closes its client", async () => {
  const folder = await mkdtemp(join(tmpdir(), "berth-ending-"))
  await using service = await HttpService.listen((_, response) => {
    response.writeHead(200, { "ratelimit-limit": "9", "ratelimit-remaining": "8", "ratelimit-reset": "60" })
    response.end(ok([]).body)
  })
  const options = {
    baseUrl: service.url,
    apiKey: "key",
    accessToken: "token",
    stateDirectory: join(folder, "state")
  }
  const program = `
    import { createClient } from "@berthkit/core/promise"
    const client = createClient(${JSON.stringify(options)})
    console.log((await client.images.saved()).length)
  `
  try {
    // The program ends by itself before this limit, even on a busy machine.
    await using running = Program.ofSource(program, { cwd: import.meta.dirname, timeoutMillis: 120_000 })
    assert.strictEqual((await running.succeeded()).trim(), "0")
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
