/** The causes of deletions. The daemon reads what `berth` and clients have recorded, from files of its machine or from a database. */
import { readFileSync, writeFileSync } from "node:fs"
import { hostname } from "node:os"
import { basename, join } from "node:path"
import { accountLayer } from "@berthkit/core/client/AccountFiles"
import { Nodes } from "@berthkit/core/client/Nodes"
import { RecordStore } from "@berthkit/core/client/state/RecordStore"
import * as SharedState from "@berthkit/core/client/state/SharedState"
import type { NodeId } from "@berthkit/core/domain/Node"
import { createClient } from "@berthkit/core/promise"
import { TestServer } from "@berthkit/server/testing"
import { Postgres } from "@berthkit/testing/Postgres"
import * as PgClient from "@effect/sql-pg/PgClient"
import { describe, expect, it } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Redacted, Schedule } from "effect"
import { clientOf, inDialect, optionsOf, placeLines, placeOptions } from "../account.ts"
import { berth, json } from "../cli/berth.ts"
import { stateFolder } from "../cli/stateFolder.ts"
import { Daemon } from "./Daemon.ts"

// Flags with which the daemon believes deletions at once, even of all nodes.
const hasty = ["--interval", "200ms", "--fast-interval", "100ms", "--grace", "200ms", "--hold", "200ms"]
const fast = [...hasty, "--requests-per-hour", "1000000"]
const order = ["--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04"]

const service = Layer.provideMerge(
  Layer.unwrap(Effect.map(TestServer, (server) => clientOf(server))),
  TestServer.layer(
    inDialect({
      clock: "real",
      provisioning: "0 seconds",
      termination: "0 seconds",
      rateLimit: { limit: 1_000_000, window: "1 hour" }
    })
  )
)

const wait = <A>(promise: () => Promise<A>) => Effect.promise(promise)

const textAt = async (url: string): Promise<string> => (await fetch(url)).text()

const succeeding = Effect.fnUntraced(function* (args: ReadonlyArray<string>, env: Record<string, string>) {
  const { code, stderr, stdout } = yield* berth(args, { env })
  expect({ code, stderr }).toMatchObject({ code: 0 })
  return stdout.trim()
})

const create = (name: string, env: Record<string, string>) =>
  Effect.map(succeeding(["node", "create", name, ...order, "-o", "id"], env), (id) => Number(id) as NodeId)

/** Waits for the event of this type about the node of this name, and returns its data. */
const dataOf = (daemon: Daemon, type: "created" | "deleted", name: string) =>
  Effect.promise(async () => {
    const line = new RegExp(`^.*"type":"berth\\.node\\.${type}".*"name":"${name}".*\n`, "m")
    return JSON.parse(await daemon.program.printed(line)).data
  })

/** Deletes nodes in every way, with separate environments for berth and the daemon. */
const explaining = Effect.fnUntraced(function* (ofBerth: Record<string, string>, ofDaemon: Record<string, string>) {
  const daemon = yield* Daemon.start(["run", ...fast], ofDaemon)
  yield* Effect.promise(() => daemon.baseline())

  yield* create("asked", ofBerth)
  yield* dataOf(daemon, "created", "asked")
  yield* succeeding(["node", "delete", "asked", "--yes"], ofBerth)
  const asked = yield* dataOf(daemon, "deleted", "asked")

  const file = join(yield* stateFolder, "berth.yml")
  writeFileSync(
    file,
    `fleet: shop\nnodes:\n  member: { count: 1, name: 'shop-member-{n}', plan: ${order[1]}, image: ${order[3]} }\n`
  )
  yield* succeeding(["apply", "-f", file, "--yes"], ofBerth)
  yield* dataOf(daemon, "created", "shop-member-1")
  yield* succeeding(["destroy", "-f", file, "--yes"], ofBerth)
  const member = yield* dataOf(daemon, "deleted", "shop-member-1")

  const job = { ...ofBerth, GITHUB_REPOSITORY: "shop/web", GITHUB_RUN_ID: "42" }
  yield* succeeding(["run", "--name", "leased", ...order, "--", "sleep", "2"], job)
  const leased = yield* dataOf(daemon, "deleted", "leased")

  const committed = yield* create("committed", ofBerth)
  yield* dataOf(daemon, "created", "committed")
  yield* succeeding(["commitment", "set", "committed", "auto_terminate", "--yes"], ofBerth)
  // To the daemon, a deletion by the service itself looks like a deletion in the account portal.
  yield* Nodes.use((nodes) => nodes.delete(committed))
  const ended = yield* dataOf(daemon, "deleted", "committed")

  const lost = yield* create("lost", ofBerth)
  yield* dataOf(daemon, "created", "lost")
  yield* Nodes.use((nodes) => nodes.delete(lost))
  return { asked, member, leased, ended, lost: yield* dataOf(daemon, "deleted", "lost") }
})

