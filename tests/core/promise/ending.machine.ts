import type { ClientOptions } from "@berthkit/core/promise"
import { isSoak } from "@berthkit/testing/chance"
import { Program } from "@berthkit/testing/Program"
import { assert, describe, it } from "@effect/vitest"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { mockService } from "./Service.ts"

/** How a program uses its client before it forgets to close it. */
const uses: Readonly<Record<string, string>> = {
  "has listed": `for await (const _ of client.nodes.list()) {}`,
  "has left a list midway": `for await (const _ of client.nodes.list()) break`,
  "has failed": `await client.nodes.get(4711).catch(() => {})`,
  "has created a node": `const order = { name: "web", plan: "C-2VCPU-8RAM-50DISK", image: "Ubuntu-22.04" }
    await client.nodes.create(order, options.stateDirectory ? { key: "order-7" } : {})`,
  "has waited in vain": `await client.nodes.awaitStatus(4711, "running", { timeout: 300 }).catch(() => {})`,
  "has read the allowance": `for await (const _ of client.allowance.changes()) break`
}

const options = (folder: string): Readonly<Record<string, Partial<ClientOptions>>> => ({
  "no options": {},
  "a state directory": { stateDirectory: join(folder, "state") }
})

describe("a program that forgets to close its client", () => {
  for (const [index, name] of Object.keys(options("")).entries()) {
    const done = Object.entries(uses).filter((_, at) => isSoak || (at + index) % 3 !== 0)
    it(`ends by itself with ${name}, whatever it has done`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "berth-ending-"))
      chmodSync(folder, 0o700)
      try {
        await using service = await mockService({ scenario: { fleet: 250 } })
        const given = { ...service.options, ...options(folder)[name] }
        for (const [what, use] of done) {
          const program = `
            import { createClient } from "@berthkit/core/promise"
            const options = ${JSON.stringify(given)}
            const client = createClient(options)
            ${use}
            console.log(process.getActiveResourcesInfo().filter((name) => name !== "PipeWrap").join(" "))
          `
          await using running = Program.ofSource(program, { cwd: import.meta.dirname, timeoutMillis: 120_000 })

          const { code, stdout: active } = await running.ended

          assert.strictEqual(code, 0, `${what}: ${active}`)
          assert.notInclude(active, "Timeout", what)
        }
      } finally {
        rmSync(folder, { recursive: true })
      }
    })
  }
})
