/**
 * `berth apply` as processes that are killed at random instants, on a service that loses replies and lags behind; and two processes at
 * once. In the end each member has one node, no node of anybody else was changed, and the ledger matches the service.
 */
import { isSoak, numbersFrom, seed } from "@berthkit/testing/chance"
import { assert, describe, it } from "@effect/vitest"
import { TestServer, type TestServerOptions } from "@berthkit/server/testing"
import { Clock, Effect, Schedule } from "effect"
import { inDialect, isToday } from "../account.ts"
import { run, start } from "./berth.ts"
import { invoke, movable } from "./invoke.ts"
import { fleetFolder, large, nodes, rowsOf, webs } from "./fleet.ts"

/** How many runs are killed. */
const kills = isSoak ? 20 * Number(process.env["RUNS"]) : isToday ? 30 : 100

/** About how long a run takes from the start of its process to its end. */
const maxMillis = 1500

const members = 6

const serviceWith = (options: TestServerOptions) =>
  TestServer.layer(
    inDialect({
      clock: "real",
      provisioning: "100 millis",
      termination: "50 millis",
      nodes: [{ name: "other" }, { name: "shop-web-99" }],
      rateLimit: { limit: 100_000 },
      ...options
    })
  )
const service = serviceWith({})

interface Ledger {
  readonly members: ReadonlyArray<{
    readonly member: string
    readonly node?: { readonly id: number; readonly name: string }
  }>
}

