/**
 * Measures `berth` as a whole process: help and completions against an empty Node process, one page of nodes against a stand-in for a
 * cloud's own command line, and a long list against a short one.
 */
import { spawnSync } from "node:child_process"
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { certificateFile } from "@berthkit/testing/certificate"
import { headers, type MockService, startMock } from "../mockService.ts"
import { ask, binary, startServer } from "../processes.ts"
import { ratioAtMost, type Row, subjectAtMost, Unmeasurable } from "../Row.ts"
import { tool } from "../tools.ts"

const berth = binary("cli", "berth")
const empty = ["-e", "0"]

/** Runs `node ARGS` to its end, as the user with this id if there is one. */
const run = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}, user?: number) => {
  const startedAt = process.hrtime.bigint()
  const { status, stderr } = spawnSync(process.execPath, args, {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "ignore", "pipe"],
    encoding: "utf8",
    ...(user !== undefined && { uid: user, gid: user })
  })
  const millis = Number(process.hrtime.bigint() - startedAt) / 1e6
  if (status !== 0) throw new Error(`node ${args.join(" ")} exited with ${status}: ${stderr}`)
  return { millis, stderr }
}

/** A separate home folder for a row, because a run uses what earlier runs have cached. */
const home = () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-bench-"))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

const account = (url: string, folder: string) => ({
  HOME: folder,
  BERTH_BASE_URL: url,
  BERTH_API_KEY: "key",
  BERTH_ACCESS_TOKEN: "token"
})

/** `berth --help` from start to exit. */
export const helpRow = (): Row => {
  run([berth, "--help"])
  return {
    name: "help",
    subject: "berth --help",
    baseline: "node -e 0",
    unit: "ms",
    targets: [ratioAtMost(1.2)],
    pairs: 21,
    measure: () => ({ subject: run([berth, "--help"]).millis, baseline: run(empty).millis })
  }
}

const standIn = () => [
  fileURLToPath(new URL("../clients/standIn.mjs", import.meta.url)),
  tool("commander"),
  tool("axios")
]

/** One page of nodes as a table. */
export const nodeListRow = async (): Promise<Row> => {
  // This comes first, because it may fail: a service that is left running would keep the benchmark from ending.
  const other = standIn()
  const mock = await startMock(40)
  const { folder, remove } = home()
  const env = account(mock.url, folder)
  const list = () => run([berth, "node", "list"], env).millis
  list()
  return {
    name: "node list",
    subject: "berth node list, 40 nodes",
    baseline: "stand-in (commander, axios)",
    unit: "ms",
    targets: [ratioAtMost(0.75)],
    pairs: 31,
    measure: () => ({ subject: list(), baseline: run([...other, mock.url, "node", "list"]).millis }),
    close: async () => {
      remove()
      await mock.stop()
    }
  }
}

const distance = fileURLToPath(new URL("../clients/distance.ts", import.meta.url))

const wordsOf = {
  list: () => ["node", "list"],
  get: ({ ids: [id] }: MockService) => ["node", "get", String(id)],
  create: () => ["node", "create", "web", "--plan", "C-4VCPU-16RAM-100DISK", "--image", "Ubuntu-24.04"]
}

/** A command over TLS to a service at a round trip of 60 ms. */
export const distantRow = async (verb: keyof typeof wordsOf): Promise<Row> => {
  const other = standIn()
  const mock = await startMock(40)
  const { stop, url } = await startServer([distance, new URL(mock.url).port, "30"])
  const { folder, remove } = home()
  const env = { ...account(url, folder), NODE_EXTRA_CA_CERTS: certificateFile }
  const words = wordsOf[verb](mock)
  const command = () => run([berth, ...words], env).millis
  command()
  return {
    name: `node ${verb} over TLS, 60 ms`,
    subject: `berth node ${verb}, 40 nodes`,
    baseline: "stand-in (commander, axios)",
    unit: "ms",
    targets: [ratioAtMost(0.95)],
    pairs: 15,
    measure: () => ({ subject: command(), baseline: run([...other, url, ...words], env).millis }),
    close: async () => {
      remove()
      await stop()
      await mock.stop()
    }
  }
}

/** `nobody` on most systems. */
const otherUser = 65_534

/**
 * A list as a user who cannot write the package's folder. With `isCold` the user's cache is empty at each start, as on the first run after
 * an install.
 */
