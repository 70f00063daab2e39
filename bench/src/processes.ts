/**
 * Whole processes for the benchmark: the project's binaries and bare ones, what they cost, and a load to put on them.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { Agent, type IncomingMessage, request } from "node:http"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

/** Path of an app's binary. */
export const binary = (app: "cli" | "server" | "watch", name: string) =>
  fileURLToPath(new URL(`../../apps/${app}/bin/${name}.mjs`, import.meta.url))

/** Wall time of a whole run of `node ARGS`, in milliseconds. */
export const wallMillis = (args: ReadonlyArray<string>): number => {
  const startedAt = process.hrtime.bigint()
  const { status, stderr } = spawnSync(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] })
  if (status !== 0) throw new Error(`node ${args.join(" ")} exited with ${status}: ${stderr}`)
  return Number(process.hrtime.bigint() - startedAt) / 1e6
}

/** A process that serves HTTP, and the line it printed when it was ready. */
export interface ServerProcess {
  readonly ready: { readonly url: string }
  readonly cpuMicros: () => number
  readonly stop: () => Promise<void>
}

/** Starts `node ARGS` and waits for its ready line, JSON with a `url`. */
export const startServer = async (args: ReadonlyArray<string>, input?: string): Promise<ServerProcess> => {
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] })
  child.stdin.end(input ?? "")
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  const line = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).once("line", resolve)
    child.once("exit", (code) => reject(new Error(`node ${args.join(" ")} exited with ${code} before it was ready`)))
  })
  const stop = () => {
    child.kill("SIGTERM")
    return exited
  }
  return { ready: JSON.parse(line), cpuMicros: () => cpuMicros(child), stop }
}

/** Clock ticks per second in `/proc`; fixed on every Linux that Node runs on. */
const ticksPerSecond = 100

/** CPU time the process has used, user and system. Linux only. */
const cpuMicros = ({ pid }: ChildProcess): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return ((Number(fields[11]) + Number(fields[12])) * 1e6) / ticksPerSecond
}

/** A reply, whole. */
export interface Reply {
  readonly status: number
  readonly headers: ReadonlyArray<string>
  readonly body: Buffer
}

const agent = new Agent({ keepAlive: true, maxSockets: 8 })

/** Sends one request and reads the reply to its end. */
export const get = (url: URL, headers: Record<string, string>): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const read = (response: IncomingMessage) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.once("error", reject)
      response.once("end", () =>
        resolve({ status: response.statusCode!, headers: response.rawHeaders, body: Buffer.concat(chunks) })
      )
    }
    request(url, { agent, headers }, read).once("error", reject).end()
  })

/** CPU time per request of `server` under a load of `total` requests, 8 at a time, in microseconds. */
export const cpuPerRequest = async (
  server: ServerProcess,
  url: URL,
  headers: Record<string, string>,
  total: number
) => {
  let left = total
  const client = async () => {
    while (left-- > 0) {
      const { status } = await get(url, headers)
      if (status !== 200) throw new Error(`${url.pathname} answered ${status}`)
    }
  }
  const before = server.cpuMicros()
  await Promise.all(Array.from({ length: 8 }, client))
  return (server.cpuMicros() - before) / total
}
