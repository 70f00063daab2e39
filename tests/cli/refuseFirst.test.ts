/**
 * Runs every changing command with unsuitable output flags. Either the command is refused before it sends or stores anything, or it makes
 * the change and prints it. No command that has changed something ends with a usage error. The test reads the tree of commands, so a new
 * command must be added here or listed as one that changes nothing.
 */
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PassThrough } from "node:stream"
import { TestServer } from "@berthkit/server/testing"
import { isNoun } from "@berthkit/cli/commandTree"
import { tree } from "@berthkit/cli/commands"
import { assert, it, layer } from "@effect/vitest"
import { Clock, Context, Effect, Layer, type Scope } from "effect"
import { inDialect } from "../account.ts"
import { berth, settings } from "./berth.ts"
import { invoke } from "./invoke.ts"
import { fleetArgs } from "./matrix/fleetFile.ts"
import { startAgent } from "./mcp/Agent.ts"

const order = ["--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04"]
const body = JSON.stringify({ name: "raw", region: "ncr", plan: order[1], image: order[3] })

/** A command line that changes something named `own`. `needs` has the suffixes of the names of nodes that must exist. */
interface Change {
  readonly command: string
  readonly needs?: ReadonlyArray<string>
  /** Set if the command uses a fleet file. `made`: the nodes of the file must exist. */
  readonly isFleet?: "new" | "made"
  readonly args: (own: string) => ReadonlyArray<string>
  /** Prepares what else must exist. */
  readonly setUp?: (own: string, account: Account) => Effect.Effect<unknown, never, TestServer | Scope.Scope>
  /** Whether the command needs a separate process, because it reads stdin. */
  readonly isProcess?: true
  /** Whether the command never changes anything here, because it has nobody to ask. */
  readonly isAsking?: true
}

type Account = Readonly<Record<string, string | undefined>> & { readonly XDG_STATE_HOME: string }

/** Proposes a create, and stores the proposal's id in the state folder, where `approve` finds it. */
const proposed = (own: string, account: Account) =>
  Effect.gen(function* () {
    const agent = yield* startAgent(["--allow", "create"], { env: account })
    const given = { action: "create", name: own, plan: order[1], image: order[3] }
    const { structuredContent } = yield* Effect.promise(() => agent.call("propose", given))
    proposalOf.set(own, String(structuredContent["id"]))
  })
const proposalOf = new Map<string, string>()

/** Keeps the node of a run. The node's paid hour has been over for long. */
const overdue = (own: string, env: Account) =>
  Effect.gen(function* () {
    yield* invoke(["run", "--name", own, ...order, "--reuse", "--", "true"], { env })
    const wallMillis = (yield* Clock.currentTimeMillis) - 7_200_000
    for (const path of globSync(join(env.XDG_STATE_HOME, "**/records/lease/*.json"))) {
      const long = { wallMillis, bootMillis: 0, bootClock: null }
      writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), begunAt: long, keptSince: long }))
    }
  })

const changes: ReadonlyArray<Change> = [
  { command: "node create", args: (own) => [own, ...order] },
  { command: "node create", args: (own) => [own, ...order, "--count", "2", "--yes"] },
  { command: "node create", args: (own) => [own, ...order, "--if-absent"] },
  { command: "node delete", needs: [""], args: (own) => [own, "--yes"] },
  { command: "node delete", needs: ["-1", "-2"], args: (own) => [`${own}-*`, "--yes"] },
  { command: "commitment set", needs: [""], args: (own) => [own, "auto_terminate", "--yes"] },
  { command: "apply", isFleet: "new", args: () => ["--yes"] },
  { command: "destroy", isFleet: "made", args: () => ["--yes"] },
  { command: "api", args: () => ["POST", "/nodes/", "-d", body] },
  { command: "run", args: (own) => ["--name", own, ...order, "--", "true"] },
  { command: "reap", args: () => [], setUp: overdue },
  { command: "fleet adopt", needs: [""], isFleet: "new", args: (own) => [own, "--as", "web-1"] },
  { command: "fleet forget", isFleet: "made", args: () => ["web-1"] },
  { command: "approve", args: (own) => [proposalOf.get(own)!], setUp: proposed, isAsking: true },
  { command: "mcp", args: () => ["--allow", "create,delete,commit"], isProcess: true, isAsking: true }
]

/** These commands change nothing at the service, and nothing that berth stores about its nodes. */
const changeNothing = [
  "node list, node get, node watch, node wait, node ssh, node ip, plan list, plan get, image list, image saved",
  "commitment get, limits, cost, history, doctor, diff, fleet list, inventory, ssh-config, schema, completion",
  "state migrate, state accept",
  "auth login, auth status, auth token, auth logout, profile list, profile show, profile use, profile remove"
].flatMap((some) => some.split(", "))

