import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Program } from "@berthkit/testing/Program"
import { expect, it } from "vitest"

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")

it("the first test in the README of the server is the one that runs here, as printed", () => {
  const [, first] = /```ts\n(.*?)```/s.exec(read("../../apps/server/README.md"))!
  expect(first).toBe(read("examples/vitest.test.ts"))
})

it("a test with node:test passes, and ends by itself", async () => {
  // With this variable, Vitest marks the processes that it starts as part of a test.
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env
  await using node = new Program(process.execPath, ["--test", "--test-reporter=tap", "examples/node.ts"], {
    cwd: fileURLToPath(new URL(".", import.meta.url)),
    env
  })
  expect(await node.succeeded()).toMatch(/^# pass 1$.*^# fail 0$/ms)
})