const checked = ({ asked, ended, leased, lost, member }: Effect.Success<ReturnType<typeof explaining>>) => {
  expect(asked).toMatchObject({ cause: "requested", causedBy: { command: "node delete", fleet: null, job: null } })
  expect(asked.causedBy.at).toMatch(/^\d{4}-.*Z$/)
  expect(member).toMatchObject({ cause: "requested", causedBy: { command: "destroy", fleet: "shop" } })
  expect(leased).toMatchObject({
    cause: "lease",
    causedBy: { command: "run", lease: expect.stringMatching(/^run-/), job: "shop/web 42" }
  })
  expect(ended).toMatchObject({ cause: "commitment", causedBy: { command: "commitment set" } })
  expect(lost).toMatchObject({ cause: "unknown", causedBy: null })
}

const spec = (name: string) => ({ name, plan: order[1]!, image: order[3]! })

/** A program with an Effect client that creates a node and deletes it once the daemon has seen it. */
const effectProgram = Effect.fnUntraced(function* (daemon: Daemon, name: string) {
  const nodes = yield* Nodes
  const { node } = yield* nodes.create(spec(name))
  yield* dataOf(daemon, "created", name)
  yield* nodes.delete(node.id)
  return yield* dataOf(daemon, "deleted", name)
})

/** The same program with the promise client. */
const promiseProgram = Effect.fnUntraced(function* (daemon: Daemon, name: string, stateDirectory: string) {
  const { accessToken, apiKey, baseUrl } = yield* TestServer
  const client = createClient({
    baseUrl,
    apiKey: Redacted.value(apiKey),
    accessToken: Redacted.value(accessToken),
    ...placeOptions,
    stateDirectory
  })
  const { node } = yield* wait(() => client.nodes.create(spec(name)))
  yield* dataOf(daemon, "created", name)
  yield* wait(() => client.nodes.delete(node.id))
  yield* wait(() => client.close())
  return yield* dataOf(daemon, "deleted", name)
})

const program = basename(process.argv[1]!)
const byProgram = {
  cause: "requested",
  causedBy: { command: program, fleet: null, lease: null, host: hostname(), user: expect.any(String) }
}

/** The action, the outcome and the command of each change of the node. */
const changesOf = (name: string, env: Record<string, string>) =>
  Effect.map(berth(["history", name, "-o", "json"], { env }), (ended) =>
    json<ReadonlyArray<Record<string, unknown>>>(ended).map(({ action, command, outcome }) => [
      action,
      outcome,
      command
    ])
  )
const createdAndDeleted = [
  ["delete", "deleted", program],
  ["create", "created", program]
]

