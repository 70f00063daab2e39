/**
 * Runs every command that changes something with output flags that do not fit it. Either it is refused before anything is sent, or the
 * change is made and printed. No command that has changed something ends with a usage error.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PassThrough } from "node:stream"
import { TestServer } from "@berthkit/server/testing"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { inDialect } from "../account.ts"
import { settings } from "./berth.ts"
import { invoke } from "./invoke.ts"
import { fleetArgs } from "./matrix/fleetFile.ts"

const order = ["--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04"]
const body = JSON.stringify({ name: "raw", region: "ncr", plan: order[1], image: order[3] })

/** A command line that changes something named `own`. `needs` are the suffixes of the nodes that must exist. */
interface Change {
  readonly command: string
  readonly needs?: ReadonlyArray<string>
  /** Set if it uses a fleet file; `made`: the nodes of the file must exist. */
  readonly isFleet?: "new" | "made"
  readonly args: (own: string) => ReadonlyArray<string>
}

const changes: ReadonlyArray<Change> = [
  { command: "node create", args: (own) => [own, ...order] },
  { command: "node create", args: (own) => [own, ...order, "--count", "2", "--yes"] },
  { command: "node create", args: (own) => [own, ...order, "--if-absent"] },
  { command: "node delete", needs: [""], args: (own) => [own, "--yes"] },
  { command: "node delete", needs: ["-1", "-2"], args: (own) => [`${own}-*`, "--yes"] },
  { command: "commitment set", needs: [""], args: (own) => [own, "auto_terminate", "--yes"] },
  { command: "apply", isFleet: "new", args: () => ["--yes"] },
  { command: "destroy", isFleet: "made", args: () => ["--yes"] },
  { command: "api", args: () => ["POST", "/nodes/", "-d", body] }
]

/** Output flags and environments: some fit certain commands, some fit none. */
const outputs: ReadonlyArray<{ readonly flags?: ReadonlyArray<string>; readonly env?: Record<string, string> }> = [
  { flags: ["-o", "json", "--columns", "id"] },
  { flags: ["--columns", "id"], env: { BERTH_OUTPUT: "json" } },
  { flags: ["--columns", "id"], env: { BERTH_OUTPUT: "id" } },
  { flags: ["-o", "csv", "--columns", "nope"] },
  { flags: ["--columns", "nope"] },
  { flags: ["--columns", ""] },
  { flags: ["--columns", "request"] },
  { flags: ["--sort", "nope"] },
  { flags: ["--sort", "request"] },
  { flags: ["--columns", "id", "--query", "id"] },
  { flags: ["--query", "constructor"] },
  { flags: ["--query", "__proto__", "-o", "json"] },
  { flags: ["--query", "[].toString", "-o", "yaml"] },
  { flags: ["--query", "{constructor: constructor}", "-o", "csv"] },
  { flags: ["--query", "nope", "-o", "json"] },
  { flags: ["--query", "nope", "-o", "json", "--quiet"] },
  { flags: ["--query", "[].nope", "-o", "yaml"] },
  { flags: ["--query", "["] },
  { flags: ["--query", "nope(@)"] },
  { flags: ["--query", "length(@, @)", "-o", "json"] },
  { flags: ["--query", "abs(to_string(@))", "-o", "json"] },
  { flags: ["--query", "abs(to_string(@))"] },
  { flags: ["--query", "$nope"], env: { BERTH_OUTPUT: "ndjson" } },
  { env: { BERTH_OUTPUT: "nope" } },
  { env: { BERTH_OUTPUT: "id" } },
  { flags: ["-o", "name"] }
]

/** The service, and folders that go with the suite. */
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
  ).pipe(Layer.provideMerge(TestServer.layer(inDialect({ uniqueNames: false, rateLimit: { limit: 100_000 } }))))
}

/** Runs a change with each of these outputs. Makes new nodes for it only after one of the runs changed something. */
const checkAll = Effect.fnUntraced(function* ({ args, command, isFleet, needs = [] }: Change, at: number) {
  const { folder } = yield* Place
  const { control, id: world, journal } = yield* TestServer
  const nodes = Effect.orDie(control.nodes.list({ params: { world }, query: {} }))
  const account = {
    ...(yield* settings),
    XDG_STATE_HOME: join(folder, String(at), "state"),
    XDG_CACHE_HOME: join(folder, String(at), "cache")
  }
  const sent = Effect.map(
    journal,
    (entries) => entries.findLast(({ method, status }) => method !== "GET" && (status ?? 0) < 300)?.seq
  )
  let own = ""
  for (const [which, { env = {}, flags = [] }] of outputs.entries()) {
    const file = () => (isFleet === undefined ? [] : fleetArgs({ fleet: true } as never, folder, own))
    if (own === "") {
      own = `n${at}-${which}`
      for (const suffix of needs) yield* invoke(["node", "create", `${own}${suffix}`, ...order], { env: account })
      if (isFleet === "made") yield* invoke(["apply", "--yes", ...file()], { env: account })
    }
    const before = yield* sent
    const had = yield* nodes
    const line = [...command.split(" "), ...args(own), ...file(), ...flags]
    const { code, stderr, stdout } = yield* invoke(line, { env: { ...account, ...env } })
    const what = `${JSON.stringify(env)} berth ${line.join(" ")}: exit ${code}\n${stdout}\n${stderr}`
    if ((yield* sent) === before) {
      assert.strictEqual(code, 2, what)
      continue
    }
    assert.include([0, 10], code, what)
    const ids = [...had, ...(yield* nodes)].flatMap(({ id, name }) =>
      name.startsWith(own) || name === "raw" ? id : []
    )
    const told = [own, ...(command === "api" ? ["raw"] : []), ...ids].map((each) => new RegExp(`\\b${each}\\b`))
    assert.isTrue(
      told.some((each) => each.test(stdout + stderr)),
      what
    )
    // If the data cannot be shown as asked, all of it is shown.
    if (code === 10) assert.match(stderr, /\\?"id\\?":\d+/, what)
    own = ""
  }
})

layer(Place.layer, { excludeTestServices: true })(`${changes.length * outputs.length} command lines`, (it) => {
  for (const [at, change] of changes.entries()) {
    it.effect(`berth ${change.command} ${change.args("web").slice(0, 6).join(" ")} changes nothing, or prints it`, () =>
      checkAll(change, at)
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
  for (const [at, change] of changes.entries()) {
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
            assert.match(ended.stderr, change.command === "api" ? /raw/ : new RegExp(own), what)
            if (format === "json") JSON.parse(ended.stderr)
          }
        }
      })
    )
  }
})
