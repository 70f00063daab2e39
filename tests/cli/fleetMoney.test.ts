/**
 * Limits what `berth apply` spends and deletes: only what it has shown, within limits that a script can set. It never deletes a protected
 * node, or a node whose replacement does not run.
 */
import { rmSync, writeFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { TestServer } from "@berthkit/server/testing"
import type { Ended } from "@berthkit/testing/Program"
import { Effect } from "effect"
import { inDialect } from "../account.ts"
import { json } from "./berth.ts"
import { startAgent } from "./mcp/Agent.ts"
import { hurriedFolder, large, nodes, rowsOf, webs } from "./fleet.ts"

// A replacement has the name of the node that it replaces.
const service = TestServer.layer(
  inDialect({ clock: "real", provisioning: 20, termination: "20 millis", uniqueNames: false })
)
const neverRuns = TestServer.layer(inDialect({ clock: "real", provisioning: "1 hour", termination: "20 millis" }))
const small = "C-2VCPU-8RAM-50DISK"

const namesAndPlans = Effect.map(nodes, (all) => all.map(({ name, plan }) => `${name} ${plan}`).toSorted())
const names = Effect.map(nodes, (all) => all.map(({ name }) => name).toSorted())

/** The bodies of the creates that were sent, and the number of commitments. */
const sentSince = Effect.gen(function* () {
  const { journal } = yield* TestServer
  const before = (yield* journal).length
  return Effect.map(journal, (all) => {
    const later = all.slice(before)
    return {
      creates: later.filter(({ method, path }) => method === "POST" && /nodes\/$|create/.test(path)).length,
      deletes: later.filter(({ method }) => method === "DELETE").length,
      commitments: later.filter(({ path }) => path.includes("update_committed")).length
    }
  })
})

/** Runs a command whose deadline may end before its create is sent, on a busy machine, until a create was sent. */
const untilSent = Effect.fnUntraced(function* <E, R>(command: Effect.Effect<Ended, E, R>) {
  const sent = yield* sentSince
  const both = Effect.zip(command, sent)
  const [ended] = yield* Effect.repeat(both, { until: ([, { creates }]) => creates > 0, times: 9 })
  return ended
})

const keyK = '"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIK k"'
const keyL = '"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIL l"'

const create = { operation: "nodes.create" } as const
const refuseCreates = (times: number) => [{ fault: "status", status: 422, times, scope: create } as never]

/** The days of a committed option of the large plan. */
const optionDays = Effect.gen(function* () {
  const fleet = yield* hurriedFolder
  fleet.write(webs(1, large, ", commitment: auto_renew 1d"))
  const { stderr } = yield* fleet.apply("--yes")
  const [, days] = /it has (\d+)d/.exec(stderr) ?? assert.fail(stderr)
  return Number(days)
})

describe("a protected node", () => {
  it.live("is not replaced, whatever differs", () =>
    Effect.gen(function* () {
      const fleet = yield* hurriedFolder
      fleet.write(webs(1, small, `, protect: true, tags: [a, b], sshKeys: [${keyK}, ${keyL}]`))
      assert.strictEqual((yield* fleet.apply("--yes", "--wait")).code, 0)
      const [before] = yield* nodes
      fleet.write(webs(1, large, `, protect: true, tags: [a, b], sshKeys: [${keyK}, ${keyL}]`))
      const kept = yield* fleet.apply("--yes", "--replace", "all", "--max-deletes", "1", "-o", "json")
      assert.strictEqual(kept.code, 0, kept.stderr)
      assert.deepStrictEqual(
        rowsOf(kept).map(({ action }) => action),
        ["differs"]
      )
      assert.include(rowsOf(kept)[0]!.reason, "protected: not replaced")
      assert.deepStrictEqual(
        (yield* nodes).map(({ id }) => id),
        [before!.id]
      )
      // If the same edit removes the protection, the protection still holds for this run.
      fleet.write(webs(1, large))
      const released = "the ledger protects it until this apply has finished; then --replace web-1 changes it"
      const shown = yield* fleet.diff("-o", "json")
      assert.strictEqual(shown.code, 11, shown.stderr)
      assert.include(rowsOf(shown)[0]!.reason, released)
      const same = yield* fleet.apply("--yes", "--replace", "web-1", "--max-deletes", "1")
      assert.strictEqual(same.code, 0, same.stderr)
      assert.include(same.stdout, released)
      assert.include(same.stderr, "differs and was protected until now; the next apply with --replace changes that.")
      assert.deepStrictEqual(yield* namesAndPlans, [`shop-web-1 ${small}`])
      // The protection is over, so the limit on deletions holds for the replacement.
      const limited = yield* fleet.apply("--yes", "--replace", "web-1")
      assert.strictEqual(limited.code, 2, limited.stderr)
      assert.include(limited.stderr, "--max-deletes is 0")
      assert.strictEqual((yield* fleet.apply("--yes", "--replace", "web-1", "--max-deletes", "1")).code, 0)
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("does not differ if its tags and keys are in another order", () =>
    Effect.gen(function* () {
      const fleet = yield* hurriedFolder
      fleet.write(webs(1, small, `, tags: [a, b], sshKeys: [${keyK}, ${keyL}]`))
      yield* fleet.apply("--yes")
      fleet.write(webs(1, small, `, tags: [b, a, a], sshKeys: [${keyL}, ${keyK}]`))
      assert.strictEqual((yield* fleet.diff()).code, 0)
      fleet.write(webs(1, small, `, tags: [b], sshKeys: [${keyL}, ${keyK}]`))
      assert.strictEqual((yield* fleet.diff()).code, 11)
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("stays if one edit removes its group and its protection, and in destroy because of the ledger alone", () =>
    Effect.gen(function* () {
      const fleet = yield* hurriedFolder
      fleet.write(webs(2, small, ", protect: true"))
      yield* fleet.apply("--yes")
      const args = ["--yes", "--max-deletes", "9", "-o", "json"]
      fleet.write(webs(0))
      for (const more of ["--dry-run", "--yes"]) {
        const destroyed = yield* fleet.run(["destroy", "-f", fleet.file, more, "-o", "json"])
        assert.deepStrictEqual([destroyed.code, rowsOf(destroyed).map(({ action }) => action)], [5, ["kept", "kept"]])
        assert.include(destroyed.stderr, "Kept, because they are protected, and billed: web-1, web-2.")
        assert.include(
          destroyed.stderr,
          `run berth apply -f ${fleet.file}, and then berth destroy -f ${fleet.file} again.`
        )
      }
      fleet.write("fleet: shop\nnodes: {}\n")
      assert.deepStrictEqual(
        rowsOf(yield* fleet.apply(...args)).map(({ action }) => action),
        ["kept", "kept"]
      )
      assert.lengthOf(yield* nodes, 2)
      // Deleting takes two runs: the first run only ends the protection, and the second run deletes.
      fleet.write(webs(0))
      const first = yield* fleet.apply("--yes", "--max-deletes", "9")
      assert.include(first.stdout, "the ledger protects it until this apply has finished")
      assert.include(first.stderr, "2 members are surplus and were protected until now")
      assert.lengthOf(yield* nodes, 2)
      assert.strictEqual((yield* fleet.apply(...args, "--wait")).code, 0)
      assert.lengthOf(yield* nodes, 0)
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})

describe("a delete by hand", () => {
  it.live(
    "of a protected member is refused before anything is sent, also beside others, until the fleet lets it go",
    () =>
      Effect.gen(function* () {
        const fleet = yield* hurriedFolder
        fleet.write(
          `fleet: shop\nnodes:\n  web: { plan: ${small}, image: Ubuntu-24.04 }\n  db: { plan: ${small}, image: Ubuntu-24.04, protect: true }\n`
        )
        yield* fleet.apply("--yes", "--wait")
        const db = (yield* nodes).find(({ name }) => name === "shop-db-1")!
        const sent = yield* sentSince
        for (const args of [
          [String(db.id), "--yes"],
          ["shop-*", "--yes"],
          ["shop-db-1", "--dry-run"]
        ]) {
          const refused = yield* fleet.run(["node", "delete", ...args])
          assert.strictEqual(refused.code, 5, refused.stderr)
          assert.include(refused.stderr, `Protected: node ${db.id} (shop-db-1), which is db-1 of the fleet shop.`)
          assert.include(refused.stderr, "berth fleet forget db-1")
        }
        assert.strictEqual((yield* sent).deletes, 0)
        assert.strictEqual((yield* fleet.run(["fleet", "forget", "-f", fleet.file, "db-1"])).code, 0)
        assert.strictEqual((yield* fleet.run(["node", "delete", "shop-db-1", "--yes"])).code, 0)
        assert.strictEqual((yield* fleet.run(["node", "delete", "shop-web-1", "--yes"])).code, 0)
      }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("proposed by an agent is refused, too", () =>
    Effect.gen(function* () {
      const fleet = yield* hurriedFolder
      fleet.write(webs(1, small, ", protect: true"))
      yield* fleet.apply("--yes", "--wait")
      const env = yield* fleet.env
      const agent = yield* startAgent(["--allow", "delete"], { env })
      const { content, isError } = yield* Effect.promise(() =>
        agent.call("propose", { action: "delete", node: "shop-web-1" })
      )
      assert.isTrue(isError)
      assert.include(content[0]?.text, "which is web-1 of the fleet shop")
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})

describe("a create that an earlier run has left", () => {
  it.live("is never sent if the file orders something else by now", () =>
    Effect.gen(function* () {
      const { arm } = yield* TestServer
      const fleet = yield* hurriedFolder
      fleet.write(webs(1, large, ", tags: [big]"))
      yield* arm([{ fault: "rate-limited", scope: create } as never])
      const refused = yield* fleet.apply("--yes", "--deadline", "2s")
      assert.strictEqual(refused.code, 9, refused.stderr)
      yield* arm([])
      fleet.write(webs(1, small))
      // Either the create certainly made nothing, or the run does nothing.
      const next = yield* fleet.apply("--yes", "--max-cost", "7")
      assert.notInclude(yield* namesAndPlans, `shop-web-1 ${large}`, next.stderr)
      assert.include([0, 5], next.code, next.stderr)
      if (next.code === 0) assert.deepStrictEqual(yield* namesAndPlans, [`shop-web-1 ${small}`])
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("is settled if it made a node that the file no longer orders, and the node stays and differs", () =>
    Effect.gen(function* () {
      const { arm } = yield* TestServer
      const fleet = yield* hurriedFolder
      fleet.write(webs(1, large))
      yield* arm([{ fault: "latency", delay: "10 minutes", scope: create }, { fault: "list-stale" }] as never)
      yield* untilSent(fleet.apply("--yes", "--deadline", "2s"))
      yield* arm([])
      fleet.write(webs(1, small))
      const next = yield* fleet.apply("--yes", "--max-cost", "7", "-o", "json")
      assert.deepStrictEqual(yield* namesAndPlans, [`shop-web-1 ${large}`], next.stderr)
      assert.deepStrictEqual(
        rowsOf(next).map(({ action }) => action),
        ["differs"]
      )
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("of a replacement that was reverted: its node is deleted, and the node of the file stays", () =>
    Effect.gen(function* () {
      const fleet = yield* hurriedFolder
      fleet.write(webs(1, small, ", tags: [a]"))
      yield* fleet.apply("--yes", "--wait")
      const [before] = yield* nodes
      fleet.write(webs(1, large, ", tags: [b]"))
      const replace = ["--yes", "--replace", "all", "--max-deletes", "1"]
      yield* fleet.apply(...replace, "--ready-command", "exit 1", "--ready-timeout", "1ms")
      assert.lengthOf(yield* nodes, 2)
      fleet.write(webs(1, small, ", tags: [a]"))
      const back = yield* fleet.apply(...replace, "-o", "json")
      assert.strictEqual(back.code, 0, back.stderr)
      yield* Effect.sleep(100)
      assert.deepStrictEqual(
        (yield* nodes).map(({ id }) => id),
        [before!.id]
      )
      assert.strictEqual((yield* fleet.diff()).code, 0)
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})

describe("the commitments of a fleet", () => {
  it.live("have their own rows and their own limit", () =>
    Effect.gen(function* () {
      const days = yield* optionDays
      const fleet = yield* hurriedFolder
      fleet.write(webs(2, large, `, commitment: auto_renew ${days}d`))
      const planned = yield* fleet.apply("--dry-run", "-o", "json")
      const bought = rowsOf(planned).filter(({ action }) => action === "commit")
      assert.deepStrictEqual(
        bought.map(({ member }) => member),
        ["web-1", "web-2"]
      )
      const each = bought[0]!.committedPriceInr!
      assert.isAbove(each, 0)
      assert.include(bought[0]!.reason, `${days} days`)
      assert.include((yield* fleet.apply("--dry-run")).stderr, `₹${(each * 2).toFixed(2)}`)
      const sent = yield* sentSince
      for (const args of [[], ["--max-commitment", String(each)]]) {
        const refused = yield* fleet.apply("--yes", "--max-cost", "100", ...args)
        assert.deepStrictEqual([refused.code, yield* names], [2, []])
        assert.include(refused.stderr, "--max-commitment")
      }
      const bounded = yield* fleet.apply("--yes", "--max-commitment", String(each * 2))
      assert.strictEqual(bounded.code, 0, bounded.stderr)
      assert.strictEqual((yield* sent).commitments, 2)
      assert.strictEqual((yield* fleet.diff()).code, 0)
      // A replacement buys a new period.
      fleet.write(webs(2, large, `, commitment: auto_renew ${days}d, tags: [new]`))
      const replace = ["--yes", "--replace", "all", "--max-deletes", "2"]
      assert.strictEqual((yield* fleet.apply(...replace)).code, 2)
      assert.strictEqual((yield* sent).commitments, 2)
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("are shown with their loss if a node with a commitment is deleted", () =>
    Effect.gen(function* () {
      const days = yield* optionDays
      const fleet = yield* hurriedFolder
      fleet.write(webs(1, large, `, commitment: auto_renew ${days}d`))
      const bought = yield* fleet.apply("--yes", "--max-commitment", "1000000", "-o", "json")
      assert.strictEqual(bought.code, 0, bought.stderr)
      const price = rowsOf(bought).find(({ action }) => action === "commit")!.committedPriceInr!
      const [node] = yield* nodes
      const loss = `its committed period of ${days} days for ₹${price.toFixed(2)} may still run, and the rest of it is lost`
      const planned = [
        ["replace", ["apply", "--replace", "all"], webs(1, small)],
        ["delete", ["apply"], webs(0)],
        ["delete", ["destroy"], webs(1, large, `, commitment: auto_renew ${days}d`)]
      ] as const
      for (const [action, [command, ...flags], text] of planned) {
        fleet.write(text)
        const { stdout } = yield* fleet.run([command, "-f", fleet.file, ...flags, "--dry-run", "-o", "json"])
        const rows = JSON.parse(stdout) as ReadonlyArray<{ action: string; id: number; reason: string }>
        assert.deepStrictEqual(
          rows.map((row) => row.action),
          [action, "forfeit"]
        )
        assert.deepInclude(rows[1]!, { id: node!.id, reason: loss })
      }
      const one = yield* fleet.run(["node", "delete", String(node!.id), "--dry-run", "-o", "json"])
      assert.include(json<{ outcome: string }>(one).outcome, loss)
      // This sets what happens at the end of the commitment; it does not end the commitment.
      fleet.write(webs(1, large, ", commitment: hourly_billing"))
      assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
      const later = yield* fleet.run(["destroy", "-f", fleet.file, "--dry-run", "-o", "json"])
      assert.include(later.stdout, loss)
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("are sent once if the reply is lost, and then a person has to look", () =>
    Effect.gen(function* () {
      const { arm } = yield* TestServer
      const days = yield* optionDays
      const fleet = yield* hurriedFolder
      fleet.write(webs(1, large, `, commitment: auto_renew ${days}d`))
      yield* arm([{ fault: "reset-after-request", scope: { operation: "commitments.set" } } as never])
      const sent = yield* sentSince
      const args = ["--yes", "--max-commitment", "1000000"]
      const lost = yield* fleet.apply(...args)
      assert.strictEqual(lost.code, 9, lost.stderr)
      yield* arm([])
      const again = yield* fleet.apply(...args, "-o", "json")
      assert.strictEqual((yield* sent).commitments, 1)
      assert.include(rowsOf(again)[0]!.reason, "is not known")
      assert.strictEqual((yield* fleet.diff()).code, 11)
      const [node] = yield* nodes
      const adopt = ["fleet", "adopt", String(node!.id), "--as", "web-1", "-f", fleet.file]
      const told = yield* fleet.run([...adopt, "--commitment", `auto_renew ${days}d`])
      assert.strictEqual(told.code, 0, told.stderr)
      assert.strictEqual((yield* fleet.diff()).code, 0)
      assert.strictEqual((yield* sent).commitments, 1)
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("continue if the file no longer names them, which is a difference", () =>
    Effect.gen(function* () {
      const days = yield* optionDays
      const fleet = yield* hurriedFolder
      fleet.write(webs(1, large, `, commitment: auto_renew ${days}d`))
      assert.strictEqual((yield* fleet.apply("--yes", "--max-commitment", "1000000")).code, 0)
      fleet.write(webs(1, large))
      const sent = yield* sentSince
      const left = yield* fleet.apply("--yes", "--replace", "all", "--max-deletes", "1", "-o", "json")
      assert.deepStrictEqual([left.code, (yield* fleet.diff()).code], [0, 11], left.stderr)
      assert.include(rowsOf(left)[0]!.reason, "commitment: hourly_billing")
      assert.deepStrictEqual(yield* sent, { creates: 0, deletes: 0, commitments: 0 })
      fleet.write(webs(1, large, ", commitment: hourly_billing"))
      assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
      assert.strictEqual((yield* sent).commitments, 1)
      fleet.write(webs(1, large))
      assert.strictEqual((yield* fleet.diff()).code, 0)
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})

describe("a renamed group", () => {
  const renamed = (count: number) => webs(count).replace("web:", "www:")

  it.live("keeps its nodes if the new ones are refused", () =>
    Effect.gen(function* () {
      const { arm } = yield* TestServer
      const fleet = yield* hurriedFolder
      fleet.write(webs(3))
      yield* fleet.apply("--yes", "--wait")
      fleet.write(renamed(3))
      yield* arm(refuseCreates(3))
      const failed = yield* fleet.apply("--yes", "--max-deletes", "3", "-o", "json")
      assert.strictEqual(failed.code, 9, failed.stderr)
      assert.deepStrictEqual(yield* names, ["shop-web-1", "shop-web-2", "shop-web-3"])
      assert.deepStrictEqual(
        rowsOf(failed).flatMap(({ action, outcome }) => (action === "delete" ? [outcome] : [])),
        ["skipped", "skipped", "skipped"]
      )
      yield* arm([])
      assert.strictEqual((yield* fleet.apply("--yes", "--max-deletes", "3", "--wait")).code, 0)
      assert.deepStrictEqual(yield* names, ["shop-www-1", "shop-www-2", "shop-www-3"])
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("keeps its nodes while the new ones do not run, also in later runs", () =>
    Effect.gen(function* () {
      const fleet = yield* hurriedFolder
      fleet.write(webs(2))
      yield* fleet.apply("--yes")
      fleet.write(renamed(2))
      const sent = yield* sentSince
      for (let run = 0; run < 2; run++) {
        const failed = yield* fleet.apply("--yes", "--max-deletes", "2", "--timeout", "1s")
        assert.strictEqual(failed.code, 9, failed.stderr)
        assert.deepStrictEqual(yield* names, ["shop-web-1", "shop-web-2", "shop-www-1", "shop-www-2"])
      }
      assert.strictEqual((yield* sent).deletes, 0)
    }).pipe(Effect.scoped, Effect.provide(neverRuns))
  )
})

describe("--max-cost", () => {
  it.live("counts old nodes until they are deleted, however often a group whose nodes never run is renamed", () =>
    Effect.gen(function* () {
      const fleet = yield* hurriedFolder
      fleet.write(webs(1))
      yield* fleet.apply("--yes")
      const codes: Array<unknown> = []
      for (const group of ["b", "c", "d"]) {
        fleet.write(webs(1).replace("web:", `${group}:`))
        const ended = yield* fleet.apply("--yes", "--max-deletes", "3", "--max-cost", "20", "--timeout", "1s")
        codes.push(ended.code)
        if (ended.code === 2) assert.include(ended.stderr, "until its old nodes are deleted, more than --max-cost 20")
      }
      // Each node costs ₹6.46.
      assert.deepStrictEqual(codes, [9, 9, 2])
      assert.lengthOf(yield* nodes, 3)
      // A run that only deletes never costs too much.
      assert.strictEqual((yield* fleet.run(["destroy", "-f", fleet.file, "--yes"])).code, 0)
    }).pipe(Effect.scoped, Effect.provide(neverRuns))
  )

  it.live("counts the node that another one replaces, until it is deleted", () =>
    Effect.gen(function* () {
      const fleet = yield* hurriedFolder
      fleet.write(webs(3))
      assert.strictEqual((yield* fleet.apply("--yes", "--wait")).code, 0)
      fleet.write(webs(3).replace("Ubuntu-24.04", "Ubuntu-22.04"))
      const replace = ["--yes", "--replace", "all", "--max-deletes", "3", "--max-cost"]
      assert.strictEqual((yield* fleet.apply(...replace, "25")).code, 2)
      assert.strictEqual((yield* fleet.apply(...replace, "26", "--max-unavailable", "2")).code, 2)
      assert.strictEqual((yield* fleet.apply(...replace, "26")).code, 0)
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  describe("a renamed group with a ready command", () => {
    it.live("keeps the old node until the command exits with 0 for the new one, also in a later run", () =>
      Effect.gen(function* () {
        const fleet = yield* hurriedFolder
        fleet.write(webs(1))
        yield* fleet.apply("--yes", "--wait")
        fleet.write(webs(1).replace("web:", "www:"))
        const apply = (ready: string) =>
          fleet.apply(
            "--yes",
            "--max-deletes",
            "1",
            "--replace",
            "all",
            "--ready-command",
            ready,
            "--ready-timeout",
            "1s"
          )
        for (let run = 0; run < 2; run++) {
          const blocked = yield* apply("false")
          assert.strictEqual(blocked.code, 9, blocked.stderr)
          assert.include(blocked.stderr, "which may replace a node that is to be deleted: nothing was deleted.")
          assert.deepStrictEqual(yield* names, ["shop-web-1", "shop-www-1"])
        }
        assert.strictEqual((yield* apply("true")).code, 0)
      }).pipe(Effect.scoped, Effect.provide(service))
    )
  })

  it.live("counts what finished replacements cost more", () =>
    Effect.gen(function* () {
      const fleet = yield* hurriedFolder
      fleet.write(webs(3))
      assert.strictEqual((yield* fleet.apply("--yes", "--wait")).code, 0)
      // Each node costs ₹12.92 instead of ₹6.46.
      fleet.write(webs(3, large))
      const replace = ["--yes", "--replace", "all", "--max-deletes", "3", "--max-cost"]
      const refused = yield* fleet.apply(...replace, "45")
      assert.strictEqual(refused.code, 2)
      assert.include(refused.stderr, "The fleet would cost ₹45.22 per hour")
      assert.strictEqual((yield* fleet.apply(...replace, "46", "--max-unavailable", "2")).code, 2)
      assert.strictEqual((yield* fleet.apply(...replace, "46", "--max-unavailable", "2", "--dry-run")).code, 2)
      assert.strictEqual((yield* fleet.apply(...replace, "46")).code, 0)
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})

describe("a replacement whose new node never runs", () => {
  it.live("buys no commitment for it", () =>
    Effect.gen(function* () {
      const fleet = yield* hurriedFolder
      fleet.write(webs(1, large))
      yield* fleet.apply("--yes")
      const days = yield* Effect.provide(optionDays, service)
      fleet.write(webs(1, large, `, commitment: auto_renew ${days}d`).replace("Ubuntu-24.04", "Ubuntu-22.04"))
      const sent = yield* sentSince
      const bounds = ["--max-deletes", "1", "--max-commitment", "1000000", "--timeout", "1s"]
      const failed = yield* fleet.apply("--yes", "--replace", "all", ...bounds)
      assert.strictEqual(failed.code, 9, failed.stderr)
      assert.deepInclude(yield* sent, { creates: 1, commitments: 0, deletes: 0 })
    }).pipe(Effect.scoped, Effect.provide(neverRuns))
  )
})

describe("a renamed group whose new node is off", () => {
  it.live("keeps the old one, and deletes it once the new one runs", () =>
    Effect.gen(function* () {
      const { control, id: world } = yield* TestServer
      const fleet = yield* hurriedFolder
      fleet.write(webs(1))
      yield* fleet.apply("--yes")
      fleet.write(webs(1).replace("web:", "www:"))
      yield* fleet.apply("--yes", "--max-deletes", "1", "--timeout", "1s")
      const [, made] = (yield* nodes).toSorted((a, b) => a.id - b.id)
      const force = (status: "power-off" | "running") =>
        Effect.orDie(control.nodes.change({ params: { world, id: made!.id }, payload: { status } }))
      yield* force("power-off")
      const blocked = yield* fleet.apply("--yes", "--max-deletes", "1")
      assert.strictEqual(blocked.code, 9, blocked.stderr)
      assert.include(blocked.stderr + blocked.stdout, `shop-www-1 (${made!.id}) may replace a node`)
      assert.deepStrictEqual(yield* names, ["shop-web-1", "shop-www-1"])
      yield* force("running")
      assert.strictEqual((yield* fleet.apply("--yes", "--max-deletes", "1")).code, 0)
    }).pipe(Effect.scoped, Effect.provide(neverRuns))
  )
})

describe("a rename that was reverted", () => {
  const off = (id: number) =>
    Effect.flatMap(TestServer, ({ control, id: world }) =>
      Effect.orDie(control.nodes.change({ params: { world, id }, payload: { status: "power-off" } }))
    )
  const twoGroups = (web: number, www: number) =>
    `fleet: shop\nnodes:\n  web: { count: ${web}, plan: ${small}, image: Ubuntu-24.04 }\n  www: { count: ${www}, plan: ${small}, image: Ubuntu-24.04 }\n`

  it.live.each([
    ["a group", webs(1), webs(1).replace("web:", "www:")],
    ["a member, by the counts of two groups", twoGroups(2, 1), twoGroups(1, 2)]
  ] as const)("keeps the only node that runs while the old node is off: %s", ([, before, after]) =>
    Effect.gen(function* () {
      const { control, id: world } = yield* TestServer
      const fleet = yield* hurriedFolder
      fleet.write(before)
      yield* fleet.apply("--yes")
      const [old] = (yield* nodes)
        .filter(({ name }) => name.includes("-web-"))
        .toSorted((a, b) => (a.name < b.name ? 1 : -1))
      if (old === undefined) return assert.fail("no node")
      const isOld = ({ id }: { readonly id: number }) => id === old.id
      fleet.write(after)
      // The new node does not run in time, so the old one stays.
      assert.strictEqual((yield* fleet.apply("--yes", "--max-deletes", "1", "--timeout", "1s")).code, 9)
      const force = (status: "power-off" | "running") => (id: number) =>
        Effect.orDie(control.nodes.change({ params: { world, id }, payload: { status } }))
      yield* Effect.forEach(yield* nodes, ({ id }) => force("running")(id))
      yield* off(old.id)
      fleet.write(before)
      for (let run = 0; run < 2; run++) {
        const blocked = yield* fleet.apply("--yes", "--max-deletes", "1")
        assert.strictEqual(blocked.code, 9, blocked.stderr)
        assert.include(blocked.stderr + blocked.stdout, `${old.name} (${old.id}) may replace a node`)
      }
      const made = (yield* nodes).reduce((a, b) => (a.id > b.id ? a : b))
      assert.strictEqual(made.status, "running")
      yield* force("running")(old.id)
      const done = yield* fleet.apply("--yes", "--max-deletes", "1")
      assert.strictEqual(done.code, 0, done.stderr)
      assert.notInclude(
        (yield* nodes).filter(({ status }) => status === "running").map(({ id }) => id),
        made.id
      )
      assert.isTrue((yield* nodes).some(isOld))
    }).pipe(Effect.scoped, Effect.provide(neverRuns))
  )

  it.live("also keeps it if the old node gets a commitment, which stays reported as set", () =>
    Effect.gen(function* () {
      const { control, id: world } = yield* TestServer
      const days = yield* optionDays
      const fleet = yield* hurriedFolder
      fleet.write(webs(1, large))
      yield* fleet.apply("--yes")
      const [old] = yield* nodes
      fleet.write(webs(1, large).replace("web:", "www:"))
      assert.strictEqual((yield* fleet.apply("--yes", "--max-deletes", "1", "--timeout", "1s")).code, 9)
      yield* Effect.forEach(yield* nodes, ({ id }) =>
        Effect.orDie(control.nodes.change({ params: { world, id }, payload: { status: "running" } }))
      )
      yield* off(old!.id)
      fleet.write(webs(1, large, `, commitment: auto_renew ${days}d`))
      const blocked = yield* fleet.apply("--yes", "--max-deletes", "1", "--max-commitment", "9999999", "-o", "json")
      assert.strictEqual(blocked.code, 9, blocked.stderr)
      assert.deepStrictEqual(
        rowsOf(blocked).flatMap(({ action, outcome }) => (outcome === "none" ? [] : [`${action} ${outcome}`])),
        ["commit committed", "delete skipped"]
      )
      assert.include(blocked.stderr, "may replace a node")
    }).pipe(Effect.scoped, Effect.provide(neverRuns))
  )

  it.live("deletes a node although another node is off, if no plan ever wanted to delete that other node", () =>
    Effect.gen(function* () {
      const fleet = yield* hurriedFolder
      for (const text of [webs(1), twoGroups(1, 1)]) {
        fleet.write(text)
        yield* fleet.apply("--yes", "--wait")
      }
      const web = (yield* nodes).find(({ name }) => name === "shop-web-1")!
      yield* off(web.id)
      fleet.write(webs(1))
      const alone = yield* fleet.apply("--yes", "--max-deletes", "1")
      assert.strictEqual(alone.code, 0, alone.stderr)
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("is not assumed of a node that was taken in and has not been seen to run", () =>
    Effect.gen(function* () {
      const fleet = yield* hurriedFolder
      const before = yield* fleet.run(["node", "create", "older", "--plan", small, "--image", "Ubuntu-24.04", "--wait"])
      assert.strictEqual(before.code, 0, before.stderr)
      const [older] = yield* nodes
      yield* off(older!.id)
      fleet.write(webs(1))
      yield* fleet.apply("--yes", "--wait")
      fleet.write(webs(1).replace("web:", "www:"))
      const taken = yield* fleet.run(["fleet", "adopt", String(older!.id), "--as", "www-1", "-f", fleet.file])
      assert.strictEqual(taken.code, 0, taken.stderr)
      const blocked = yield* fleet.apply("--yes", "--max-deletes", "1")
      assert.strictEqual(blocked.code, 9, blocked.stderr)
      assert.include(blocked.stderr + blocked.stdout, `older (${older!.id}) may replace a node`)
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})

describe("a member with two nodes", () => {
  it.live.each([small, large])("is a difference in diff, apply and fleet list, and nothing is deleted: %s", (plan) =>
    Effect.gen(function* () {
      const fleet = yield* hurriedFolder
      fleet.write(webs(1))
      yield* fleet.apply("--yes", "--wait")
      const args = ["shop-web-1", "--plan", plan, "--image", "Ubuntu-24.04", "-o", "json"]
      const { id } = json<{ readonly id: number }>(yield* fleet.run(["node", "create", ...args]))
      const diff = yield* fleet.diff("-o", "json")
      assert.strictEqual(diff.code, 11)
      const twins = rowsOf(diff).filter(({ action }) => action === "doubled")
      assert.deepStrictEqual(
        twins.map((row) => [row.member, row.id]),
        [["web-1", id]]
      )
      const applied = yield* fleet.apply("--yes")
      assert.notStrictEqual(applied.code, 0)
      assert.include(applied.stderr + applied.stdout, `berth history ${id}`)
      assert.notInclude(applied.stderr + applied.stdout, "berth node delete")
      const listed = yield* fleet.run(["fleet", "list", "-o", "json"])
      assert.strictEqual(listed.code, 11)
      assert.lengthOf(yield* nodes, 2)
      yield* fleet.run(["node", "delete", String(id), "--yes", "--wait"])
      assert.deepStrictEqual([(yield* fleet.diff()).code, (yield* fleet.run(["fleet", "list"])).code], [0, 0])
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("of a replacement that was begun is a difference everywhere, also if it is protected and given up", () =>
    Effect.gen(function* () {
      const fleet = yield* hurriedFolder
      fleet.write(webs(1))
      yield* fleet.apply("--yes", "--wait")
      fleet.write(webs(1, large))
      const notReady = ["--ready-command", "exit 1", "--ready-timeout", "1ms"]
      yield* fleet.apply("--yes", "--replace", "all", "--max-deletes", "1", ...notReady)
      fleet.write(webs(1, large, ", protect: true"))
      yield* fleet.apply("--yes")
      const [old = 0, made = 0] = (yield* nodes).map(({ id }) => id).toSorted((a, b) => a - b)
      fleet.write("fleet: shop\nnodes: {}\n")
      const listed = yield* fleet.run(["fleet", "list", "-o", "json"])
      assert.deepStrictEqual([listed.code, json<ReadonlyArray<{ state: string }>>(listed)[0]!.state], [11, "doubled"])
      assert.include(listed.stderr, `web-1 of shop has more than one node: ${made}, which the ledger has, and ${old}.`)
      const destroy = fleet.run(["destroy", "-f", fleet.file, "--yes", "--max-deletes", "9", "-o", "json"])
      for (const [run, code] of [
        [fleet.diff("-o", "json"), 11],
        [fleet.apply("--yes", "--max-deletes", "9", "-o", "json"), 5],
        [destroy, 5]
      ] as const) {
        const shown = yield* run
        assert.strictEqual(shown.code, code, shown.stderr)
        assert.sameDeepMembers(
          rowsOf(shown).map(({ action, id }) => [action, id]),
          [
            ["kept", made],
            ["doubled", old]
          ]
        )
        assert.include(
          shown.stdout,
          "Both stay protected until the replacement is finished or you run berth fleet forget"
        )
      }
      const remove = fleet.run(["node", "delete", String(old), "--yes", "--wait"])
      assert.strictEqual((yield* remove).code, 5)
      assert.lengthOf(yield* nodes, 2)
      // The person does what the row says.
      yield* fleet.run(["fleet", "forget", "web-1", "-f", fleet.file])
      assert.strictEqual((yield* remove).code, 0)
      assert.strictEqual((yield* fleet.run(["fleet", "list"])).code, 0)
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("is seen if two machines have made one each", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* hurriedFolder, yield* hurriedFolder]
      one.write(webs(1))
      yield* one.apply("--yes", "--wait")
      const text = one.ledgerText()
      // The other machine made its plan when its ledger was empty; a lost ledger has the same effect here.
      rmSync(one.ledger)
      yield* one.run(["node", "list"])
      other.write(webs(1))
      const [first] = yield* nodes
      const made = yield* other.run([
        "node",
        "create",
        "shop-web-1",
        "--plan",
        small,
        "--image",
        "Ubuntu-24.04",
        "-o",
        "json"
      ])
      const { id } = json<{ readonly id: number }>(made)
      const adopted = yield* other.run(["fleet", "adopt", String(id), "--as", "web-1", "-f", other.file])
      assert.strictEqual(adopted.code, 0, adopted.stderr)
      writeFileSync(one.ledger, text)
      for (const [fleet, twin] of [
        [one, id],
        [other, first!.id]
      ] as const) {
        const diff = yield* fleet.diff("-o", "json")
        assert.deepStrictEqual(
          [diff.code, rowsOf(diff).flatMap((row) => (row.action === "doubled" ? [row.id] : []))],
          [11, [twin]]
        )
      }
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("is reported with both ids if a merge of two branches left two lines in the ledger", () =>
    Effect.gen(function* () {
      const fleet = yield* hurriedFolder
      fleet.write(webs(1))
      yield* fleet.apply("--yes")
      const lines = fleet.ledgerText().split("\n")
      const at = lines.findIndex((line) => line.includes('"member":"web-1"'))
      const [node] = yield* nodes
      const twin = lines[at]!.replace(`"id":${node!.id}`, `"id":${node!.id + 1}`)
      writeFileSync(fleet.ledger, [...lines.slice(0, at), `${lines[at]},`, twin, ...lines.slice(at + 1)].join("\n"))
      for (const run of [fleet.diff(), fleet.apply("--yes"), fleet.run(["fleet", "list"])]) {
        const refused = yield* run
        assert.notStrictEqual(refused.code, 0)
        assert.include(refused.stderr, `web-1 is in it twice, with the nodes ${node!.id} and ${node!.id + 1}`)
      }
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})

describe("what an apply says", () => {
  it.live("has the service's reason in the row of what failed", () =>
    Effect.gen(function* () {
      const { arm } = yield* TestServer
      const fleet = yield* hurriedFolder
      fleet.write(webs(1))
      yield* arm([
        { fault: "status", status: 422, times: 1, message: "No capacity in this zone", scope: create } as never
      ])
      const failed = yield* fleet.apply("--yes", "-o", "json")
      assert.strictEqual(failed.code, 9, failed.stderr)
      assert.include(rowsOf(failed)[0]!.reason, "No capacity in this zone")
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("is the plan and exit code 2 without a terminal and without --yes", () =>
    Effect.gen(function* () {
      const fleet = yield* hurriedFolder
      fleet.write(webs(2))
      const unasked = yield* fleet.apply()
      assert.strictEqual(unasked.code, 2)
      assert.include(unasked.stderr, "+ create")
      assert.include(unasked.stderr, "After: ₹12.92 per hour")
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("names the place of an unknown plan, image or commitment in the file, also in diff and in a dry run", () =>
    Effect.gen(function* () {
      const fleet = yield* hurriedFolder
      fleet.write(webs(1))
      yield* fleet.apply("--yes")
      for (const [text, place] of [
        [webs(1, "C-2VCPU-8RAM-5DISK"), "3:26: nodes.web.plan"],
        [webs(1).replace("Ubuntu-24.04", "Ubuntu-99"), "nodes.web.image"],
        [`${webs(1)}  job: { plan: x, image: y, count: 0 }\n`, "4:16: nodes.job.plan"],
        [webs(1, large, ", commitment: auto_renew 3d"), "nodes.web.commitment"]
      ] as const) {
        fleet.write(text)
        for (const run of [fleet.diff(), fleet.apply("--dry-run"), fleet.apply("--dry-run", "--replace", "all")]) {
          const refused = yield* run
          assert.strictEqual(refused.code, 2, `${text}: ${refused.stdout}`)
          assert.match(refused.stderr, /fleet\.yaml:[34]:\d+: nodes/)
          assert.include(refused.stderr, place)
        }
      }
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("is a usage error if the file is too large", () =>
    Effect.gen(function* () {
      const fleet = yield* hurriedFolder
      fleet.write(`${webs(1)}# ${"x".repeat(1_100_000)}\n`)
      const refused = yield* fleet.apply("--yes")
      assert.deepStrictEqual([refused.code, refused.stderr.includes("is too large")], [2, true], refused.stderr)
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("names the amount that is due at once, and has a limit for it", () =>
    Effect.gen(function* () {
      const fleet = yield* hurriedFolder
      fleet.write(webs(2))
      const planned = yield* fleet.apply("--dry-run", "-o", "json")
      const minimum = rowsOf(planned).map(({ minimumBillingInr }) => minimumBillingInr!)
      assert.isTrue(
        minimum.every((each) => each > 0),
        JSON.stringify(minimum)
      )
      const sum = minimum[0]! + minimum[1]!
      assert.include((yield* fleet.apply("--dry-run")).stderr, `Minimum charge of new nodes: ₹${sum.toFixed(2)}`)
      const refused = yield* fleet.apply("--yes", "--max-minimum", String(sum - 1))
      assert.deepStrictEqual([refused.code, yield* names], [2, []])
      assert.strictEqual((yield* fleet.apply("--yes", "--max-minimum", String(sum))).code, 0)
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("names another name in the file as a difference", () =>
    Effect.gen(function* () {
      const fleet = yield* hurriedFolder
      fleet.write(webs(1))
      yield* fleet.apply("--yes", "--wait")
      fleet.write(webs(1, small, ', name: "front-{n}"'))
      const diff = yield* fleet.diff("-o", "json")
      assert.strictEqual(diff.code, 11)
      assert.include(rowsOf(diff)[0]!.reason, "name shop-web-1, not front-1")
      assert.strictEqual((yield* fleet.apply("--yes", "--replace", "all", "--max-deletes", "1")).code, 0)
      yield* Effect.sleep(100)
      assert.deepStrictEqual(yield* names, ["front-1"])
      assert.strictEqual((yield* fleet.diff()).code, 0)
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})

describe("a create that was refused, of whose name somebody makes a node", () => {
  /** A fleet of one member whose creates were all refused, and the id of the node that has its name. */
  const inDoubt = Effect.gen(function* () {
    const { arm } = yield* TestServer
    const fleet = yield* hurriedFolder
    fleet.write(webs(1))
    yield* arm([{ fault: "status", status: 429, times: 100, scope: create }] as never)
    assert.strictEqual((yield* untilSent(fleet.apply("--yes", "--deadline", "2s"))).code, 9)
    yield* arm([])
    const theirs = ["node", "create", "shop-web-1", "--plan", small, "--image", "Ubuntu-24.04", "-o", "json"]
    // Create the node on another machine, because this one always recognizes its own node.
    const { id } = json<{ readonly id: number }>(yield* (yield* hurriedFolder).run(theirs))
    const unknown = yield* fleet.apply("--yes")
    assert.strictEqual(unknown.code, 9, unknown.stderr)
    assert.include(unknown.stderr, `the candidates are ${id}`)
    const listed = yield* fleet.run(["fleet", "list", "-o", "json"])
    assert.deepStrictEqual([listed.code, json<ReadonlyArray<object>>(listed).length], [11, 1], listed.stderr)
    assert.deepInclude(json<ReadonlyArray<object>>(listed)[0], { pending: 1, state: "undecided" })
    assert.include(listed.stderr, `(web-1 of shop) was created; node ${id} may be its own.`)
    const differing = yield* fleet.diff("-o", "json")
    assert.strictEqual(differing.code, 11, differing.stderr)
    assert.include(rowsOf(differing)[0]!.reason, `node ${id} may be its own`)
    fleet.write(webs(1, large))
    const other = yield* fleet.diff()
    assert.strictEqual(other.code, 5, other.stderr)
    assert.include(other.stderr, `the file orders something else; node ${id} may be its own.`)
    fleet.write(webs(1))
    const locked = yield* fleet.run(["destroy", "-f", fleet.file, "--yes"])
    assert.strictEqual(locked.code, 5, locked.stderr)
    assert.include(locked.stderr, "berth fleet forget")
    return { fleet, id }
  })

  it.live("is forgotten if a person says that the node is not its own, and the node stays", () =>
    Effect.gen(function* () {
      const { fleet, id } = yield* inDoubt
      const forgotten = yield* fleet.run(["fleet", "forget", "web-1", "-f", fleet.file])
      assert.strictEqual(forgotten.code, 0, forgotten.stderr)
      assert.include(forgotten.stderr, `If one of these nodes is its own, it is billed: ${id}.`)
      assert.strictEqual((yield* fleet.run(["destroy", "-f", fleet.file, "--yes"])).code, 0)
      assert.deepStrictEqual(yield* names, ["shop-web-1"])
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("is settled if a person says that the node is its own", () =>
    Effect.gen(function* () {
      const { fleet, id } = yield* inDoubt
      const adopted = yield* fleet.run(["fleet", "adopt", String(id), "--as", "web-1", "-f", fleet.file])
      assert.strictEqual(adopted.code, 0, adopted.stderr)
      assert.strictEqual((yield* fleet.diff()).code, 0)
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})

describe("berth fleet forget", () => {
  it.live("settles an open create first, and forgets no unseen node", () =>
    Effect.gen(function* () {
      const { arm } = yield* TestServer
      const fleet = yield* hurriedFolder
      fleet.write(webs(1))
      yield* arm([{ fault: "latency", delay: "10 minutes", scope: create }, { fault: "list-stale" }] as never)
      yield* fleet.apply("--yes", "--deadline", "2s")
      assert.include(fleet.ledgerText(), '"creating"')
      yield* arm([])
      const forget = fleet.run(["fleet", "forget", "web-1", "-f", fleet.file])
      const refused = yield* forget
      const [node] = yield* nodes
      assert.strictEqual(refused.code, 5, refused.stderr)
      assert.include(refused.stderr, String(node!.id))
      const forgotten = yield* forget
      assert.strictEqual(forgotten.code, 0, forgotten.stderr)
      assert.include(forgotten.stderr, `Node ${node!.id} was not deleted`)
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})
