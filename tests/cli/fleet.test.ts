/** `berth apply` and the related commands against the mock service: what they do, what they refuse, and how many requests they send. */
import { execFileSync } from "node:child_process"
import { rmSync, writeFileSync } from "node:fs"
import { hostname } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { TestServer } from "@berthkit/server/testing"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Effect } from "effect"
import { parse } from "yaml"
import { inDialect, isToday } from "../account.ts"
import { alteredService } from "./AlteredService.ts"
import { json } from "./berth.ts"
import { fleetFolder, hurriedFolderOf, large, nodes, rowsOf, webs } from "./fleet.ts"
import { invoke } from "./invoke.ts"

const provisioningMillis = 20

// A replacement has the name of the node that it replaces.
const service = TestServer.layer(
  inDialect({ clock: "real", provisioning: provisioningMillis, termination: "20 millis", uniqueNames: false })
)

/**
 * The requests of a run that changes nothing. In today's API a list shows the SKU of a plan, and the image list says which slug has that
 * SKU.
 */
const unchangedReads = ["GET /myaccount/api/v1/nodes/", ...(isToday ? ["GET /myaccount/api/v1/images/"] : [])]

const names = Effect.map(nodes, (all) => all.map(({ name }) => name).toSorted())

/** Requests of a run, as method and path. */
const requestsOf = <A, E, R>(run: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { journal } = yield* TestServer
    const before = (yield* journal).length
    const result = yield* run
    return { result, requests: (yield* journal).slice(before).map(({ method, path }) => `${method} ${path}`) }
  })

