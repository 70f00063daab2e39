import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { HttpService } from "@berthkit/testing/HttpService"
import { Program } from "@berthkit/testing/Program"
import { Store } from "@berthkit/watch/store/Store"
import { Daemon } from "./Daemon.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-store-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const run = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  Effect.promise(async () => {
    await using daemon = new Daemon(args, env)
    return await daemon.finished()
  })

const reported = (atMillis: number, sink: string) =>
  ({
    type: "berth.sink.disabled",
    data: { sink, reason: "gone", message: "the receiver answered 410" },
    identity: { nodeId: null, incarnation: null, life: null, version: String(atMillis) },
    atMillis
  }) as const

const record = {
  status: "running",
  createdAt: "1970-01-01T00:00:00.000Z",
  vcpus: 1,
  memoryMib: 1024,
  diskGb: 15,
  publicIp: null,
  privateIp: null,
  plan: "A-1VCPU-1RAM-15DISK",
  image: null,
  region: "ncr",
  backups: false,
  locked: null,
  committed: null,
  tags: [],
  extra: {}
}

const node = (id: number, name: string) => ({
  id,
  incarnation: 0,
  life: 1,
  status: "running",
  changes: 0,
  goneAtMillis: null,
  body: JSON.stringify({ node: { ...record, id, name } })
})

/** Makes a store like one that a daemon leaves. */
const filled = (path: string) =>
  Effect.gen(function* () {
    const { claim, commit, meet, record, setDisabled, take } = yield* Store
    const { owner } = yield* claim("eu")
    const [event] = yield* commit(owner, {
      nodes: [node(7, "web")],
      events: [reported(1000, "a"), reported(2000, "b")]
    })
    yield* commit(owner, { sweptAtMillis: 3000 })
    yield* meet("ops")
    const delivery = {
      account: "eu",
      seq: 1,
      node: 0,
      id: event!.id,
      attempt: 10,
      dueMillis: 0,
      held: null,
      body: null
    }
    yield* take({ sink: "ops", after: null, account: "eu", seq: 1, deliveries: [delivery], dropped: [] })
    yield* record("ops", [{ _tag: "GivenUp", delivery, reason: "the receiver answered 400" }], null)
    yield* setDisabled("ops", { reason: "failing", message: "no answer" })
  }).pipe(Effect.provide(Store.layerFile(path)), Effect.scoped)

const json = (lines: ReadonlyArray<string>) => lines.map((line) => JSON.parse(line))

