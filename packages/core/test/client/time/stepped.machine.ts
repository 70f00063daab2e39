/**
 * Runs programs whose `Date` jumps, against a service in this process, whose clock does not jump.
 */
import { mkdtemp, rm } from "node:fs/promises"
import type { ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { ok } from "@berthkit/core/testing"
import { isSoak } from "@berthkit/testing/chance"
import { HttpService } from "@berthkit/testing/HttpService"
import { Program } from "@berthkit/testing/Program"
import { assert, it } from "vitest"
import { steps } from "../../steppingClock.ts"

const steppedDate = fileURLToPath(import.meta.resolve("@berthkit/testing/steppedDate"))
const program = fileURLToPath(new URL("steppedProgram.ts", import.meta.url))
const node = ok({ id: 7, name: "web", created_at: "2026-03-01T10:20:30Z", status: "created" }).body
/** A client waits at most two minutes because of a single reply. */
const resetSeconds = 110
const allowance = (remaining: number) => ({
  "ratelimit-limit": "100",
  "ratelimit-remaining": String(remaining),
  "ratelimit-reset": String(Math.ceil(Date.now() / 1000) + resetSeconds)
})

/** For each API key, the reply to the `count`th request with that key. */
const plays: Record<string, (response: ServerResponse, count: number) => void> = {
  breaker: (response) => response.writeHead(500).end(),
  pause: (response, count) =>
    count === 1 ? response.writeHead(429, { "retry-after": "3" }).end() : response.writeHead(200).end(node),
  spent: (response, count) => response.writeHead(200, allowance(count === 1 ? 0 : 90)).end(node),
  queue: () => {},
  wait: (response) => response.writeHead(200, allowance(50)).end(node)
}

const service = async () => {
  const counts = new Map<string, number>()
  const server = await HttpService.listen((request, response) => {
    const key = new URL(request.url!, "http://localhost").searchParams.get("apikey")!
    counts.set(key, (counts.get(key) ?? 0) + 1)
    plays[key]!(response, counts.get(key)!)
  })
  return { server, counts }
}

it.concurrent.each(steps.filter((_, index) => isSoak || index % 2 === 0))(
  "a program whose wall clock steps by %s waits as long as without the step, and sends a request at once where it waits for a reset",
  async (_, millis) => {
    const folder = await mkdtemp(join(tmpdir(), "berth-stepped-"))
    const { counts, server } = await service()
    try {
      const args = ["--import", steppedDate, program, server.url, String(millis), folder]
      await using running = new Program(process.execPath, args)
      const took = JSON.parse(await running.succeeded()) as Record<string, number>
      const isAbout = (play: string, seconds: number) => {
        assert.isAtLeast(took[play]!, seconds * 1000 - 1000, play)
        // A busy machine may be late. A wait that is longer by the step (ten minutes or more) would exceed the time limit of every test.
        if (isSoak) assert.isAtMost(took[play]!, seconds * 1000 + 60_000, play)
      }
      isAbout("breaker", 2)
      isAbout("pause", 3)
      isAbout("queue", 6)
      isAbout("wait", 3)
      if (isSoak) assert.isBelow(took["spent"]!, (resetSeconds - 10) * 1000, "it does not wait for the reset")
      assert.strictEqual(counts.get("pause"), 2)
      assert.strictEqual(counts.get("spent"), 4)
      assert.strictEqual(counts.get("queue"), 2)
    } finally {
      await server[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    }
  }
)