export const otherUserRow = async (isCold: boolean): Promise<Row> => {
  // Root of a user namespace may have no other user.
  const { status } = spawnSync(process.execPath, empty, { uid: otherUser, gid: otherUser })
  if (status !== 0) throw new Unmeasurable("this process cannot start a program as another user")
  const other = standIn()
  const mock = await startMock(40)
  const { folder, remove } = home()
  const installed = join(folder, "installed")
  for (const part of ["bin", "dist", "package.json"]) {
    cpSync(join(dirname(dirname(berth)), part), join(installed, part), { recursive: true })
  }
  rmSync(join(installed, "dist/compiled"), { recursive: true, force: true })
  const own = join(folder, "home")
  const env = account(mock.url, own)
  const emptyHome = () => {
    rmSync(own, { recursive: true, force: true })
    mkdirSync(own)
    chownSync(own, otherUser, otherUser)
  }
  chmodSync(folder, 0o755)
  emptyHome()
  const command = [join(installed, "bin/berth.mjs"), "node", "list"]
  const list = () => {
    if (isCold) emptyHome()
    return run(command, env, otherUser).millis
  }
  list()
  return {
    name: isCold ? "node list as another user, cold cache" : "node list as another user",
    subject: "berth node list, 40 nodes",
    baseline: "stand-in (commander, axios)",
    unit: "ms",
    targets: isCold ? [] : [ratioAtMost(0.95)],
    pairs: 15,
    measure: () => ({ subject: list(), baseline: run([...other, mock.url, "node", "list"]).millis }),
    close: async () => {
      remove()
      await mock.stop()
    }
  }
}

/** The plan of a fleet of 20. It reads the list and the prices. */
export const applyRow = async (): Promise<Row> => {
  const mock = await startMock(20)
  const { folder, remove } = home()
  const env = account(mock.url, folder)
  const file = join(folder, "fleet.yaml")
  writeFileSync(file, "fleet: bench\nnodes:\n  web: { count: 20, plan: C-2VCPU-8RAM-50DISK, image: Ubuntu-24.04 }\n")
  const plan = () => run([berth, "apply", "--dry-run", "-f", file], env).millis
  const list = () => run([berth, "node", "list"], env).millis
  plan()
  list()
  return {
    name: "apply --dry-run",
    subject: "berth apply --dry-run, 20 members",
    baseline: "berth node list, 20 nodes",
    unit: "ms",
    targets: [ratioAtMost(1.2)],
    pairs: 31,
    measure: () => ({ subject: plan(), baseline: list() }),
    close: async () => {
      remove()
      await mock.stop()
    }
  }
}

/** Gets a node by name, for which the whole list must be read. */
export const nameRow = async (count: number): Promise<Row> => {
  const mock = await startMock(count)
  const { folder, remove } = home()
  const env = account(mock.url, folder)
  const get = (node: string) => run([berth, "node", "get", node, "-o", "id"], env).millis
  const list = await ask(mock.at("/nodes/?per_page=1"), { headers })
  const [first] = JSON.parse(list.body.toString()).data
  get(first.name)
  return {
    name: `name of ${count}`,
    subject: `a name among ${count} nodes`,
    baseline: "berth --version",
    unit: "ms",
    targets: [],
    pairs: 9,
    measure: () => ({ subject: get(first.name), baseline: run([berth, "--version"]).millis }),
    close: async () => {
      remove()
      await mock.stop()
    }
  }
}

/** The time that a completion with node names takes beyond an empty process. */
export const completionRow = async (): Promise<Row> => {
  const mock = await startMock(200)
  const { folder, remove } = home()
  const env = account(mock.url, folder)
  const complete = () => run([berth, "__complete", "zsh", "--", "node", "get", ""], env).millis
  complete()
  return {
    name: "completion",
    subject: "names of 200 nodes, above node -e 0",
    baseline: "node -e 0",
    unit: "ms",
    targets: [subjectAtMost(60)],
    pairs: 21,
    measure: () => {
      const baseline = run(empty).millis
      return { subject: complete() - baseline, baseline }
    },
    close: async () => {
      remove()
      await mock.stop()
    }
  }
}

/**
 * Prints the peak resident memory of the process on stderr when it ends, in KiB. Linux only. `maxRSS` is not suitable, because it is the
 * parent's value if that is larger.
 */
const reportPeak = `data:text/javascript,${encodeURIComponent(
  `import { readFileSync } from "node:fs"
  const peak = () => /VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]
  process.on("exit", () => process.stderr.write(peak()))`
)}`

/** Peak memory of a long list as NDJSON. */
export const streamRow = async (): Promise<Row> => {
  const long = await startMock(10_000)
  const short = await startMock(100)
  const { folder, remove } = home()
  const peak = (url: string) =>
    Number(run(["--import", reportPeak, berth, "node", "list", "-o", "ndjson"], account(url, folder)).stderr) / 1024
  peak(long.url)
  return {
    name: "stream",
    subject: "10 000 nodes as NDJSON",
    baseline: "100 nodes as NDJSON",
    unit: "MiB",
    targets: [ratioAtMost(1.25)],
    pairs: 5,
    measure: () => ({ subject: peak(long.url), baseline: peak(short.url) }),
    close: async () => {
      remove()
      await long.stop()
      await short.stop()
    }
  }
}