describe("a daemon that shares a database with berth on other machines", () => {
  it.live("reports a node that outlived its lease there, once no clock can be wrong about it", () =>
    Effect.gen(function* () {
      const postgres = yield* Postgres.scoped()
      const env = { BERTH_STATE_URL: postgres.url(), XDG_STATE_HOME: yield* stateFolder }
      yield* succeeding(["state", "migrate"], env)
      const database = SharedState.layer(optionsOf(yield* TestServer)).pipe(
        Layer.provide(PgClient.layer({ url: Redacted.make(env.BERTH_STATE_URL) }))
      )
      const records = Context.get(yield* Layer.build(database), RecordStore)!
      const nowMillis = yield* Clock.currentTimeMillis
      // The command may run longer, by as much as the clock of its machine is behind, at most 15 minutes.
      for (const [name, minutes] of [
        ["over", 20],
        ["perhaps", 10]
      ] as const) {
        const id = yield* create(name, env)
        const takenAt = { wallMillis: nowMillis - minutes * 60_000, bootMillis: 1, bootClock: "of another machine" }
        const node = { id, name, createdMillis: null }
        const lease = { version: 1, node, begunAt: takenAt, takenAt, ttlMillis: 60_000, keptSince: null }
        yield* records.put("lease", `run-${name}`, JSON.stringify(lease))
      }
      const daemon = yield* Daemon.start(["run", ...fast], env)
      const expired = yield* Effect.promise(() => daemon.program.printed(/^.*"berth\.node\.lease_expired".*\n/m))
      expect(JSON.parse(expired).data.after.name).toBe("over")
      daemon.program.signal("SIGTERM")
      const { stdout } = yield* Effect.promise(() => daemon.finished())
      expect(stdout.filter((line) => line.includes("lease_expired"))).toHaveLength(1)
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})

describe("the cause of a deletion", () => {
  it.live("is what a program's client noted in the state folder of the same user", () =>
    Effect.gen(function* () {
      const env = { XDG_STATE_HOME: yield* stateFolder }
      const folder = join(env.XDG_STATE_HOME, "berth")
      const daemon = yield* Daemon.start(["run", ...fast], env)
      yield* Effect.promise(() => daemon.baseline())
      expect(yield* promiseProgram(daemon, "by-promise", folder)).toMatchObject(byProgram)
      const account = yield* TestServer
      const client = Layer.provide(clientOf(account), accountLayer(optionsOf(account), folder))
      expect(yield* Effect.provide(effectProgram(daemon, "by-effect"), client)).toMatchObject(byProgram)
      expect(yield* changesOf("by-promise", env)).toEqual(createdAndDeleted)
      expect(yield* changesOf("by-effect", env)).toEqual(createdAndDeleted)
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("is what a program's client noted in the database on another machine", () =>
    Effect.gen(function* () {
      const postgres = yield* Postgres.scoped()
      const env = { BERTH_STATE_URL: postgres.url(), XDG_STATE_HOME: yield* stateFolder }
      yield* succeeding(["state", "migrate"], env)
      const daemon = yield* Daemon.start(["run", ...fast], env)
      yield* Effect.promise(() => daemon.baseline())
      const account = yield* TestServer
      const client = clientOf(account).pipe(
        Layer.provide(SharedState.layer(optionsOf(account))),
        Layer.provide(PgClient.layer({ url: Redacted.make(env.BERTH_STATE_URL) }))
      )
      expect(yield* Effect.provide(effectProgram(daemon, "by-effect"), client)).toMatchObject(byProgram)
      expect(yield* changesOf("by-effect", env)).toEqual(createdAndDeleted)
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("is what berth noted in the state folder of the same user", () =>
    Effect.gen(function* () {
      const env = { XDG_STATE_HOME: yield* stateFolder }
      checked(yield* explaining(env, env))
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("is what berth noted in the database on another machine", () =>
    Effect.gen(function* () {
      const postgres = yield* Postgres.scoped()
      const shared = { BERTH_STATE_URL: postgres.url() }
      const machine = Effect.map(stateFolder, (folder) => ({ ...shared, XDG_STATE_HOME: folder }))
      const [one, other] = [yield* machine, yield* machine]
      yield* succeeding(["state", "migrate"], one)
      checked(yield* explaining(one, other))
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("decides whether the recipe alerts", () =>
    Effect.gen(function* () {
      const page = readFileSync(new URL("../../docs/recipes.md", import.meta.url), "utf8")
      const [recipe] = /^# alert\.yml\n[^]*?(?=^```$)/m.exec(page)!
      expect(recipe.trim().split("\n").slice(1)).toHaveLength(10)
      const { baseUrl } = yield* TestServer
      const folder = yield* stateFolder
      const file = join(folder, "alert.yml")
      const settings = recipe
        .replace("https://api.example.com", baseUrl)
        .replace(/^( +)accessToken: .*\n/m, (line, indent: string) => line + placeLines(indent))
      writeFileSync(file, `${settings}listen: 127.0.0.1:0\n`)
      const env = { XDG_STATE_HOME: folder }
      yield* create("asked", env)
      const lost = yield* create("lost", env)
      const daemon = yield* Daemon.start(["run", "--config", file, ...fast], env)
      const { http } = yield* Effect.promise(() => daemon.ready())
      const api = (path: string) => wait(() => textAt(`${http}/api/${path}`))
      yield* Effect.repeat(api("nodes"), {
        until: (text) => text.includes('"lost"'),
        schedule: Schedule.spaced("50 millis")
      })
      yield* succeeding(["node", "delete", "asked", "--yes"], env)
      yield* Nodes.use((nodes) => nodes.delete(lost))
      yield* dataOf(daemon, "deleted", "lost")
      expect(yield* api("events")).toContain('"cause":"requested"')
      const metrics = yield* wait(() => textAt(`${http}/metrics`))
      const counts = metrics.matchAll(/^berth_deletions_total\{.*cause="(\w+)".*\} (\d+)/gm)
      expect(Object.fromEntries(Array.from(counts, ([, cause, count]) => [cause, Number(count)]))).toEqual({
        requested: 1,
        lease: 0,
        commitment: 0,
        unknown: 1
      })
      daemon.program.signal("SIGTERM")
      const { stdout } = yield* Effect.promise(() => daemon.finished())
      expect(stdout.map((line) => JSON.parse(line).data.before.name)).toEqual(["lost"])
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("is unknown without a common store, which is no trouble", () =>
    Effect.gen(function* () {
      const daemon = yield* Daemon.start(["run", ...fast], { XDG_STATE_HOME: yield* stateFolder })
      yield* Effect.promise(() => daemon.baseline())
      const env = { XDG_STATE_HOME: yield* stateFolder }
      yield* create("asked", env)
      yield* dataOf(daemon, "created", "asked")
      yield* succeeding(["node", "delete", "asked", "--yes"], env)
      expect(yield* dataOf(daemon, "deleted", "asked")).toMatchObject({ cause: "unknown", causedBy: null })
      daemon.program.signal("SIGTERM")
      const { stderr } = yield* Effect.promise(() => daemon.finished())
      expect(stderr).toHaveLength(1)
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})