it("every command is one that changes something here, or is known to change nothing", () => {
  const paths = tree.flatMap((entry) =>
    isNoun(entry) ? entry.verbs.map(({ name }) => `${entry.name} ${name}`) : [entry.name]
  )
  assert.sameMembers(paths, [...new Set(changes.map(({ command }) => command)), ...changeNothing])
})

interface Outputs {
  readonly flags?: ReadonlyArray<string>
  readonly env?: Record<string, string>
  /**
   * Whether these flags suit no command. Then every command must be refused before it begins, and any change is a fault, even if it is
   * printed.
   */
  readonly isUnfit?: true
}

/** Output flags and environments: some suit certain commands, some suit none. */
const outputs: ReadonlyArray<Outputs> = [
  { flags: ["-o", "json", "--columns", "id"], isUnfit: true },
  { flags: ["--columns", "id"], env: { BERTH_OUTPUT: "json" }, isUnfit: true },
  { flags: ["--columns", "id"], env: { BERTH_OUTPUT: "id" }, isUnfit: true },
  { flags: ["-o", "csv", "--columns", "nope"] },
  { flags: ["--columns", "nope"] },
  { flags: ["--columns", ""] },
  { flags: ["--columns", "request"] },
  { flags: ["--sort", "nope"], isUnfit: true },
  { flags: ["--sort", "request"] },
  { flags: ["--columns", "id", "--query", "id"], isUnfit: true },
  { flags: ["--query", "constructor"] },
  { flags: ["--query", "__proto__", "-o", "json"] },
  { flags: ["--query", "[].toString", "-o", "yaml"] },
  { flags: ["--query", "{constructor: constructor}", "-o", "csv"] },
  { flags: ["--query", "nope", "-o", "json"] },
  { flags: ["--query", "nope", "-o", "json", "--quiet"] },
  { flags: ["--query", "[].nope", "-o", "yaml"] },
  { flags: ["--query", "["], isUnfit: true },
  { flags: ["--query", "nope(@)"], isUnfit: true },
  { flags: ["--query", "length(@, @)", "-o", "json"], isUnfit: true },
  { flags: ["--query", "abs(to_string(@))", "-o", "json"] },
  { flags: ["--query", "abs(to_string(@))"] },
  { flags: ["--query", "$nope"], env: { BERTH_OUTPUT: "ndjson" } },
  { env: { BERTH_OUTPUT: "nope" }, isUnfit: true },
  { env: { BERTH_OUTPUT: "id" } },
  { flags: ["-o", "name"] }
]

/** The service, and folders that exist as long as the suite runs. */
class Place extends Context.Service<Place, { readonly folder: string }>()("@berthkit/tests/cli/refuseFirst/Place") {
  static readonly layer = Layer.effect(
    Place,
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-refuse-"))),
        (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
      ),
      (folder) => ({ folder })
    )
  ).pipe(
    Layer.provideMerge(
      TestServer.layer(
        inDialect({ clock: "real", provisioning: "0 millis", uniqueNames: false, rateLimit: { limit: 100_000 } })
      )
    )
  )
}