describe("berth apply", () => {
  it.live(`killed ${kills} times makes one node for each member, and touches no other`, () =>
    Effect.gen(function* () {
      const draw = numbersFrom(seed)
      const { arm } = yield* TestServer
      const fleet = yield* fleetFolder
      const env = yield* fleet.env
      const foreign = (yield* nodes).map(({ id }) => id as number)
      yield* arm([
        { fault: "create-lost-reply", probability: 0.2 },
        { fault: "get-lags", probability: 0.2 },
        { fault: "list-stale", probability: 0.1 }
      ])
      let most = 0
      for (let killed = 0; killed < kills; killed++) {
        // Alternate the number of members, so that every run has something to do.
        fleet.write(webs(killed % 2 === 0 ? members : members - 1))
        const args = ["apply", "-f", fleet.file, "--yes", "--max-deletes", "1", "--grace", "50ms", "--quiet"]
        yield* Effect.scoped(
          Effect.gen(function* () {
            const running = yield* start(args, { env })
            yield* Effect.sleep(draw() * maxMillis)
            yield* running.kill("SIGKILL")
            yield* running.ended
          })
        )
        const own = (yield* nodes).filter(({ id, status }) => !foreign.includes(id) && status !== "terminate")
        most = Math.max(most, own.length)
        const names = own.map(({ name }) => name)
        assert.strictEqual(new Set(names).size, names.length, `a double after ${killed}: ${names.join(", ")}`)
      }
      yield* arm([])
      fleet.write(webs(members))
      // The next run continues what was left, perhaps by waiting for a create whose reply was lost.
      const args = ["apply", "-f", fleet.file, "--yes", "--max-deletes", "1", "--grace", "50ms", "--wait"]
      const next = yield* run(args, { env })
      // If a run is killed after it has recorded a create and before it sends the request, the outcome is unknown for ten and a half
      // minutes.
      const { clock, moveOn } = yield* movable
      moveOn(11 * 60_000)
      const last = next.code === 0 ? next : yield* Effect.provideService(invoke(args, { env }), Clock.Clock, clock)
      assert.strictEqual(last.code, 0, `${next.stderr}\n${last.stderr}`)
      const all = yield* nodes
      const own = all.filter(({ id }) => !foreign.includes(id))
      assert.deepStrictEqual(
        own.map(({ name }) => name).toSorted(),
        Array.from({ length: members }, (_, i) => `shop-web-${i + 1}`)
      )
      for (const id of foreign)
        assert.include(
          all.map((node) => node.id as number),
          id
        )
      const ledger = JSON.parse(fleet.ledgerText()) as Ledger
      assert.sameDeepMembers(
        ledger.members.flatMap(({ node }) => (node === undefined ? [] : [[node.id, node.name]])),
        own.map(({ id, name }) => [id as number, name])
      )
      assert.isAbove(most, 0)
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("killed or stopped while it creates is known to berth diff, and what it made can be given up at once", () =>
    Effect.gen(function* () {
      const { arm } = yield* TestServer
      const fleet = yield* fleetFolder
      const env = yield* fleet.env
      const own = Effect.map(nodes, (all) => all.filter(({ name }) => /^shop-web-\d$/.test(name)))
      for (const signal of ["SIGKILL", "SIGINT"] as const) {
        fleet.write(webs(3))
        yield* arm([{ fault: "latency", delay: "10 minutes", scope: { operation: "nodes.create" } }])
        const running = yield* start(["apply", "-f", fleet.file, "--yes"], { env })
        yield* Effect.repeat(own, { until: ({ length }) => length === 3, schedule: Schedule.spaced("20 millis") })
        yield* running.kill(signal)
        yield* running.ended
        yield* arm([])
        const diff = yield* run(["diff", "-f", fleet.file, "-o", "json"], { env })
        assert.deepStrictEqual(
          [
            diff.code,
            rowsOf(diff)
              .map(({ action, reason }) => `${action}: ${reason}`)
              .toSorted()
          ],
          [
            11,
            (yield* own)
              .map(({ id }) => `create: an earlier run sent this create; node ${id} may be its own`)
              .toSorted()
          ],
          diff.stderr
        )
        // A lower count deletes some nodes, and the end of the fleet deletes the rest.
        fleet.write(webs(1))
        const fewer = yield* run(["apply", "-f", fleet.file, "--yes", "--max-deletes", "2", "--wait"], { env })
        assert.strictEqual(fewer.code, 0, fewer.stderr)
        assert.lengthOf(yield* own, 1)
        const none = yield* run(["destroy", "-f", fleet.file, "--yes", "--wait"], { env })
        assert.strictEqual(none.code, 0, none.stderr)
        assert.lengthOf(yield* own, 0)
      }
      assert.lengthOf(yield* nodes, 2)
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("stopped while it waits for another run says that nothing was changed", () =>
    Effect.gen(function* () {
      const { arm } = yield* TestServer
      const fleet = yield* fleetFolder
      const env = yield* fleet.env
      fleet.write(webs(1))
      yield* arm([{ fault: "latency", delay: "10 minutes", scope: { operation: "nodes.create" } }])
      yield* start(["apply", "-f", fleet.file, "--yes"], { env })
      yield* Effect.repeat(nodes, { until: ({ length }) => length === 3, schedule: Schedule.spaced("20 millis") })
      const second = yield* start(["apply", "-f", fleet.file, "--yes"], { env })
      yield* second.untilStderr("Waiting for another run")
      yield* second.kill("SIGINT")
      const { code, stderr } = yield* second.ended
      assert.deepStrictEqual([code, stderr.trim().split("\n").at(-1)], [130, "Interrupted; nothing was changed."])
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("stopped while the ready command runs ends that with all that it started", () =>
    Effect.gen(function* () {
      const fleet = yield* fleetFolder
      const env = yield* fleet.env
      fleet.write(webs(1))
      yield* run(["apply", "-f", fleet.file, "--yes"], { env })
      fleet.write(webs(1, large))
      const ready = ["--replace", "all", "--max-deletes", "1", "--ready-command", "echo asking; sleep 300; true"]
      const running = yield* start(["apply", "-f", fleet.file, "--yes", ...ready], { env })
      yield* running.untilStderr("asking")
      yield* running.kill("SIGINT")
      // If the ready command kept running, it would hold stderr open.
      const { code, stderr } = yield* running.ended
      assert.deepStrictEqual([code, stderr.includes("Interrupted; 0 of 1 changes are done")], [130, true])
    }).pipe(Effect.scoped, Effect.provide(serviceWith({ uniqueNames: false })))
  )

  it.live("run twice at once makes each node once, and both runs report the nodes", () =>
    Effect.gen(function* () {
      const fleet = yield* fleetFolder
      const env = yield* fleet.env
      fleet.write(webs(members))
      const once = run(["apply", "-f", fleet.file, "--yes"], { env })
      const both = yield* Effect.all([once, once], { concurrency: 2 })
      assert.deepStrictEqual(
        both.map(({ code }) => code),
        [0, 0],
        both.map(({ stderr }) => stderr).join("\n")
      )
      const own = (yield* nodes).filter(({ name }) => /^shop-web-\d$/.test(name))
      assert.lengthOf(own, members)
      assert.isTrue(both.some(({ stdout }) => stdout.includes(`= ${members} unchanged`)))
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})
