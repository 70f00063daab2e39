// The tour: `pnpm demo` starts the mock service and the daemon, and takes one node through its whole life with the command line. With
// BERTH_BASE_URL and credentials set it talks to that account instead, and only reads: it never creates anything on a real account.
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
const title = (words: string) => console.log(`\n${styleText("bold", words)}`)

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

/** Ends a process the polite way, and the other way when it does not go. */
const stop = async (child: ChildProcess) => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, "exit")
  child.kill("SIGTERM")
  const force = setTimeout(() => child.kill("SIGKILL"), 10_000)
  await gone
  clearTimeout(force)
}

const stopAll = () => Promise.all(Array.from(running, stop))

/** Waits, but not for ever: fails when `wait` takes more than `seconds`. */
const within = async <A>(seconds: number, what: string, wait: Promise<A>): Promise<A> => {
  const limit = Promise.withResolvers<never>()
  const timer = setTimeout(() => limit.reject(new Error(`${what} took more than ${seconds} seconds`)), seconds * 1000)
  try {
    return await Promise.race([wait, limit.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** The longest any command of the tour may take, in seconds; waiting for a node is a matter of five. */
const commandSeconds = 60
/** The longest a process may take to say that it is ready, and to tell what it saw; in seconds. */
const tellSeconds = 30

/** Runs `berth ARGS` in front of the audience. */
const show = async (env: NodeJS.ProcessEnv, ...args: ReadonlyArray<string>) => {
  const command = `berth ${args.join(" ")}`
  console.log(styleText("dim", `$ ${command}`))
  const [code, signal] = await within(commandSeconds, command, once(start("cli", args, env, "shown"), "exit"))
  if (code !== 0) throw new Error(`${command} exited with ${code ?? signal}`)
}

/** Runs `berth ARGS -o json` behind the scenes. */
const ask = async <A>(env: NodeJS.ProcessEnv, ...args: ReadonlyArray<string>): Promise<A> => {
  const child = start("cli", [...args, "-o", "json"], env, "read")
  child.stderr!.pipe(process.stderr)
  return JSON.parse(await within(commandSeconds, `berth ${args.join(" ")}`, text(child.stdout!)))
}

/** The lines a process prints, as they come. */
const linesOf = (name: string, stream: NodeJS.ReadableStream) => {
  const all: Array<string> = []
  const reader = createInterface(stream)
  const closed = once(reader, "close")
  const news = new Set<(line: string) => void>()
  reader.on("line", (line) => {
    all.push(line)
    for (const tell of news) tell(line)
  })

  /** The first thing that `read` makes of a line; fails when the lines end before that. */
  const first = <A>(what: string, read: (line: string) => A | undefined): Promise<A> => {
    const found = Promise.withResolvers<A>()
    const look = (line: string) => {
      const value = read(line)
      if (value !== undefined) found.resolve(value)
    }
    news.add(look)
    for (const line of all) look(line)
    closed.then(() => found.reject(new Error(`${name} ended before ${what}`)))
    return within(tellSeconds, `${name}: the time before ${what}`, found.promise).finally(() => news.delete(look))
  }
  return { all, closed, first }
}

/** What a line of JSON says; nothing for any other line. */
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

const readOnly = async () => {
  title("Your account (reading only)")
  await show({}, "plan", "list", "--sort", "price")
  await show({}, "image", "saved")
  await show({}, "node", "list")
}

const tour = async () => {
  title("A service to talk to")
  const account = `key/${randomUUID()}+=:token/${randomUUID()}+=`
  const server = start(
    "server",
    ["--port", "0", "--provisioning", "3s", "--termination", "2s", "--account", account],
    {},
    "read"
  )
  server.stderr!.pipe(process.stderr)
  const ready = await linesOf("berth-server", server.stdout!).first("it was ready", (line) => {
    const { url, apiKey, accessToken } = parsed<Record<"url" | "apiKey" | "accessToken", string>>(line) ?? {}
    return url && apiKey && accessToken ? { url, apiKey, accessToken } : undefined
  })
  const env = {
    BERTH_BASE_URL: ready.url,
    BERTH_API_KEY: ready.apiKey,
    BERTH_ACCESS_TOKEN: ready.accessToken,
    // Nobody will ask for this account again.
    XDG_STATE_HOME: stateFolder()
  }
  console.log(`berth-server answers at ${ready.url}`)

  title("What there is, and what it costs")
  await show(env, "plan", "list", "--sort", "price")
  const plans = await ask<ReadonlyArray<Plan>>(env, "plan", "list", "--sort", "price")
  const plan = plans.find(({ committedOptions }) => committedOptions.length > 0)
  const image = plan?.images[0]
  if (plan === undefined || image === undefined) throw new Error("no plan with a committed option and an image")
  await show(env, "image", "list", "--cpu", String(plan.vcpus), "--ram", String(Math.round(plan.memoryMib / 1024)))

  title("A daemon that tells what changes")
  const watch = start("watch", ["run", "--interval", "1s", "--fast-interval", "500ms"], env, "read")
  const events = linesOf("berth-watch", watch.stdout!)
  const accounts = await linesOf("berth-watch", watch.stderr!).first("it was ready", (line) => {
    const { accounts } = parsed<{ readonly accounts: ReadonlyArray<string> }>(line) ?? {}
    if (!Array.isArray(accounts)) console.error(line)
    return accounts
  })
  console.log(`berth-watch looks after the account ${accounts.join(", ")}`)

  title("The life of a node")
  await show(env, "node", "create", "--name", "demo", "--plan", plan.plan, "--image", image, "--wait")
  await show(env, "node", "list")
  const sku = String(plan.committedOptions[0]!.skuId)
  await show(env, "commitment", "set", "demo", "auto_renew", "--plan", sku)
  await show(env, "node", "delete", "demo", "--yes", "--wait")
  await show(env, "node", "list")

  title("What the daemon saw")
  await events.first("it told the deletion", (line) => line.includes("berth.node.deleted") || undefined)
  await stop(watch)
  await within(tellSeconds, "the end of berth-watch", events.closed)
  for (const line of events.all) {
    const { data, subject, type }: Event = JSON.parse(line)
    const change = data.from === undefined ? "" : ` from ${data.from} to ${data.to}`
    const [since, until] = data.observedBetween
    const what = subject === undefined ? "" : ` ${subject}`
    console.log(`${styleText("cyan", type)}${what}${change}, seen between ${since} and ${until}`)
  }
  await stop(server)
}

/** A folder for what the processes of the tour share, gone with it. */
const stateFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-demo-"))
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

let ending = false

/** Stops everybody, and ends; at once when asked again. */
const end = async (code: number) => {
  if (ending) process.exit(code)
  ending = true
  await stopAll()
  process.exit(code)
}

// Whatever ends the demo, nobody it started outlives it.
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL")
})
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129]
] as const)
  process.on(signal, () => end(code))
// A reader that has seen enough (`| head`) is no failure; it ends the tour all the same.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => ending || end(error.code === "EPIPE" ? 0 : 1))
}

for (const app of ["cli", "server", "watch"] as const) await bundle(app)
try {
  await ((process.env["BERTH_BASE_URL"] ?? "").trim() === "" ? tour() : readOnly())
  if (!ending) console.log(`\n${styleText("green", "Done.")} No process is left behind.`)
} catch (error) {
  if (!ending) console.error(`\nThe demo stopped: ${error instanceof Error ? error.message : String(error)}.`)
  process.exitCode = 1
} finally {
  await stopAll()
}