describe("berth apply", () => {
  it.live("creates the missing members, and a second run changes nothing and costs one list", () =>
    Effect.gen(function* () {
      const fleet = yield* fleetFolder
      fleet.write(webs(3))
      const planned = yield* fleet.apply("--dry-run", "-o", "json")
      assert.deepStrictEqual([planned.code, fleet.ledgerText(), yield* names], [0, "", []])
      assert.deepStrictEqual(
        rowsOf(planned).map(({ action, differencePerHourInr }) => [action, differencePerHourInr]),
        Array.from({ length: 3 }, () => ["create", 6.46])
      )
      assert.strictEqual((yield* fleet.diff()).code, 11)
      const columns = (yield* fleet.apply("--dry-run", "-o", "csv")).stdout.split("\n")[0]
      const first = yield* fleet.apply("--yes", "--wait")
      assert.include(columns, ",outcome,")
      const queried = yield* fleet.apply("--query", "[].member")
      assert.strictEqual(queried.stdout, "web-1\nweb-2\nweb-3\n")
      assert.strictEqual((yield* fleet.apply("-o", "csv")).stdout.split("\n")[0], columns)
      assert.deepStrictEqual([first.code, yield* names], [0, ["shop-web-1", "shop-web-2", "shop-web-3"]])
      assert.include(first.stderr, "Price now: ₹0.00 per hour, ₹0.00 per month. After: ₹19.38 per hour")
      const text = fleet.ledgerText()
      const { requests, result } = yield* requestsOf(fleet.apply())
      assert.strictEqual(result.code, 0)
      assert.include(result.stdout, "= 3 unchanged")
      assert.deepStrictEqual([...new Set(requests)], unchangedReads)
      assert.strictEqual(fleet.ledgerText(), text)
      assert.strictEqual((yield* fleet.diff()).code, 0)
      const selected = yield* fleet.apply("--columns", "action,outcome", "--sort", "outcome")
      assert.deepStrictEqual([selected.code, selected.stdout], [0, "CHANGE         RESULT\n= 3 unchanged  -\n"])
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("without a terminal sends nothing without --yes, and deletes no more than --max-deletes", () =>
    Effect.gen(function* () {
      const fleet = yield* fleetFolder
      fleet.write(webs(3))
      const unasked = yield* fleet.apply()
      assert.deepStrictEqual([unasked.code, yield* names], [2, []])
      yield* fleet.apply("--yes")
      fleet.write(webs(1))
      for (const args of [["--yes"], ["--yes", "--max-deletes", "1"]]) {
        const refused = yield* fleet.apply(...args)
        assert.strictEqual(refused.code, 2)
        assert.match(refused.stderr, /This would delete 2 nodes, and --max-deletes is [01]/)
      }
      assert.lengthOf(yield* names, 3)
      const done = yield* fleet.apply("--yes", "--max-deletes", "2", "--pick", "web-1", "--wait")
      assert.deepStrictEqual([done.code, yield* names], [0, ["shop-web-2"]])
      assert.strictEqual((yield* fleet.diff()).code, 0)
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("refuses a fleet that would cost more than --max-cost, or whose plan is not listed", () =>
    Effect.gen(function* () {
      const fleet = yield* fleetFolder
      fleet.write(webs(3))
      const dear = yield* fleet.apply("--yes", "--max-cost", "19")
      assert.strictEqual(dear.code, 2)
      assert.include(dear.stderr, "error: The fleet would cost ₹19.38 per hour, more than --max-cost 19.00.")
      fleet.write(webs(1, "C-2VCPU-8RAM-5DISK"))
      const unknown = yield* fleet.apply("--yes")
      assert.strictEqual(unknown.code, 2)
      assert.include(
        unknown.stderr,
        `error: ${fleet.file}:3:26: nodes.web.plan: There is no plan C-2VCPU-8RAM-5DISK; did you mean`
      )
      assert.deepStrictEqual(yield* names, [])
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("says which apply created the nodes that a ledger of an earlier state lacks", () =>
    Effect.gen(function* () {
      const fleet = yield* fleetFolder
      fleet.write(webs(1))
      assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
      const [made] = yield* nodes
      rmSync(fleet.ledger)
      const refused = yield* fleet.apply("--yes")
      assert.strictEqual(refused.code, 5)
      const hint = `hint: berth apply created node ${made!.id} at `
      assert.include(refused.stderr, hint)
      assert.include(refused.stderr, ` on ${hostname()}, so this ledger may be behind: use the ledger of that run`)
      assert.lengthOf(yield* nodes, 1)
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("does not touch a node of a member's name that is not in the ledger, until it is adopted", () =>
    Effect.gen(function* () {
      const fleet = yield* fleetFolder
      fleet.write(webs(1))
      const order = ["--plan", large, "--image", "Ubuntu-24.04", "-o", "json"]
      const { id } = json<{ readonly id: number }>(yield* fleet.run(["node", "create", "shop-web-1", ...order]))
      const refused = yield* fleet.apply("--yes")
      assert.strictEqual(refused.code, 5)
      assert.include(refused.stderr, `error: shop-web-1 exists (id ${id}) and is not in the ledger:`)
      assert.include(refused.stderr, `hint: To make it a member: berth fleet adopt -f ${fleet.file} ${id} --as web-1`)
      const adopted = yield* fleet.run(["fleet", "adopt", String(id), "--as", "web-1", "-f", fleet.file])
      assert.deepStrictEqual([adopted.code, adopted.stderr], [0, ""])
      const after = yield* fleet.apply("--yes", "-o", "json")
      assert.deepStrictEqual(
        rowsOf(after).map(({ action, id }) => [action, id]),
        [["differs", id]]
      )
      assert.deepStrictEqual(yield* names, ["shop-web-1"])
      const forgotten = yield* fleet.run(["fleet", "forget", "web-1", "-f", fleet.file])
      assert.strictEqual(forgotten.code, 0)
      assert.strictEqual((yield* fleet.apply("--yes")).code, 5)
      assert.deepStrictEqual(yield* names, ["shop-web-1"])
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("creates a missing member again, says so, and leaves nodes alone that the list only hides", () =>
    Effect.gen(function* () {
      const { arm } = yield* TestServer
      const fleet = yield* fleetFolder
      fleet.write(webs(2))
      yield* fleet.apply("--yes", "--wait")
      // The list hides all nodes, but reads show them, so no node is missing.
      yield* arm([{ fault: "empty-list" }])
      const hidden = yield* fleet.apply("--yes", "--grace", "100ms", "-o", "json")
      assert.deepStrictEqual(
        rowsOf(hidden).map(({ action }) => action),
        ["unchanged", "unchanged"]
      )
      yield* arm([])
      const [first] = yield* nodes
      yield* fleet.run(["node", "delete", String(first!.id), "--yes", "--wait"])
      assert.strictEqual((yield* fleet.diff()).code, 11)
      const { result } = yield* requestsOf(fleet.apply("--yes", "--grace", "100ms"))
      assert.strictEqual(result.code, 0)
      assert.include(result.stderr, `node ${first!.id} is gone`)
      assert.deepStrictEqual(yield* names, ["shop-web-1", "shop-web-2"])
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("replaces only named members: creates the new node first, and keeps both if it is not ready", () =>
    Effect.gen(function* () {
      const fleet = yield* fleetFolder
      fleet.write(webs(2))
      yield* fleet.apply("--yes", "--wait")
      fleet.write(webs(2, large))
      assert.deepStrictEqual(
        rowsOf(yield* fleet.apply("--yes", "-o", "json")).map(({ action }) => action),
        ["differs", "differs"]
      )
      const replace = ["--yes", "--replace", "all", "--max-deletes", "2", "-o", "json"]
      const failed = yield* fleet.apply(...replace, "--ready-command", "exit 3", "--ready-timeout", "100ms")
      assert.strictEqual(failed.code, 9)
      assert.include(failed.stderr, "The ready command exits 3 for shop-web-1")
      assert.include(failed.stderr, "was not deleted, and both are billed.")
      assert.deepStrictEqual(
        rowsOf(failed).map(({ outcome }) => outcome),
        ["failed", "skipped"]
      )
      assert.deepStrictEqual(yield* names, ["shop-web-1", "shop-web-1", "shop-web-2"])
      // Without --replace nothing is deleted, whatever the limit on deletes.
      const without = yield* fleet.apply("--yes", "--max-deletes", "9", "-o", "json")
      assert.deepStrictEqual([without.code, rowsOf(without).map(({ action }) => action)], [5, ["differs", "differs"]])
      assert.include(rowsOf(without)[0]!.reason, "which is still there (--replace web-1 goes on)")
      assert.lengthOf(yield* names, 3)
      const done = yield* fleet.apply(...replace, "--ready-command", 'test -n "$BERTH_NODE_IP" -a -z "$BERTH_API_KEY"')
      assert.strictEqual(done.code, 0)
      assert.deepStrictEqual(
        rowsOf(done).map(({ outcome }) => outcome),
        ["replaced", "replaced"]
      )
      yield* Effect.sleep(100)
      assert.deepStrictEqual(
        (yield* nodes).map(({ name, plan }) => [name, plan]),
        [
          ["shop-web-1", large],
          ["shop-web-2", large]
        ]
      )
      assert.strictEqual((yield* fleet.diff()).code, 0)
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("destroys a fleet in the middle of a replacement, with both nodes of its member", () =>
    Effect.gen(function* () {
      const fleet = yield* fleetFolder
      fleet.write(webs(1))
      yield* fleet.apply("--yes", "--wait")
      fleet.write(webs(1, large))
      const args = [
        "--yes",
        "--replace",
        "all",
        "--max-deletes",
        "1",
        "--ready-command",
        "exit 1",
        "--ready-timeout",
        "1ms"
      ]
      assert.strictEqual((yield* fleet.apply(...args)).code, 9)
      assert.lengthOf(yield* names, 2)
      const destroy = (...more: ReadonlyArray<string>) => fleet.run(["destroy", "-f", fleet.file, "--yes", ...more])
      assert.include((yield* destroy("--max-deletes", "1")).stderr, "This would delete 2 nodes")
      const destroyed = yield* destroy("--wait", "-o", "json")
      assert.deepStrictEqual([destroyed.code, yield* names], [0, []], destroyed.stderr)
      assert.match(rowsOf(destroyed)[0]!.reason, /^the fleet is destroyed; also node \d+, which it was to replace$/)
      assert.strictEqual((yield* destroy()).stderr, "There are no members.\nNothing to change.\n")
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("replaces several at a time without ever having fewer that run than the count says", () =>
    Effect.gen(function* () {
      const { journal } = yield* TestServer
      const fleet = yield* fleetFolder
      const count = 5
      fleet.write(webs(count))
      yield* fleet.apply("--yes", "--wait")
      fleet.write(webs(count, large))
      const done = yield* fleet.apply(..."--yes --replace all --max-unavailable 3 --max-deletes 5".split(" "))
      assert.strictEqual(done.code, 0, done.stderr)
      const made = (yield* nodes).filter(({ plan }) => plan === large)
      const deletes = (yield* journal).filter(({ method }) => method === "DELETE")
      assert.deepStrictEqual([made.length, deletes.length], [count, count])
      for (const [before, { at }] of deletes.entries()) {
        const running = made.filter(
          ({ createdAt }) => createdAt.epochMilliseconds + provisioningMillis <= Date.parse(at)
        )
        assert.isAtLeast(running.length + count - before - 1, count)
      }
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("overwrites no ledger that changed during the run, and the next run knows the created nodes", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      const fleet = yield* hurriedFolderOf(account)
      fleet.write(webs(1))
      let edited = ""
      service.onMade = () => writeFileSync(fleet.ledger, (edited = `${fleet.ledgerText()}\n`))
      const lost = yield* fleet.apply("--yes")
      assert.deepStrictEqual([lost.code, fleet.ledgerText()], [9, edited])
      assert.match(
        lost.stderr,
        /error: web-1: Created shop-web-1 \(\d+\), which is billed, and the ledger does not have it: Another program changed the ledger .+, so it was not overwritten\.\nhint: .+\n/
      )
      service.onMade = () => undefined
      const again = yield* fleet.apply("--yes")
      assert.deepStrictEqual([again.code, service.nodes.map(({ name }) => name)], [0, ["shop-web-1"]], again.stderr)
    }).pipe(Effect.scoped)
  )

  it.live("sends no create once another program has changed the ledger", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      const fleet = yield* hurriedFolderOf(account)
      fleet.write(webs(1))
      let edited: string | undefined
      service.onRequest = () => {
        const text = fleet.ledgerText()
        if (edited === undefined && text.includes("creating")) writeFileSync(fleet.ledger, (edited = `${text}\n`))
      }
      const refused = yield* fleet.apply("--yes")
      assert.deepStrictEqual([refused.code, fleet.ledgerText(), service.nodes], [9, edited, []])
      assert.include(refused.stderr, "so it was not overwritten.")
      assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
    }).pipe(Effect.scoped)
  )

  it.live("reports the failure of one member, finishes the others, and continues in the next run", () =>
    Effect.gen(function* () {
      const { arm } = yield* TestServer
      const fleet = yield* fleetFolder
      fleet.write(webs(3))
      yield* arm([{ fault: "status", status: 422, times: 1, scope: { operation: "nodes.create" } } as never])
      const failed = yield* fleet.apply("--yes")
      assert.strictEqual(failed.code, 9, failed.stderr)
      const [member] = rowsOf(yield* fleet.diff("-o", "json")).filter(({ action }) => action === "create")
      assert.include(failed.stderr, `error: ${member!.member}: The service refused the request`)
      assert.include(failed.stderr, "hint: See the errors above; then run the same command again to continue.")
      assert.lengthOf(yield* names, 2)
      assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
      assert.deepStrictEqual(yield* names, ["shop-web-1", "shop-web-2", "shop-web-3"])
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("sets the commitment of the file once a node is there, and only once", () =>
    Effect.gen(function* () {
      const fleet = yield* fleetFolder
      fleet.write(webs(1, large, ", commitment: auto_renew 1d"))
      const unknown = yield* fleet.apply("--yes")
      assert.strictEqual(unknown.code, 2)
      const [, days] = /it has (\d+)d/.exec(unknown.stderr) ?? assert.fail(unknown.stderr)
      fleet.write(webs(1, large, `, commitment: auto_renew ${days}d`))
      const { requests, result } = yield* requestsOf(fleet.apply("--yes", "--max-commitment", "1000000"))
      assert.strictEqual(result.code, 0, result.stderr)
      assert.lengthOf(
        requests.filter((each) => each.includes("update_committed")),
        1
      )
      assert.include(fleet.ledgerText(), `"commitment":"auto_renew ${days}d"`)
      const again = yield* requestsOf(fleet.apply("--yes"))
      assert.deepStrictEqual([...new Set(again.requests)], unchangedReads)
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("refuses a ledger that is damaged, of a later version or of another account, and sends nothing", () =>
    Effect.gen(function* () {
      const { journal } = yield* TestServer
      const fleet = yield* fleetFolder
      fleet.write(webs(1))
      yield* fleet.apply("--yes")
      const text = fleet.ledgerText()
      const before = (yield* journal).length
      for (const [ledger, why] of [
        [text.slice(0, 50), "is damaged: it is not JSON"],
        [text.replace('"version": 1', '"version": 9'), "was written by a later version of berth"],
        [text.replace(/"account": "\w+"/, '"account": "0123"'), "belongs to another account or place: 0123"],
        [text.replace('"fleet": "shop"', '"fleet": "market"'), "belongs to the fleet market, not shop"]
      ] as const) {
        writeFileSync(fleet.ledger, ledger)
        for (const run of [fleet.apply("--yes"), fleet.diff(), fleet.run(["destroy", "-f", fleet.file, "--yes"])]) {
          const refused = yield* run
          assert.strictEqual(refused.code, 10, why)
          assert.include(refused.stderr, why)
        }
        assert.strictEqual(fleet.ledgerText(), ledger)
      }
      assert.strictEqual((yield* journal).length, before)
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("knows a ledger again once its account has a name, and by its key alone", () =>
    Effect.gen(function* () {
      const fleet = yield* fleetFolder
      fleet.write(webs(1))
      yield* fleet.apply("--yes")
      const unnamed = yield* fleet.env
      for (const env of [{ ...unnamed, BERTH_ACCOUNT: "team" }, unnamed, { ...unnamed, BERTH_ACCOUNT: "team" }]) {
        const again = yield* invoke(["apply", "-f", fleet.file, "--yes"], { env })
        assert.deepStrictEqual([again.code, again.stderr], [0, "Nothing to change.\n"])
        const listed = yield* invoke(["fleet", "list", "-o", "json"], { env })
        assert.deepStrictEqual(
          json<ReadonlyArray<{ members: number; state: string }>>(listed).map(({ members, state }) => [members, state]),
          [[1, "ok"]]
        )
      }
      const other = { ...unnamed, BERTH_API_KEY: "another-key", BERTH_ACCOUNT: "others" }
      const refused = yield* invoke(["diff", "-f", fleet.file], { env: other })
      assert.deepStrictEqual([refused.code, refused.stderr.includes("belongs to another account")], [10, true])
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("names the faults of a file with line and column, and a missing file", () =>
    Effect.gen(function* () {
      const fleet = yield* fleetFolder
      fleet.write("fleet: shop\nnodes:\n  web: { plan: P, image: I, cuont: 2 }\n  db: { image: I }\n")
      const wrong = yield* fleet.apply("--yes")
      assert.deepStrictEqual(
        [wrong.code, wrong.stderr.split("\n").filter((line) => line.startsWith("error"))],
        [
          2,
          [
            `error: ${fleet.file}:3:29: nodes.web.cuont is not a setting; did you mean count?`,
            `error: ${fleet.file}:4:7: nodes.db.plan is missing.`
          ]
        ]
      )
      const missing = yield* fleet.run(["apply", "-f", join(fleet.folder, "other.yaml")])
      assert.strictEqual(missing.code, 10)
      assert.include(missing.stderr, "other.yaml cannot be read: there is no such file.")
      // A pipe into which nobody writes, and a file that never ends.
      execFileSync("mkfifo", [join(fleet.folder, "pipe.yaml")])
      for (const name of [join(fleet.folder, "pipe.yaml"), "/dev/zero"]) {
        const refused = yield* fleet.run(["apply", "-f", name])
        assert.deepStrictEqual([refused.code, refused.stderr.includes(`${name} is not a file.`)], [10, true])
      }
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("makes 100 nodes with at most 130 requests", () =>
    Effect.gen(function* () {
      const fleet = yield* fleetFolder
      fleet.write(webs(100))
      const { requests, result } = yield* requestsOf(fleet.apply("--yes"))
      assert.strictEqual(result.code, 0, result.stderr)
      assert.lengthOf(new Set(yield* names), 100)
      assert.isAtMost(requests.length, 130)
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})

describe("berth destroy", () => {
  it.live("deletes the nodes of the fleet and no others, but protected ones", () =>
    Effect.gen(function* () {
      const fleet = yield* fleetFolder
      fleet.write(`${webs(2)}  db: { plan: ${large}, image: Ubuntu-24.04, protect: true }\n`)
      yield* fleet.apply("--yes")
      yield* fleet.run(["node", "create", "other", "--plan", large, "--image", "Ubuntu-24.04"])
      assert.strictEqual((yield* fleet.run(["destroy", "-f", fleet.file])).code, 2)
      const destroyed = yield* fleet.run(["destroy", "-f", fleet.file, "--yes", "--wait", "-o", "json"])
      assert.strictEqual(destroyed.code, 5, destroyed.stderr)
      assert.sameDeepMembers(
        rowsOf(destroyed).map(({ member, outcome }) => [member, outcome]),
        [
          ["web-1", "deleted"],
          ["web-2", "deleted"],
          ["db-1", "none"]
        ]
      )
      assert.deepStrictEqual(yield* names, ["other", "shop-db-1"])
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})

describe("fleets of a machine", () => {
  it.live("are listed, and costs are grouped by them and by the tags that were sent", () =>
    Effect.gen(function* () {
      const fleet = yield* fleetFolder
      fleet.write(
        `${webs(2).replace(" }", ", tags: [front, all] }")}  db: { plan: ${large}, image: Ubuntu-24.04, tags: [all] }\n`
      )
      yield* fleet.apply("--yes")
      yield* fleet.run(["node", "create", "other", "--plan", large, "--image", "Ubuntu-24.04"])
      assert.deepStrictEqual(json(yield* fleet.run(["fleet", "list", "-o", "json"])), [
        { name: "shop", members: 3, pending: 0, ledger: fleet.ledger, state: "ok" }
      ])
      const costs = (by: string) =>
        Effect.map(fleet.run(["cost", "--by", by, "-o", "json"]), (ended) =>
          json<ReadonlyArray<{ readonly name: string; readonly nodes: number; readonly pricePerHourInr: number }>>(
            ended
          ).map(({ name, nodes, pricePerHourInr }) => [name, nodes, pricePerHourInr])
        )
      assert.sameDeepMembers(yield* costs("fleet"), [
        ["shop", 3, 25.84],
        ["in no fleet", 1, 12.92]
      ])
      assert.sameDeepMembers(yield* costs("tag"), [
        ["front", 2, 12.92],
        ["all", 3, 25.84],
        ["without a known tag", 1, 12.92]
      ])
      const text = fleet.ledgerText()
      writeFileSync(fleet.ledger, "<<<<<<< HEAD")
      for (const args of [
        ["cost", "--by", "fleet"],
        ["inventory", "--ansible"]
      ]) {
        const { code, stderr } = yield* fleet.run(args)
        assert.strictEqual(code, 0)
        assert.include(
          stderr,
          `The ledger ${fleet.ledger} cannot be used: nodes of the fleet shop are shown as belonging to no fleet.`
        )
      }
      writeFileSync(fleet.ledger, text)
      yield* fleet.run(["fleet", "forget", "shop"])
      assert.deepStrictEqual(json(yield* fleet.run(["fleet", "list", "-o", "json"])), [])
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})

describe("berth schema fleet", () => {
  it.live("accepts what berth apply accepts, and refuses what it refuses", () =>
    Effect.gen(function* () {
      const schema = json<object>(yield* invoke(["schema", "fleet"]))
      const isValid = new Ajv2020({ strict: false }).compile(schema)
      const fleet = yield* fleetFolder
      for (const [text, isRight] of [
        [webs(3), true],
        [webs(0), true],
        [webs(1001), false],
        [webs(1, large, ", protect: true, commitment: auto_renew 30d, startScripts: []"), true],
        [webs(1, large, ", commitment: auto_renew"), false],
        [webs(1, large, ", commitment: hourly_billing"), true],
        [webs(1, large, ", colour: red"), false],
        [webs(1, large, ", tags: web"), false],
        [webs(1, large, ", disk: 0"), false],
        [webs(1, large, `, name: ${"x".repeat(251)}`), false],
        ["fleet: a b\nnodes: {}", false],
        ["fleet: f\nnodes: {}", true],
        ["fleet: f", false],
        ["fleet: f\nnodes: { web: { image: 12, plan: P } }", true]
      ] as const) {
        assert.strictEqual(isValid(parse(text)), isRight, `${text}: ${JSON.stringify(isValid.errors)}`)
        fleet.write(text)
        // No schema knows whether the service has such a plan and image.
        const stderr = (yield* fleet.diff()).stderr.replace(/^.*: There is no (?:plan|image) .*$/m, "")
        assert.strictEqual(!/fleet\.yaml:\d+:\d+:/.test(stderr), isRight, `${text}: ${stderr}`)
      }
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})

describe("a fleet of 1000", () => {
  it.live("that is as its file says costs at most 12 requests", () =>
    Effect.gen(function* () {
      const fleet = yield* fleetFolder
      fleet.write(webs(1))
      yield* fleet.apply("--yes")
      // The ledger of 1000 existing nodes.
      const head = fleet.ledgerText().split('"members"')[0]!
      const all = json<ReadonlyArray<{ readonly id: number; readonly name: string; readonly plan: string }>>(
        yield* fleet.run(["node", "list", "-o", "json"])
      )
      const plans = Array.from(
        Map.groupBy(
          all.filter(({ name }) => name !== "shop-web-1"),
          ({ plan }) => plan
        )
      )
      const members = plans.flatMap(([plan, nodes], group) =>
        nodes.map(({ id, name }, i) => {
          const node = { id, name, plan, image: null, createdAt: null }
          return JSON.stringify({ member: `old${group}-${i + 1}`, generation: 1, state: "made", node, sent: null })
        })
      )
      assert.lengthOf(members, 1000)
      writeFileSync(fleet.ledger, `${head}"members": [${members.join(",\n")}]}`)
      const groups = plans.map(
        ([plan, { length }], group) => `  old${group}: { count: ${length}, plan: ${plan}, image: Ubuntu-24.04 }\n`
      )
      fleet.write(`fleet: shop\nnodes:\n${groups.join("")}`)
      const { requests, result } = yield* requestsOf(fleet.apply("-o", "json"))
      assert.strictEqual(result.code, 0, result.stderr)
      assert.lengthOf(rowsOf(result), 1000)
      assert.isAtMost(requests.length, 12)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ clock: "real", scenario: { fleet: 1000 } }))))
  )
})
