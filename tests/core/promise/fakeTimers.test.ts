/** The promise client in tests that fake the time, and never advance it. */
import { fileURLToPath } from "node:url"
import { Program } from "@berthkit/testing/Program"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { everyMethod } from "./everyMethod.ts"

const load = () => Promise.all([import("@berthkit/core/promise"), import("@berthkit/server/testing/promise")])

/** Each test loads its modules anew, as in a test file of its own. */
beforeEach(() => vi.resetModules())
afterEach(() => {
  vi.useRealTimers()
  vi.resetModules()
})

describe("with the fake timers of vitest", () => {
  it("every method settles when they are installed before the import", async () => {
    vi.useFakeTimers()
    expect((await everyMethod(...(await load()))).at(-1)).toBe("close of the server")
  })

  it("every method settles when they are installed after the import", async () => {
    const modules = await load()
    vi.useFakeTimers()
    expect((await everyMethod(...modules)).at(-1)).toBe("close of the server")
  })
})

describe("with the fake timers of node:test", () => {
  it("every method settles when they are installed before the import and after it", async () => {
    // Vitest marks the processes that it starts as part of a test with this variable.
    const { NODE_TEST_CONTEXT: _context, ...env } = process.env
    const cwd = fileURLToPath(new URL(".", import.meta.url))
    const args = ["--test", "--test-reporter=tap", "fakeTimers.node.ts"]
    await using node = new Program(process.execPath, args, { cwd, env })
    expect(await node.succeeded()).toMatch(/^# pass 2$.*^# fail 0$/ms)
  })
})
