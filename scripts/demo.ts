// The demo: `pnpm demo` starts the mock service and the daemon, and takes one node through its whole life with `berth`. If
// BERTH_BASE_URL is set, it uses that account instead and only reads: it never changes a real account.
import { type ChildProcess, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { styleText } from "node:util"
import { bundle } from "./bundle.ts"

const binaries = { cli: "berth", server: "berth-server", watch: "berth-watch" } as const
type App = keyof typeof binaries

const path = (app: App) => fileURLToPath(new URL(`../apps/${app}/bin/${binaries[app]}.mjs`, import.meta.url))
/** Prints the beginning of a step: its title, and a sentence about what happens in it. */
const step = (title: string, sentence: string) => console.log(`\n${styleText("bold", title)}\n${sentence}`)

const running = new Set<ChildProcess>()

const start = (app: App, args: ReadonlyArray<string>, env: NodeJS.ProcessEnv, stdio: "shown" | "read") => {
  const child = spawn(process.execPath, [path(app), ...args], {
    env: { ...process.env, ...env },
    stdio: stdio === "shown" ? "inherit" : ["ignore", "pipe", "pipe"]
  })
  running.add(child)
  child.once("exit", () => running.delete(child))
  return child
}

/** Ends a process with SIGTERM. If it has not ended after 10 seconds, ends it with SIGKILL. */
const stop = async (child: ChildProcess) => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, "exit")
  child.kill("SIGTERM")
  const force = setTimeout(() => child.kill("SIGKILL"), 10_000)
  await exited
  clearTimeout(force)
}

const stopAll = () => Promise.all(Array.from(running, stop))

