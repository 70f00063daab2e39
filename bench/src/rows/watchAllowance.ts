/**
 * Measures a daemon that may use the whole rate limit, and a person at the command line with the same key. There are 100 000 nodes and
 * 600 requests per ten seconds, so a sweep takes seconds instead of an hour.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { Program } from "@berthkit/testing/Program"
import { type MockService, startMock } from "../mockService.ts"
import { binary } from "../processes.ts"
import { ratioAtMost, type Row, subjectAtMost } from "../Row.ts"
import { refusedBy, requestsOf, startDaemon } from "../watchDaemon.ts"

const nodes = 100_000
const rateLimit = "600/10s"
const flags = ["--interval", "1s", "--requests-per-hour", "216000"]

/** The pause between two commands. */
const pauseMillis = 500

/** Wall time of `berth node get ID`, which asks the service. */
const getMillis = async (mock: MockService, environment: Readonly<Record<string, string>>): Promise<number> => {
  const startedAt = performance.now()
  const args = ["node", "get", String(mock.ids[0]!), "--output", "json"]
  await Program.ofNode(binary("cli", "berth"), args, { env: { ...process.env, ...environment } }).succeeded()
  return performance.now() - startedAt
}

const gets = 9

/** The number of 429s, for either client. */
export const watchRefusedRow = async (): Promise<Row> => {
  const mock = await startMock(nodes, rateLimit)
  const daemon = await startDaemon(mock, { flags })
  return {
    name: "daemon and berth on one key: 429s",
    subject: "429",
    baseline: "all replies",
    unit: "requests",
    targets: [subjectAtMost(0)],
    pairs: 3,
    measure: async () => {
      const [requests, refused] = [await requestsOf(mock), await refusedBy(mock)]
      for (let i = 0; i < gets; i++) {
        await getMillis(mock, daemon.environment)
        await setTimeout(pauseMillis)
      }
      return { subject: (await refusedBy(mock)) - refused, baseline: (await requestsOf(mock)) - requests }
    },
    close: async () => {
      await daemon.stop()
      await mock.stop()
    }
  }
}

/** A command with the daemon's key, against the same command with its own key and service at the same time. */
export const watchCommandRow = async (): Promise<Row> => {
  const mock = await startMock(nodes, rateLimit)
  const daemon = await startDaemon(mock, { flags })
  const ownMock = await startMock(nodes, rateLimit)
  const folder = mkdtempSync(join(tmpdir(), "berth-bench-"))
  const own = { ...daemon.environment, BERTH_BASE_URL: ownMock.url, XDG_STATE_HOME: folder }
  await getMillis(ownMock, own)
  return {
    name: "berth node get beside a daemon",
    subject: "on its key",
    baseline: "on another key",
    unit: "ms",
    targets: [ratioAtMost(1.2)],
    pairs: gets,
    measure: async () => {
      await setTimeout(pauseMillis)
      const baseline = await getMillis(ownMock, own)
      return { subject: await getMillis(mock, daemon.environment), baseline }
    },
    close: async () => {
      await daemon.stop()
      await mock.stop()
      await ownMock.stop()
      rmSync(folder, { recursive: true })
    }
  }
}
