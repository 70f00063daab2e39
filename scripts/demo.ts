// The tour: `pnpm demo` starts the mock service and the daemon, and takes one node through its whole life with the command line. With
// BERTH_BASE_URL and credentials set it talks to that account instead, and only reads: it never creates anything on a real account.
import { type ChildProcess, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
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

/** Runs `berth ARGS` in front of the audience. */
const show = async (env: NodeJS.ProcessEnv, ...args: ReadonlyArray<string>) => {
  console.log(styleText("dim", `$ berth ${args.join(" ")}`))
  const [code] = await once(start("cli", args, env, "shown"), "exit")
  if (code !== 0) throw new Error(`berth ${args.join(" ")} exited with ${code}`)
}

/** Runs `berth ARGS -o json` behind the scenes. */
const ask = async <A>(env: NodeJS.ProcessEnv, ...args: ReadonlyArray<string>): Promise<A> => {
  const child = start("cli", [...args, "-o", "json"], env, "read")
  child.stderr!.pipe(process.stderr)
  return JSON.parse(await text(child.stdout!))
}

/** The lines a process prints, as they come; `first` is the first of them. */
const lines = (stream: NodeJS.ReadableStream) => {
  const all: Array<string> = []
  const reader = createInterface(stream).on("line", (line) => all.push(line))
  return { all, first: once(reader, "line").then(([line]) => String(line)), closed: once(reader, "close") }
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
  const ready: { url: string; apiKey: string; accessToken: string } = JSON.parse(await lines(server.stdout!).first)
  const env = { BERTH_BASE_URL: ready.url, BERTH_API_KEY: ready.apiKey, BERTH_ACCESS_TOKEN: ready.accessToken }
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
  const events = lines(watch.stdout!)
  const told = lines(watch.stderr!)
  console.log(`berth-watch is ready: ${await told.first}`)

  title("The life of a node")
  await show(env, "node", "create", "--name", "demo", "--plan", plan.plan, "--image", image, "--wait")
  await show(env, "node", "list")
  const sku = String(plan.committedOptions[0]!.skuId)
  await show(env, "commitment", "set", "demo", "auto_renew", "--plan", sku)
  await show(env, "node", "delete", "demo", "--yes", "--wait")
  await show(env, "node", "list")

  title("What the daemon saw")
  const seesDeletion = async () => {
    while (!events.all.some((line) => line.includes("berth.node.deleted"))) {
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  await Promise.race([seesDeletion(), events.closed])
  await stop(watch)
  await events.closed
  for (const line of events.all) {
    const { data, subject, type }: Event = JSON.parse(line)
    const change = data.from === undefined ? "" : ` from ${data.from} to ${data.to}`
    const [since, until] = data.observedBetween
    console.log(`${styleText("cyan", type)} ${subject ?? ""}${change}, seen between ${since} and ${until}`)
  }
  await stop(server)
}

for (const app of ["cli", "server", "watch"] as const) await bundle(app)
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, async () => {
    await Promise.all(Array.from(running, stop))
    process.exit(signal === "SIGINT" ? 130 : 143)
  })
}
try {
  await (process.env["BERTH_BASE_URL"] === undefined ? tour() : readOnly())
  console.log(`\n${styleText("green", "Done.")} No process is left behind.`)
} catch (error) {
  console.error(`\nThe demo stopped: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
} finally {
  await Promise.all(Array.from(running, stop))
}