/** Waits for a promise. If it takes longer than `seconds`, fails with a sentence that begins with `failure`. */
const within = async <A>(seconds: number, failure: string, wait: Promise<A>): Promise<A> => {
  const limit = Promise.withResolvers<never>()
  const timer = setTimeout(() => limit.reject(new Error(`${failure} within ${seconds} seconds`)), seconds * 1000)
  try {
    return await Promise.race([wait, limit.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** How long a command may take. Waiting for a node takes about five seconds. */
const maxCommandSeconds = 60
/** How long a process may take to print its ready line or an event, or to end. */
const maxProcessSeconds = 30

/** Runs `berth ARGS`, and prints the command and its output. */
const show = async (env: NodeJS.ProcessEnv, ...args: ReadonlyArray<string>) => {
  const command = `berth ${args.join(" ")}`
  console.log(styleText("dim", `$ ${command}`))
  const [code, signal] = await within(
    maxCommandSeconds,
    `${command} did not end`,
    once(start("cli", args, env, "shown"), "exit")
  )
  if (code !== 0) throw new Error(`${command} exited with ${code ?? signal}`)
}

/** Runs `berth ARGS -o json`, prints nothing, and returns the parsed output. */
const read = async <A>(env: NodeJS.ProcessEnv, ...args: ReadonlyArray<string>): Promise<A> => {
  const child = start("cli", [...args, "-o", "json"], env, "read")
  child.stderr!.pipe(process.stderr)
  return JSON.parse(await within(maxCommandSeconds, `berth ${args.join(" ")} did not end`, text(child.stdout!)))
}

/** Collects the lines that a process prints. */
const linesOf = (name: string, stream: NodeJS.ReadableStream) => {
  const all: Array<string> = []
  const reader = createInterface(stream)
  const closed = once(reader, "close")
  const listeners = new Set<(line: string) => void>()
  reader.on("line", (line) => {
    all.push(line)
    for (const listener of listeners) listener(line)
  })

  /** The first value that `parse` finds in a line. `what` names the value in failures. */
  const first = <A>(what: string, parse: (line: string) => A | undefined): Promise<A> => {
    const found = Promise.withResolvers<A>()
    const listener = (line: string) => {
      const value = parse(line)
      if (value !== undefined) found.resolve(value)
    }
    listeners.add(listener)
    for (const line of all) listener(line)
    closed.then(() => found.reject(new Error(`${name} ended without a ${what}`)))
    return within(maxProcessSeconds, `${name} printed no ${what}`, found.promise).finally(() =>
      listeners.delete(listener)
    )
  }
  return { all, closed, first }
}

/** The object in a line of JSON; `undefined` for any other line. */
const parsed = <A>(line: string): Partial<A> | undefined => {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === "object" && value !== null ? (value as Partial<A>) : undefined
  } catch {
    return undefined
  }
}

interface Plan {
  readonly plan: string
  readonly vcpus: number
  readonly memoryMib: number
  readonly images: ReadonlyArray<string>
  readonly committedOptions: ReadonlyArray<{ readonly skuId: number }>
}

interface Event {
  readonly type: string
  readonly subject?: string
  readonly data: { readonly from?: string; readonly to?: string; readonly observedBetween: readonly [string, string] }
}

const showAccount = async () => {
  step("Your account", "BERTH_BASE_URL is set, so the demo uses that account. It only reads.")
  await show({}, "plan", "list", "--sort", "price")
  await show({}, "image", "saved")
  await show({}, "node", "list")
}

const showNodeLife = async () => {
  console.log(
    "The demo takes one node from create to delete on a mock service. It takes about 15 seconds and needs no account."
  )

  step(
    "1. The service",
    "berth-server imitates the cloud's interface: the same requests and replies, without the cost."
  )
  const account = `key/${randomUUID()}+=:token/${randomUUID()}+=`
  const server = start(
    "server",
    ["--port", "0", "--provisioning", "3s", "--termination", "2s", "--account", account],
    {},
    "read"
  )
  server.stderr!.pipe(process.stderr)
  const ready = await linesOf("berth-server", server.stdout!).first("ready line", (line) => {
    const { url, apiKey, accessToken } = parsed<Record<"url" | "apiKey" | "accessToken", string>>(line) ?? {}
    return url && apiKey && accessToken ? { url, apiKey, accessToken } : undefined
  })
  const env = {
    BERTH_BASE_URL: ready.url,
    BERTH_API_KEY: ready.apiKey,
    BERTH_ACCESS_TOKEN: ready.accessToken,
    // Use a separate folder, because the account's files are useless after the demo.
    XDG_STATE_HOME: stateFolder()
  }
  console.log(`It listens on ${ready.url}.`)

  step(
    "2. Plans and images",
    "A plan is a size with a price, and an image is an operating system for a plan. The cheapest come first."
  )
  await show(env, "plan", "list", "--sort", "price")
  const plans = await read<ReadonlyArray<Plan>>(env, "plan", "list", "--sort", "price")
  const plan = plans.find(({ committedOptions }) => committedOptions.length > 0)
  const image = plan?.images[0]
  if (plan === undefined || image === undefined) throw new Error("no plan has both a committed option and an image")
  await show(env, "image", "list", "--cpu", String(plan.vcpus), "--ram", String(Math.round(plan.memoryMib / 1024)))

  step("3. The daemon", "The service sends no events. berth-watch polls it and turns changes into events.")
  // Port 0 picks a free port, because another daemon may be running on this machine.
  const watchEnv = { ...env, BERTH_WATCH_LISTEN: "127.0.0.1:0" }
  const watch = start("watch", ["run", "--interval", "1s", "--fast-interval", "500ms"], watchEnv, "read")
  const events = linesOf("berth-watch", watch.stdout!)
  const daemon = await linesOf("berth-watch", watch.stderr!).first("ready line", (line) => {
    const { accounts, http } = parsed<{ readonly accounts: ReadonlyArray<string>; readonly http: string }>(line) ?? {}
    if (!Array.isArray(accounts)) console.error(line)
    return Array.isArray(accounts) ? { accounts, http } : undefined
  })
  await events.first("baseline event", (line) => line.includes("berth.watch.baseline") || undefined)
  console.log(`It watches the account ${daemon.accounts.join(", ")}. Its page is at ${daemon.http}.`)

  step("4. The life of a node", "The commands create a node, wait until it runs, set its commitment and delete it.")
  await show(env, "node", "create", "demo", "--plan", plan.plan, "--image", image, "--wait")
  // Wait for the daemon. Otherwise it might poll so late that it sees the node's end before it has seen the node run.
  await events.first("change to running", (line) => line.includes('"running"') || undefined)
  await show(env, "node", "list")
  const sku = String(plan.committedOptions[0]!.skuId)
  await show(env, "commitment", "set", "demo", "auto_renew", "--sku", sku, "--yes", "--max-commitment", "100000")
  await show(env, "node", "delete", "demo", "--yes", "--wait")
  await show(env, "node", "list")

  step(
    "5. The events",
    "berth-watch reports the same life as events. Each change happened between the two times, which are those of polls."
  )
  await events.first("deletion event", (line) => line.includes("berth.node.deleted") || undefined)
  await stop(watch)
  await within(maxProcessSeconds, "berth-watch did not end", events.closed)
  for (const line of events.all) {
    const { data, subject, type }: Event = JSON.parse(line)
    const change = data.from === undefined ? "" : ` from ${data.from} to ${data.to}`
    const [since, until] = data.observedBetween.map((instant) => instant.slice("2026-01-01T".length, -1))
    const node = subject === undefined ? "" : ` ${subject}`
    console.log(`${styleText("cyan", type)}${node}${change} (${since} to ${until} UTC)`)
  }
  await stop(server)
}

/** A folder for the files that the processes share, removed at exit. */
const stateFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-demo-"))
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

let ending = false

/** Stops all processes, then exits. If it is called a second time, it exits at once. */
const end = async (code: number) => {
  if (ending) process.exit(code)
  ending = true
  await stopAll()
  process.exit(code)
}

// No process outlives the demo, even if the demo fails.
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL")
})
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129]
] as const)
  process.on(signal, () => end(code))
// A reader that closes the pipe (`| head`) ends the demo without a failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => ending || end(error.code === "EPIPE" ? 0 : 1))
}

for (const app of ["cli", "server", "watch"] as const) await bundle(app)
try {
  await ((process.env["BERTH_BASE_URL"] ?? "").trim() === "" ? showNodeLife() : showAccount())
  if (!ending)
    console.log(
      `\n${styleText("green", "Done.")} All processes have ended. Try it yourself: "Sixty seconds" in README.md.`
    )
} catch (error) {
  if (!ending) console.error(`\nThe demo stopped: ${error instanceof Error ? error.message : String(error)}.`)
  process.exitCode = 1
} finally {
  await stopAll()
}
