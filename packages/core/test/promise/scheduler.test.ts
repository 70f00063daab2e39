import { AsyncLocalStorage } from "node:async_hooks"
import { fileURLToPath } from "node:url"
import { Program } from "@berthkit/testing/Program"
import { afterEach, expect, it, vi } from "vitest"
import { scheduler } from "../../src/promise/scheduler.ts"

const schedule = (task: () => void) => scheduler.makeDispatcher().scheduleTask(task, 0)

afterEach(() => vi.useRealTimers())

it("tasks run in their order while a test fakes the time", async () => {
  vi.useFakeTimers()
  const ran: Array<number> = []
  await new Promise<void>((resolve) => {
    for (const task of [1, 2, 3]) schedule(() => void ran.push(task))
    schedule(resolve)
    expect(ran).toEqual([])
  })
  expect(ran).toEqual([1, 2, 3])
})

it("a task runs in the context of the code that scheduled it", async () => {
  const caller = new AsyncLocalStorage<string>()
  const runsIn = (name: string) =>
    caller.run(name, () => new Promise((resolve) => schedule(() => resolve(caller.getStore()))))
  expect([await runsIn("first"), await runsIn("second")]).toEqual(["first", "second"])
})

it("a dispatcher that is flushed runs its tasks at once, and no second time", async () => {
  const ran: Array<string> = []
  const dispatcher = scheduler.makeDispatcher()
  dispatcher.scheduleTask(() => void ran.push("flushed"), 0)
  dispatcher.flush()
  expect(ran).toEqual(["flushed"])
  await new Promise<void>((resolve) => schedule(resolve))
  expect(ran).toEqual(["flushed"])
})

it.each(["undefined", "class { constructor() { throw new Error('not supported here') } }"])(
  "tasks run in their order where the channel is %s",
  async (channel) => {
    const module = JSON.stringify(fileURLToPath(new URL("../../src/promise/scheduler.ts", import.meta.url)))
    const source = `
      globalThis.MessageChannel = ${channel}
      process.getBuiltinModule = () => undefined
      const { scheduler } = await import(${module})
      for (const task of [1, 2, 3]) scheduler.makeDispatcher().scheduleTask(() => console.log(task), 0)`
    await using node = new Program(process.execPath, ["--input-type=module", "--eval", source], {})
    expect(await node.succeeded()).toBe("1\n2\n3\n")
  }
)

it("a task that waits keeps the process alive; when all have run, nothing does", async () => {
  const module = JSON.stringify(fileURLToPath(new URL("../../src/promise/scheduler.ts", import.meta.url)))
  const source = `
    import { scheduler } from ${module}
    scheduler.makeDispatcher().scheduleTask(() => console.log("ran"), 0)`
  await using node = new Program(process.execPath, ["--input-type=module", "--eval", source], {})
  expect(await node.succeeded()).toBe("ran\n")
})