describe("the commands that read a store", () => {
  it.live("print its events, nodes, sinks and status", () =>
    Effect.gen(function* () {
      const store = join(yield* folder, "watch.db")
      yield* filled(store)
      const env = { BERTH_WATCH_STORE: store }
      const all = yield* run(["events"], env)
      expect(json(all.stdout).map(({ data }) => data.sink)).toEqual(["a", "b"])
      expect(all).toMatchObject({ code: 0, stderr: ['{"cursor":"2"}'] })
      const unknown = yield* run(["events", "--store", store, "--type", "berth.sink.disable"])
      expect(unknown).toMatchObject({ code: 2, stdout: [] })
      expect(unknown.stderr[0]).toContain("matches no type of event; did you mean berth.sink.disabled?")
      const later = yield* run(["events", "--store", store, "--after", "1"])
      expect(json(later.stdout).map(({ data }) => data.sink)).toEqual(["b"])

      const nodes = yield* run(["nodes", "--at", "1970-01-01T00:00:01.500Z"], env)
      expect(json(nodes.stdout)).toEqual([{ account: "eu", id: 7, name: "web", statusSince: null, ...record }])
      const ago = yield* run(["nodes", "--at", "5m"], env)
      expect(json(ago.stdout)).toMatchObject([{ account: "eu", id: 7, name: "web" }])
      expect((yield* run(["nodes", "--at", "2 hours"], env)).code).toBe(2)
      const csv = yield* run(["events", "--format", "csv"], env)
      expect([csv.stdout.length, csv.stdout[0], csv.stdout[2]]).toEqual([
        3,
        "time,account,sequence,type,subject,name,from,to,id,data",
        expect.stringMatching(
          /^1970-01-01T00:00:02\.000Z,eu,2,berth\.sink\.disabled,,,,,[^,]+,"\{""sink"":""b"",.*\}"$/
        )
      ])
      const before = yield* run(["nodes", "--at", "1969-01-01T00:00:00Z"], env)
      expect(before).toMatchObject({
        code: 4,
        stderr: ["berth-watch: Events of eu are kept from 1970-01-01T00:00:01.000Z on."]
      })

      const sink = {
        sink: "ops",
        kind: "not configured",
        state: "disabled",
        message: "no answer",
        cursor: "1",
        lag: 1,
        waiting: 0,
        silenced: 0,
        deadLetters: 1,
        failingSince: null
      }
      expect(json((yield* run(["sinks"], env)).stdout)).toEqual([sink])
      const text = (yield* run(["status", "-o", "text"], env)).stdout
      expect(text.slice(0, 2)).toEqual([
        "No daemon runs. 2 problems:",
        "critical: sink ops: The sink is disabled and gets no events. No answer."
      ])
      expect(text.slice(-2)).toEqual([
        "account eu: stopped, 1 node, last sweep 1970-01-01T00:00:03.000Z",
        "sink ops (not configured): disabled, lag 1, waiting 0, dead letters 1; no answer"
      ])
      const { stdout } = yield* run(["status"], env)
      expect(JSON.parse(stdout.join("\n"))).toEqual({
        daemon: null,
        cursor: "2",
        troubles: [
          expect.objectContaining({ name: "sink-disabled", about: { kind: "sink", name: "ops" } }),
          expect.objectContaining({ name: "dead-letters", message: expect.stringMatching(/ 1 is a dead letter\.$/) })
        ],
        accounts: [
          {
            account: "eu",
            state: "stopped",
            nodes: 1,
            lastSweep: { endedAt: "1970-01-01T00:00:03.000Z", durationMillis: null, requests: null },
            unreadable: null,
            nextSweepAt: null,
            sweepIntervalMillis: null,
            detectionLatencyMillis: null,
            requestsPerHour: null,
            allowance: null
          }
        ],
        sinks: [sink],
        silences: []
      })
    })
  )

  it.live("forget a sink that the config does not have, and no other", () =>
    Effect.gen(function* () {
      const store = join(yield* folder, "watch.db")
      yield* filled(store)
      const removed = yield* run(["sinks", "remove", "ops"], { BERTH_WATCH_STORE: store })
      expect(removed).toMatchObject({
        code: 2,
        stderr: ["berth-watch: It is unknown whether the config has ops: add --config FILE."]
      })
      const withSinks = (sinks: string) => {
        const path = `${store}.yml`
        const account = `{ name: eu, baseUrl: "http://127.0.0.1:1", apiKey: { env: KEY }, accessToken: { env: KEY } }`
        writeFileSync(path, `store: ${store}\naccounts: [${account}]\nsinks: ${sinks}\n`)
        return ["--config", path]
      }
      const env = { KEY: "key-0123456789" }
      const kept = yield* run(["sinks", "remove", "ops", ...withSinks("[{ name: ops, stdout: {} }]")], env)
      expect(kept).toMatchObject({
        code: 2,
        stderr: ["berth-watch: The sink ops is in the config: remove it there first."]
      })
      const without = withSinks("[]")
      const status = yield* run(["status", ...without], env)
      expect(JSON.parse(status.stdout.join("\n"))).toMatchObject({
        troubles: [],
        sinks: [{ sink: "ops", state: "removed", lag: 0, deadLetters: 1 }]
      })
      expect(yield* run(["sinks", "remove", "ops", ...without], env)).toMatchObject({
        code: 0,
        stdout: ["Forgot the sink ops."]
      })
      expect((yield* run(["sinks", ...without], env)).stdout).toEqual([])
      expect((yield* run(["sinks", "remove", "ops", ...without], env)).code).toBe(4)
    })
  )

  it.live("enable, retry and replay a sink", () =>
    Effect.gen(function* () {
      const store = join(yield* folder, "watch.db")
      yield* filled(store)
      const env = { BERTH_WATCH_STORE: store }
      const dead = json((yield* run(["sinks", "dead", "ops"], env)).stdout)
      expect(dead).toEqual([
        {
          sink: "ops",
          id: dead[0].event.id,
          since: expect.any(String),
          attempts: 10,
          reason: expect.any(String),
          event: expect.objectContaining({ type: "berth.sink.disabled", source: "/accounts/eu" })
        }
      ])
      expect(yield* run(["sinks", "dead", "ops", "--retry", "nothing"], env)).toMatchObject({
        code: 4,
        stderr: ["berth-watch: The sink ops has no dead letter nothing."]
      })
      expect((yield* run(["sinks", "dead", "ops", "--retry", dead[0].id], env)).stdout).toEqual([
        `The dead letter ${dead[0].id} of ops is due now.`
      ])
      expect((yield* run(["sinks", "dead", "ops"], env)).stdout).toEqual([])
      expect((yield* run(["sinks", "dead", "opps"], env)).code).toBe(4)
      expect((yield* run(["sinks", "enable", "ops"], env)).code).toBe(0)
      expect((yield* run(["sinks", "retry", "ops"], env)).stdout).toEqual([
        "The dead letters and waiting events of ops are due now."
      ])
      expect(json((yield* run(["sinks"], env)).stdout)[0]).toMatchObject({
        state: "up",
        waiting: 1,
        silenced: 0,
        deadLetters: 0
      })
      expect((yield* run(["replay", "--sink", "ops", "--after", ""], env)).code).toBe(0)
      expect(json((yield* run(["sinks"], env)).stdout)[0]).toMatchObject({
        lag: 2,
        waiting: 0,
        silenced: 0,
        cursor: ""
      })
      expect(yield* run(["sinks", "enable", "opps"], env)).toMatchObject({
        code: 4,
        stderr: ["berth-watch: There is no sink opps.", "The sinks are ops."]
      })
      expect((yield* run(["replay", "--sink", "ops", "--after", "eu"], env)).code).toBe(2)
    })
  )

  it.live("leave a store alone that a daemon owns, but read and copy it", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const store = join(path, "watch.db")
      yield* filled(store)
      const owner = yield* Program.start(() =>
        Program.ofSource(
          `import { Effect } from "effect"
           import { Store } from "@berthkit/watch/store/Store"
           const program = Effect.sync(() => console.log("open")).pipe(Effect.andThen(Effect.sleep("1 hour")))
           Effect.runPromise(Effect.provide(program, Store.layerFile(${JSON.stringify(store)})))`,
          { cwd: import.meta.dirname }
        )
      )
      yield* Effect.promise(() => owner.printed("open"))
      const env = { BERTH_WATCH_STORE: store }
      expect(yield* run(["sinks", "enable", "ops"], env)).toMatchObject({
        code: 2,
        stderr: [
          `berth-watch: The store is in use: process ${owner.child.pid} runs on ${store}.`,
          "Stop the other berth-watch, or use another store."
        ]
      })
      expect((yield* run(["events"], env)).stdout.length).toBe(2)
      const copy = join(path, "copy.db")
      expect((yield* run(["backup", copy], env)).code).toBe(0)
      for (const file of [copy, store, `${store}-wal`, `${store}-lock`]) {
        expect([file, statSync(file).mode & 0o777]).toEqual([file, 0o600])
      }
      expect((yield* run(["events", "--store", copy])).stdout.length).toBe(2)
      expect(yield* run(["backup", copy], env)).toMatchObject({
        code: 2,
        stderr: [expect.anything(), "Name another file."]
      })
      const nowhere = join(path, "nowhere", "copy.db")
      expect(yield* run(["backup", nowhere], env)).toMatchObject({
        code: 2,
        stderr: [
          expect.stringContaining(`berth-watch: ${nowhere} cannot be written: `),
          "Check its folder, and the room on its disk."
        ]
      })
    })
  )

  it.live("follow the events that another process commits", () =>
    Effect.gen(function* () {
      const store = join(yield* folder, "watch.db")
      yield* filled(store)
      const follower = yield* Effect.acquireRelease(
        Effect.sync(() => new Daemon(["events", "--follow", "--after", "1"], { BERTH_WATCH_STORE: store })),
        (daemon) => Effect.promise(() => daemon[Symbol.asyncDispose]())
      )
      yield* Effect.promise(() => follower.program.printed(/"sink":"b".*\n/))
      yield* Effect.gen(function* () {
        const { claim, commit } = yield* Store
        const { owner } = yield* claim("eu")
        yield* commit(owner, { events: [reported(5000, "c")] })
      }).pipe(Effect.provide(Store.layerFile(store)), Effect.scoped)
      yield* Effect.promise(() => follower.program.printed(/"sink":"c".*\n/))
      follower.program.signal("SIGTERM")
      const { code, stderr, stdout } = yield* Effect.promise(() => follower.finished())
      expect({ code, stderr, events: stdout.length }).toEqual({ code: 0, stderr: ['{"cursor":"3"}'], events: 2 })
    })
  )

  it.live("report a store that is not there, and make none", () =>
    Effect.gen(function* () {
      const store = join(yield* folder, "watch.db")
      const { code, stderr } = yield* run(["status", "--store", store])
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: [
          `berth-watch: The store cannot be opened: ${store}, unable to open database file.`,
          "Check the path, and who may read it."
        ]
      })
      expect(existsSync(store)).toBe(false)
    })
  )

  it.live("end where the folder of the store cannot be made, and make the ones that can", () =>
    Effect.gen(function* () {
      const account = {
        BERTH_BASE_URL: "http://127.0.0.1:1",
        BERTH_API_KEY: "key-0123",
        BERTH_ACCESS_TOKEN: "token-0123"
      }
      const refused = yield* run(["run"], { ...account, BERTH_WATCH_STORE: "/proc/nowhere/watch.db" })
      expect(refused).toMatchObject({
        code: 2,
        stderr: [expect.stringContaining("The store cannot be opened: /proc/nowhere/watch.db"), expect.anything()]
      })
      const store = join(yield* folder, "a", "b", "watch.db")
      yield* Effect.promise(async () => {
        await using daemon = new Daemon(["run"], { ...account, BERTH_WATCH_STORE: store })
        await daemon.ready()
      })
      expect(statSync(join(store, "..")).mode & 0o777).toBe(0o700)
    })
  )

  it.live("show no password of the address of a server, which they may not reach", () =>
    Effect.gen(function* () {
      const at = (address: string) => run(["status"], { BERTH_WATCH_STORE: address })
      const { code, stderr } = yield* at("postgres://watch:hunter2@127.0.0.1:1/watch")
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: [
          "berth-watch: The store cannot be reached: postgres://127.0.0.1:1/watch?schema=berth, connect ECONNREFUSED 127.0.0.1:1.",
          "Check the address and the network."
        ]
      })
      const odd = yield* at("postgres://watch:hunter2@:x/")
      expect(odd.code).toBe(2)
      expect(odd.stderr.join("\n")).toMatch(/^berth-watch: BERTH_WATCH_STORE has to be an address such as postgres:/)
      expect(odd.stderr.join("\n")).not.toContain("hunter2")
    })
  )

  it.live("hand a test event to the receiver of a sink", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const received: Array<string> = []
      const service = yield* HttpService.start((request, response) => {
        request.setEncoding("utf8").on("data", (text: string) => received.push(text))
        request.on("end", () => response.writeHead(received.length > 1 ? 500 : 200).end())
      })
      const config = join(path, "watch.yml")
      writeFileSync(
        config,
        `accounts: [{ name: eu, baseUrl: "https://api.example.com", apiKey: { env: KEY }, accessToken: { env: KEY } }]
sinks: [{ name: ops, webhook: { url: "${service.url}", allowPrivate: true } }]`
      )
      const env = { KEY: "key-0123456789" }
      const test = run(["sinks", "test", "ops", "--config", config], env)
      expect(yield* test).toMatchObject({ code: 0, stdout: ["The sink ops accepted a test event."] })
      expect(JSON.parse(received[0]!)).toMatchObject({ type: "berth.sink.test", data: { sink: "ops" } })
      expect(yield* test).toMatchObject({
        code: 7,
        stderr: ["berth-watch: The sink ops failed: the receiver answered 500."]
      })
    })
  )
})
