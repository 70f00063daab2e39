/**
 * Starts the bundle of `berth-watch run` as a separate process on the mock service. Its heap is read through the inspector, so the daemon
 * needs no code for it, and a garbage collection can be forced before a reading.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Program } from "@berthkit/testing/Program"
import type { MockService } from "./mockService.ts"
import { binary, cpuMicros } from "./processes.ts"

export interface WatchDaemon {
  /** The address of its HTTP interface. */
  readonly url: string
  /** Path of its store. */
  readonly store: string
  /** The environment of a command with the same key, which shares its knowledge of the allowance. */
  readonly environment: Readonly<Record<string, string>>
  readonly cpuMicros: () => number
  /** The size of the used heap; with `isCollected`, only the reachable part. */
  readonly heapBytes: (options?: { readonly isCollected: boolean }) => Promise<number>
  readonly stop: () => Promise<void>
}

interface Environment {
  readonly BERTH_BASE_URL: string
  readonly BERTH_WATCH_LISTEN: string
  readonly BERTH_WATCH_STORE: string
}

interface DaemonOptions {
  readonly flags: ReadonlyArray<string>
  /** Sinks of its config as YAML; without them it writes its events to stdout. */
  readonly sinks?: string
  /** Whether its heap can be read. Default: false. */
  readonly isInspected?: boolean
}

/** Enough for two sweeps of all nodes on a busy machine. */
const maxStartMillis = 180_000

/** Returns once the nodes are known: its first event is in the store. */
export const startDaemon = async (mock: MockService, options: DaemonOptions): Promise<WatchDaemon> => {
  const folder = mkdtempSync(join(tmpdir(), "berth-bench-"))
  const store = join(folder, "watch.db")
  const environment = {
    BERTH_BASE_URL: mock.url,
    BERTH_API_KEY: "key",
    BERTH_ACCESS_TOKEN: "token",
    BERTH_WATCH_STORE: store,
    BERTH_WATCH_LISTEN: "127.0.0.1:0",
    XDG_STATE_HOME: folder
  }
  const config = join(folder, "watch.yml")
  if (options.sinks !== undefined) writeFileSync(config, configOf(environment, options.sinks))
  const inspector = options.isInspected === true ? ["--inspect=127.0.0.1:0"] : []
  const args = [...inspector, binary("watch", "berth-watch"), "run", ...options.flags]
  if (options.sinks !== undefined) args.push("--config", config)
  const program = new Program(process.execPath, args, { env: { ...process.env, ...environment } })
  const heap = options.isInspected === true ? await inspect(program) : undefined
  const { http } = JSON.parse(await program.printed(/^\{.*\}$/m, "stderr"))
  const until = performance.now() + maxStartMillis
  while (!(await isKnown(http))) {
    if (performance.now() > until) throw new Error(`the daemon does not know the nodes: ${program.output}`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  return {
    url: http,
    store,
    environment,
    cpuMicros: () => cpuMicros(program.child),
    heapBytes: async ({ isCollected } = { isCollected: false }) => {
      if (heap === undefined) throw new Error("the daemon is not inspected")
      if (isCollected) await heap.call("HeapProfiler.collectGarbage")
      return (await heap.call("Runtime.getHeapUsage")).usedSize
    },
    stop: async () => {
      heap?.close()
      await program.kill("SIGTERM")
      rmSync(folder, { recursive: true })
    }
  }
}

const configOf = ({ BERTH_BASE_URL, BERTH_WATCH_LISTEN, BERTH_WATCH_STORE }: Environment, sinks: string): string => `
store: ${BERTH_WATCH_STORE}
listen: ${BERTH_WATCH_LISTEN}
accounts:
  - name: default
    baseUrl: ${BERTH_BASE_URL}
    apiKey: { env: BERTH_API_KEY }
    accessToken: { env: BERTH_ACCESS_TOKEN }
sinks:
${sinks}`

/**
 * A failed request counts as not ready: while the daemon commits the first nodes, it may be blocked for so long that it closes a connection
 * in use.
 */
const isKnown = (url: string): Promise<boolean> =>
  fetch(new URL("/readyz", url)).then(
    ({ ok }) => ok,
    () => false
  )

/** Calls methods of the inspector's protocol. */
const inspect = async (program: Program) => {
  const [url] = /ws:\S+/.exec(await program.printed(/ws:\S+\n/, "stderr"))!
  const socket = new WebSocket(url)
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve)
    socket.addEventListener("error", () => reject(new Error("the inspector does not answer")))
  })
  let last = 0
  return {
    close: () => socket.close(),
    call: (method: string) =>
      new Promise<any>((resolve) => {
        const id = ++last
        const take = ({ data }: MessageEvent) => {
          const reply = JSON.parse(String(data))
          if (reply.id !== id) return
          socket.removeEventListener("message", take)
          resolve(reply.result)
        }
        socket.addEventListener("message", take)
        socket.send(JSON.stringify({ id, method }))
      })
  }
}

/** How many requests the mock has received. */
export const requestsOf = async (mock: MockService): Promise<number> => (await journalOf(mock, "limit=1")).count

/** How many of the last thousand requests it refused because of the rate limit. */
export const refusedBy = async (mock: MockService): Promise<number> =>
  (await journalOf(mock, "status=429&limit=1000")).requests.length

const journalOf = async (mock: MockService, query: string): Promise<any> => {
  // `ask` would not work: the server closes its only connection while a row measures.
  const reply = await fetch(new URL(`/_mock/worlds/default/requests?${query}`, mock.url))
  if (!reply.ok) throw new Error(`the journal was answered with ${reply.status}: ${await reply.text()}`)
  return reply.json()
}
