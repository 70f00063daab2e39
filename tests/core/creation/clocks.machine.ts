/**
 * Creates with a key in processes whose wall clocks step. No process takes the key of a running one, and no second node is made. The
 * processes are real, but their `Date` is replaced.
 */
import { mkdtemp, rm } from "node:fs/promises"
import type { ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { isSoak } from "@berthkit/testing/chance"
import { HttpService } from "@berthkit/testing/HttpService"
import { Program } from "@berthkit/testing/Program"
import { assert, describe, it } from "@effect/vitest"

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** A service that answers a create when the test calls `answer`. */
const startService = async () => {
  const nodes: Array<object> = []
  const waiting: Array<ServerResponse> = []
  let posted = () => {}
  const firstPost = new Promise<void>((resolve) => (posted = resolve))
  const service = await HttpService.listen((request, response) => {
    const reply = (data: unknown) => response.end(JSON.stringify({ message: "Success", code: 200, data, errors: {} }))
    if (request.method === "POST") {
      nodes.push({ id: 100 + nodes.length, name: "node", created_at: new Date().toISOString() })
      waiting.push(response)
      posted()
      return
    }
    const id = /nodes\/(\d+)\//.exec(request.url!)?.[1]
    if (id !== undefined) reply(nodes[Number(id) - 100])
    else reply(new URL(request.url!, "http://x").searchParams.get("page_no") === "1" ? nodes : [])
  })
  return {
    url: service.url,
    nodes,
    firstPost,
    answer: () => {
      for (const response of waiting.splice(0)) {
        response.end(JSON.stringify({ message: "Success", code: 200, data: nodes[0], errors: {} }))
      }
    },
    close: () => service[Symbol.asyncDispose]()
  }
}

/** A process that steps its clock on a signal, or a process that starts after the step. */
const maker = (url: string, folder: string, clock: { CLOCK_STEP: string } | { CLOCK_AHEAD: string }) =>
  new Program(
    process.execPath,
    [
      "--import",
      fileURLToPath(import.meta.resolve("@berthkit/testing/steppedDate")),
      here("maker.ts"),
      url,
      "key",
      "token",
      folder,
      "1"
    ],
    { env: { ...process.env, ...clock } }
  )

const outcomeOf = async (maker: Program) => (JSON.parse(await maker.succeeded()) as { outcome: string }).outcome

const allSteps = {
  "a day back": -86_400_000,
  "ten minutes back": -600_000,
  "two hours on": 7_200_000,
  "a day on": 86_400_000
}

const steps = Object.entries(allSteps).filter((_, index) => isSoak || index % 2 === 0)

describe.concurrent("a create under a key, while the wall clock steps", () => {
  for (const [how, stepMillis] of steps) {
    it(`${how}: keeps its key from another process, which then gives the same node`, async () => {
      const service = await startService()
      const folder = await mkdtemp(join(tmpdir(), "berth-clocks-"))
      try {
        await using first = maker(service.url, folder, { CLOCK_STEP: String(stepMillis) })
        await service.firstPost
        first.signal("SIGUSR2")
        await using second = maker(service.url, folder, { CLOCK_AHEAD: String(stepMillis) })
        const outcomes = Promise.all([outcomeOf(first), outcomeOf(second)])
        // This is longer than the second process takes to see that the key is locked.
        await delay(4000)
        assert.lengthOf(service.nodes, 1)
        service.answer()
        assert.deepStrictEqual(await outcomes, ["created", "adopted"])
        assert.lengthOf(service.nodes, 1)
      } finally {
        await service.close()
        await rm(folder, { recursive: true, force: true })
      }
    })

    it(`${how}: and its process is killed, is finished by the next one with the same node`, async () => {
      const service = await startService()
      const folder = await mkdtemp(join(tmpdir(), "berth-clocks-"))
      try {
        await using first = maker(service.url, folder, { CLOCK_STEP: String(stepMillis) })
        await service.firstPost
        await first.kill()
        await using second = maker(service.url, folder, { CLOCK_AHEAD: String(stepMillis) })
        assert.strictEqual(await outcomeOf(second), "adopted")
        assert.lengthOf(service.nodes, 1)
      } finally {
        await service.close()
        await rm(folder, { recursive: true, force: true })
      }
    })
  }
})
