/**
 * Runs whole processes for the benchmark, the project's binaries and others, and measures their cost.
 */
import { type ChildProcess, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { Agent, type IncomingMessage, request } from "node:http"
import { fileURLToPath } from "node:url"
import { Program } from "@berthkit/testing/Program"

/** Path of an app's binary. */
export const binary = (app: "cli" | "server" | "watch", name: string) =>
  fileURLToPath(new URL(`../../apps/${app}/bin/${name}.mjs`, import.meta.url))

/** Wall time of a whole run of `node ARGS`, or of another program, in milliseconds. */
export const wallMillis = (args: ReadonlyArray<string>, program = process.execPath): number => {
  const startedAt = process.hrtime.bigint()
  const { status, stderr } = spawnSync(program, args, { stdio: ["ignore", "ignore", "pipe"] })
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} exited with ${status}: ${stderr}`)
  return Number(process.hrtime.bigint() - startedAt) / 1e6
}

/** A process that serves HTTP. */
export interface ServerProcess {
  readonly url: string
  /** From its start to its ready line. */
  readonly readyMillis: number
  /** CPU time it has used, user and system. */
  readonly cpuMicros: () => number
  /** Resident memory. */
  readonly residentBytes: () => number
  readonly stop: () => Promise<void>
}

/** The line in which a server reports its URL. */
interface Ready {
  readonly line: RegExp
  readonly urlOf: (line: string) => string
}

/** A line of JSON with a `url`. */
const readyJson: Ready = { line: /^.*\n/, urlOf: (line) => JSON.parse(line).url }

/** Starts `node ARGS` and waits for its ready line. */
export const startServer = async (
  [path, ...args]: readonly [string, ...Array<string>],
  { input = "", ready = readyJson }: { readonly input?: string; readonly ready?: Ready } = {}
): Promise<ServerProcess> => {
  const startedAt = process.hrtime.bigint()
  const program = Program.ofNode(path, args, { input })
  const url = ready.urlOf(await program.printed(ready.line))
  return {
    url,
    readyMillis: Number(process.hrtime.bigint() - startedAt) / 1e6,
    cpuMicros: () => cpuMicros(program.child),
    residentBytes: () => residentBytes(program.child),
    stop: async () => {
      await program.kill("SIGTERM")
    }
  }
}

/** Clock ticks per second in `/proc`; fixed on every Linux that Node runs on. */
const ticksPerSecond = 100

/** Linux only. A tick is 10 ms, so a measurement must last for many of them. */
export const cpuMicros = ({ pid }: ChildProcess): number => {
  const [user, system] = ticksOf(pid!)
  return ((user + system) * 1e6) / ticksPerSecond
}

/** The CPU time of a process, of its children, and of those that have ended. Linux only. */
export const familyMicros = (pid: number): number => {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean)
  const own = ticksOf(pid).reduce((sum, ticks) => sum + ticks)
  const theirs = children.map((child) => {
    try {
      const [user, system] = ticksOf(Number(child))
      return user + system
    } catch {
      // The process has just ended, so the next reading includes it among the ended ones.
      return 0
    }
  })
  return (theirs.reduce((sum, ticks) => sum + ticks, own) * 1e6) / ticksPerSecond
}

/** User and system time, then those of the children that have ended. */
const ticksOf = (pid: number): readonly [number, number, number, number] => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return [Number(fields[11]), Number(fields[12]), Number(fields[13]), Number(fields[14])]
}

/** Linux only. */
export const residentBytes = ({ pid }: ChildProcess): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) * 1024

/** A complete reply. */
export interface Reply {
  readonly status: number
  readonly headers: ReadonlyArray<string>
  readonly body: Buffer
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** Sends one request and reads the reply to its end. */
export const ask = (
  url: URL,
  { body, headers, method = "GET" }: { headers?: Record<string, string>; method?: string; body?: string } = {}
): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const read = (response: IncomingMessage) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.once("error", reject)
      response.once("end", () =>
        resolve({ status: response.statusCode!, headers: response.rawHeaders, body: Buffer.concat(chunks) })
      )
    }
    request(url, { agent, method, headers: headers ?? {} }, read)
      .once("error", reject)
      .end(body)
  })