/** Runs a change with each of these outputs. Makes new nodes only after a run has changed something. */
const checkAll = Effect.fnUntraced(function* (change: Change, at: number) {
  const { args, command, isAsking, isFleet, isProcess, needs = [], setUp } = change
  const { folder } = yield* Place
  const { control, id: world } = yield* TestServer
  const nodes = Effect.orDie(control.nodes.list({ params: { world }, query: {} }))
  const account = {
    ...(yield* settings),
    XDG_STATE_HOME: join(folder, String(at), "state"),
    XDG_CACHE_HOME: join(folder, String(at), "cache")
  }
  let own = ""
  let had: Effect.Success<typeof nodes> = []
  const keptIn = (pattern: string) =>
    globSync(join(account.XDG_STATE_HOME, pattern)).map((path) => [path, readFileSync(path, "utf8")])
  let changed: number | undefined
  let readTo = 0
  /** The last request that changed something, and the local record of it. Each time, it reads only the requests since the last time. */
  const sent = Effect.gen(function* () {
    const { next, requests } = yield* Effect.orDie(
      control.requests.read({ params: { world }, query: { after: readTo } })
    )
    readTo = next
    changed = requests.findLast(({ method, status }) => method !== "GET" && (status ?? 0) < 300)?.seq ?? changed
    const ledger = join(folder, `${own}.ledger.json`)
    const kept = [...keptIn("**/records/lease/*.json"), ...keptIn("**/records/proposal/*")]
    return JSON.stringify([changed, existsSync(ledger) ? readFileSync(ledger, "utf8") : "", kept])
  })
  for (const [which, { env = {}, flags = [], isUnfit }] of outputs.entries()) {
    const file = () => (isFleet === undefined ? [] : fleetArgs({ fleet: true } as never, folder, own))
    if (own === "") {
      own = `n${at}-${which}`
      for (const suffix of needs) yield* invoke(["node", "create", `${own}${suffix}`, ...order], { env: account })
      if (isFleet === "made") yield* invoke(["apply", "--yes", ...file()], { env: account })
      if (setUp !== undefined) yield* setUp(own, account)
      had = yield* nodes
    }
    const before = yield* sent
    const line = [...command.split(" "), ...flags, ...file(), ...args(own)]
    const using = { env: { ...account, ...env } }
    const { code, stderr, stdout } = yield* isProcess === true
      ? berth(line, { ...using, input: "" })
      : invoke(line, using)
    const what = `${JSON.stringify(env)} berth ${line.join(" ")}: exit ${code}\n${stdout}\n${stderr}`
    if ((yield* sent) === before) {
      if (isProcess === true) assert.include([0, 2], code, what)
      else assert.strictEqual(code, 2, what)
      continue
    }
    assert.isUndefined(isUnfit, what)
    assert.isUndefined(isAsking, what)
    assert.include([0, 10], code, what)
    const ids = [...had, ...(yield* nodes)].flatMap(({ id, name }) =>
      name.startsWith(own) || name === "raw" ? id : []
    )
    const inLedger = Array.from(before.matchAll(/\\"id\\":(\d+)/g), ([, id]) => id!)
    const told = [own, ...(command === "api" ? ["raw"] : []), ...ids, ...inLedger].map(
      (each) => new RegExp(`\\b${each}\\b`)
    )
    assert.isTrue(
      told.some((each) => each.test(stdout + stderr)),
      what
    )
    // If the data cannot be shown in the requested form, berth prints all of it.
    if (code === 10) assert.match(stderr, /\\?"id\\?":\d+/, what)
    own = ""
  }
})

layer(Place.layer, { excludeTestServices: true })(`${changes.length * outputs.length} command lines`, (it) => {
  for (const [at, change] of changes.entries()) {
    it.effect(`berth ${change.command} ${change.args("web").slice(0, 6).join(" ")} changes nothing, or prints it`, () =>
      Effect.scoped(checkAll(change, at))
    )
  }
})

/** A stdout that accepts nothing: the disk is full, or the reader has gone. */
const broken = (code: "ENOSPC" | "EPIPE") =>
  new PassThrough({
    transform: (_chunk, _encoding, done) =>
      done(Object.assign(new Error(`${code}: no space left on device, write`), { code }))
  })

layer(Place.layer, { excludeTestServices: true })("a change whose output goes nowhere", (it) => {
  // All others print nothing on stdout, or need more than one node.
  const printing = changes.filter(
    ({ command, setUp }) => !["run", "mcp", "fleet adopt", "fleet forget"].includes(command) && setUp === undefined
  )
  for (const [at, change] of printing.entries()) {
    it.effect(`berth ${change.command} ${change.args("web").slice(0, 6).join(" ")} prints it on stderr`, () =>
      Effect.gen(function* () {
        const { folder } = yield* Place
        for (const [code, exit] of [
          ["ENOSPC", 10],
          ["EPIPE", 0]
        ] as const) {
          for (const format of ["json", "table"]) {
            const own = `b${at}-${format}-${code.toLowerCase()}`
            const env = { ...(yield* settings), XDG_STATE_HOME: join(folder, own), XDG_CACHE_HOME: join(folder, own) }
            const file = change.isFleet === undefined ? [] : fleetArgs({ fleet: true } as never, folder, own)
            for (const suffix of change.needs ?? [])
              yield* invoke(["node", "create", `${own}${suffix}`, ...order], { env })
            if (change.isFleet === "made") yield* invoke(["apply", "--yes", ...file], { env })
            const line = [...change.command.split(" "), ...change.args(own), ...file, "--quiet", "-o", format]
            const ended = yield* invoke(line, { env, stdout: broken(code) })
            const what = `${line.join(" ")}: ${ended.code} ${ended.stderr}`
            assert.strictEqual(ended.code, exit, what)
            assert.match(ended.stderr, change.command === "api" ? /raw|names id \d+/ : new RegExp(own), what)
            if (format === "json") JSON.parse(ended.stderr)
          }
        }
      })
    )
  }
})
