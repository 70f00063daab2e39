/**
 * Two machines that share their state through PostgreSQL. Each has its own boot, host name, process ids, state folder and clock. Their
 * commands are killed at random instants, and their connections are cut. In the end, a third machine finds one node for each key and each
 * member, and no node that a run left behind.
 */
import { copyFileSync, existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { isSoak, numbersFrom, seed } from "@berthkit/testing/chance"
import { Postgres } from "@berthkit/testing/Postgres"
import { type Ended, Program } from "@berthkit/testing/Program"
import { TcpProxy } from "@berthkit/testing/TcpProxy"
import { TestServer } from "@berthkit/server/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { inDialect } from "../../account.ts"
import { run, settings } from "../berth.ts"
import { nodes, webs } from "../fleet.ts"
import { stateFolder } from "../stateFolder.ts"

const binary = fileURLToPath(new URL("../../../apps/cli/bin/berth.mjs", import.meta.url))
const aheadClock = fileURLToPath(new URL("../../watch/machine/aheadClock.ts", import.meta.url))

/** How many commands are killed. */
const kills = isSoak ? 2 * Number(process.env["RUNS"]) : 30

/** About how many commands use each key. */
const usesPerKey = 4

/** About how long a command takes from the start of its process to its end. */
const maxMillis = 2500

const members = 3
const order = ["--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04"]

/**
 * A machine whose clock is ahead by this much, and which reaches the database through its own proxy. Each machine sees only its own files
 * at the path `home`, like the runners of a CI system.
 */
const makeMachine = Effect.fnUntraced(function* (name: string, home: string, postgres: Postgres, aheadMillis: number) {
  const folder = yield* stateFolder
  const proxy = yield* TcpProxy.scoped(postgres.port)
  const [boot, fleet, ledger] = ["boot_id", "fleet.yaml", "fleet.ledger.json"].map((file) => join(folder, file)) as [
    string,
    string,
    string
  ]
  writeFileSync(boot, `00000000-0000-4000-8000-00000000000${name}\n`)
  writeFileSync(fleet, webs(members))

  const address = new URL(postgres.url())
  address.port = String(proxy.port)
  const env = {
    ...(yield* settings),
    XDG_STATE_HOME: join(home, "state"),
    BERTH_STATE_URL: address.href,
    CLOCK_AHEAD: String(aheadMillis),
    NODE_OPTIONS: `--import=${aheadClock}`
  }
  const script = `hostname "machine-${name}" && mount --bind "${boot}" /proc/sys/kernel/random/boot_id && mount --bind "${folder}" "${home}" && exec "$0" "$@"`
  const unshare = ["--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"]
  const start = (args: ReadonlyArray<string>) =>
    Program.start(
      () => new Program("unshare", [...unshare, "sh", "-c", script, process.execPath, binary, ...args], { env })
    )
  return {
    proxy,
    ledger,
    start,
    run: (args: ReadonlyArray<string>): Effect.Effect<Ended> =>
      Effect.scoped(Effect.flatMap(start(args), ({ ended }) => Effect.promise(() => ended)))
  }
})

const create = (key: string) => ["node", "create", key, ...order, "--idempotency-key", key, "--yes", "-o", "id"]
const apply = (home: string) => ["apply", "-f", join(home, "fleet.yaml"), "--yes", "--grace", "50ms"]
const runOf = (name: string) => ["run", "--name", name, "--ttl", "1m", ...order, "--", "true"]

/** How far the clock of machine b is ahead: the largest difference that berth allows for. */
const aheadMillis = 15 * 60_000

/**
 * On a clock that is ahead by this much, the time of every run of a and b is over, even with the largest difference of clocks that berth
 * allows for.
 */
const lateMillis = 2 * aheadMillis + 2 * 60_000

/** A database with the tables of the state. */
const migrated = Effect.gen(function* () {
  const postgres = yield* Postgres.scoped()
  const { code, stderr } = yield* run(["state", "migrate"], { env: { BERTH_STATE_URL: postgres.url() } })
  assert.strictEqual(code, 0, stderr)
  return postgres
})

const service = TestServer.layer(
  inDialect({
    clock: "real",
    provisioning: "100 millis",
    termination: "30 days",
    uniqueNames: false,
    rateLimit: { limit: 100_000 }
  })
)

describe("two machines with one database", () => {
  it.live("leave the node of the other's run alone, although one clock is ahead by more than its --ttl", () =>
    Effect.gen(function* () {
      const [postgres, home] = [yield* migrated, yield* stateFolder]
      const behind = yield* makeMachine("a", home, postgres, 0)
      const ahead = yield* makeMachine("b", home, postgres, aheadMillis)
      const job = yield* behind.start([...runOf("job").slice(0, -1), "sh", "-c", "echo begun; exec sleep 100"])
      yield* Effect.promise(() => job.printed("begun"))
      for (const args of [["reap"], runOf("next")]) {
        const { code, stderr } = yield* ahead.run(args)
        assert.strictEqual(code, 0, stderr)
      }
      const found = (yield* nodes).find(({ name }) => name === "job")
      assert.strictEqual(found?.status, "running")
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live(`make no second node, whatever happens to ${kills} commands`, () =>
    Effect.gen(function* () {
      const draw = numbersFrom(seed)
      const { advance } = yield* TestServer
      const postgres = yield* migrated
      const home = yield* stateFolder
      const machines = [
        yield* makeMachine("a", home, postgres, 0),
        yield* makeMachine("b", home, postgres, aheadMillis)
      ]
      const keys = Array.from({ length: Math.ceil(kills / usesPerKey) }, (_, i) => `job-${i}`)
      let [killed, runs] = [0, 0]
      const byName = Effect.map(nodes, (all) => Map.groupBy(all, ({ name }) => name))
      const noDoubles = Effect.map(byName, (named) => {
        for (const [name, same] of named) assert.lengthOf(same, 1, `${name} after ${killed}`)
      })

      const step = Effect.gen(function* () {
        const machine = machines[Math.floor(draw() * machines.length)]!
        const kind = draw()
        const key = keys[Math.min(keys.length - 1, Math.floor((killed / kills) * keys.length + draw() * 3))]!
        const args =
          kind < 0.5 ? create(key) : kind < 0.75 ? apply(home) : kind < 0.9 ? runOf(`run-${runs++}`) : ["reap"]
        const [fate, after] = [draw(), draw() * maxMillis]
        const command = yield* machine.start(args)
        yield* Effect.sleep(after)
        if (fate < 0.6) {
          command.signal("SIGKILL")
          killed++
        } else if (fate < 0.8) machine.proxy.cut()
        else if (fate < 0.9) {
          machine.proxy.hold()
          yield* Effect.sleep(1000)
          machine.proxy.release()
        }
        const { code, stderr } = yield* Effect.promise(() => command.ended)
        // These codes mean a bug or a usage error.
        assert.notInclude([1, 2], code, `${args.join(" ")}: ${stderr}`)
      }).pipe(Effect.scoped)
      const worker = Effect.gen(function* () {
        while (killed < kills) yield* step
      })
      yield* Effect.all([worker, worker, worker], { concurrency: "unbounded" })
      yield* noDoubles

      // After ten and a half minutes, it is certain that a create that was recorded but perhaps never sent has made no node.
      yield* advance("11 minutes")
      const third = yield* makeMachine("c", home, postgres, lateMillis)
      const left = machines.find(({ ledger }) => existsSync(ledger))
      if (left !== undefined) copyFileSync(left.ledger, third.ledger)
      for (const key of keys) {
        const { code, stderr, stdout } = yield* third.run(create(key))
        assert.strictEqual(code, 0, `${key}: ${stderr}`)
        const named = (yield* byName).get(key)!
        assert.deepStrictEqual([String(named[0]!.id), named.length], [stdout.trim(), 1])
      }
      const applied = yield* third.run(apply(home))
      assert.strictEqual(applied.code, 0, applied.stderr)
      const reaped = yield* third.run(["reap"])
      assert.strictEqual(reaped.code, 0, reaped.stderr)
      yield* noDoubles
      const living = [...(yield* byName)].filter(([, [node]]) => node!.status !== "terminate").map(([name]) => name)
      const webNames = Array.from({ length: members }, (_, i) => `shop-web-${i + 1}`)
      assert.sameMembers(living, [...keys, ...webNames], reaped.stderr)
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})
