import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { assert, it } from "vitest"
import { success } from "../../ScriptedService.ts"

it("a program that shares its allowance through a file ends at once, though it never closes its client", async () => {
  const folder = await mkdtemp(join(tmpdir(), "berth-ending-"))
  const server = createServer((_, response) => {
    response.writeHead(200, { "ratelimit-limit": "9", "ratelimit-remaining": "8", "ratelimit-reset": "60" })
    response.end(success([]))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const options = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    apiKey: "key",
    accessToken: "token",
    allowanceFile: join(folder, "allowance.json")
  }
  const program = `
    import { createClient } from "@berth/core/promise"
    const client = createClient(${JSON.stringify(options)})
    console.log((await client.images.saved()).length)
  `
  try {
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
      cwd: import.meta.dirname,
      stdio: ["ignore", "pipe", "inherit"],
      // It ends by itself before this, on a busy machine too.
      timeout: 30_000
    })
    const [printed, [code]] = await Promise.all([text(child.stdout), once(child, "exit")])
    assert.strictEqual(code, 0, "it ended by itself")
    assert.strictEqual(printed.trim(), "0")
  } finally {
    server.closeAllConnections()
    server.close()
    await rm(folder, { recursive: true, force: true })
  }
}, 60_000)
