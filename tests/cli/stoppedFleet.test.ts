/**
 * A stopped `apply` or `destroy` names each node that it has made, and each node that it has deleted or may have deleted. Nothing else
 * would name them.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Altered, alteredService, days, plan } from "./AlteredService.ts"
import { start } from "./berth.ts"
import { hurriedFolderOf, webs } from "./fleet.ts"

/** An existing fleet of web nodes, and a function that runs a command on it and stops the command at a request without a reply. */
const stoppedFleet = Effect.fnUntraced(function* (count: number) {
  const { account, service } = yield* alteredService
  const fleet = yield* hurriedFolderOf(account)
  // One after the other, so that their ids are in order.
  for (let n = 1; n <= count; n++) {
    fleet.write(webs(n, plan))
    assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
  }
  const stopped = Effect.fnUntraced(function* (
    silent: string,
    [command, ...args]: readonly [string, ...ReadonlyArray<string>],
    isThen: (service: Altered) => boolean = () => true
  ) {
    const asked = Promise.withResolvers<void>()
    service.onRequest = (request) => {
      service.silent = isThen(service) ? silent : undefined
      if (request === service.silent) asked.resolve()
    }
    const running = yield* start([command, "-f", fleet.file, "--yes", ...args], { env: yield* fleet.env })
    yield* Effect.promise(() => asked.promise)
    yield* running.kill("SIGTERM")
    const { code, stderr } = yield* running.ended
    assert.strictEqual(code, 143)
    return stderr
  })
  return { fleet, service, stopped }
})

const replace = ["apply", "--replace", "all", "--max-deletes", "9"] as const

interface Report {
  readonly error: { readonly code: string; readonly details: { readonly changes: ReadonlyArray<object> } }
}

describe("an apply that is stopped", () => {
  const told =
    "Interrupted; 1 of 2 changes are done, and the ledger has them. It created shop-web-1 (1002), which is billed. " +
    "It may have created shop-web-2: no reply came. It deleted shop-web-1 (1000).\n" +
    "hint: Run the same command again to continue.\n"

  const atSecondCreate = Effect.gen(function* () {
    const { fleet, stopped } = yield* stoppedFleet(2)
    fleet.write(webs(2, plan, ", tags: [b]"))
    return (...flags: ReadonlyArray<string>) =>
      stopped("POST /nodes/", [...replace, ...flags], ({ requests }) =>
        requests.some((each) => each.startsWith("DELETE"))
      )
  })

  it.live("names what it has made and deleted, and what it may have made, also with --quiet", () =>
    Effect.gen(function* () {
      const run = yield* atSecondCreate
      assert.strictEqual((yield* run("--quiet")).replace(/again to continue.*/, "again to continue."), told)
    }).pipe(Effect.scoped)
  )

  it.live("does so for programs", () =>
    Effect.gen(function* () {
      const run = yield* atSecondCreate
      const { error } = JSON.parse(yield* run("-o", "json")) as Report
      assert.strictEqual(error.code, "Interrupted")
      assert.deepStrictEqual(error.details.changes, [
        { action: "create", member: "web-1", id: 1002, name: "shop-web-1", outcome: "done" },
        { action: "delete", member: "web-1", id: 1000, name: "shop-web-1", outcome: "done" },
        { action: "create", member: "web-2", id: null, name: "shop-web-2", outcome: "unknown" }
      ])
    }).pipe(Effect.scoped)
  )

  it.live("names a delete that may have been carried out", () =>
    Effect.gen(function* () {
      const { fleet, stopped } = yield* stoppedFleet(1)
      fleet.write(webs(1, plan, ", tags: [b]"))
      const stderr = yield* stopped("DELETE /nodes/1000/", [...replace, "--quiet"])
      assert.include(stderr, "It created shop-web-1 (1001), which is billed. It may have deleted shop-web-1 (1000)")
    }).pipe(Effect.scoped)
  )

  it.live("names a commitment that may have been set, and how to go on", () =>
    Effect.gen(function* () {
      const { fleet, stopped } = yield* stoppedFleet(1)
      fleet.write(webs(1, plan, `, commitment: auto_renew ${days}d`))
      const stderr = yield* stopped("POST /update_committed_node_status/", [
        "apply",
        "--max-commitment",
        "9999",
        "--quiet"
      ])
      assert.include(stderr, `It may have set the commitment auto_renew ${days}d of shop-web-1 (1000): no reply came.`)
      assert.match(stderr, /hint: Look in the account portal, .+ berth fleet adopt -f \S+ 1000 --as web-1 --commitment/)
    }).pipe(Effect.scoped)
  )
})

describe("a destroy that is stopped", () => {
  it.live("names what it has deleted and may have deleted", () =>
    Effect.gen(function* () {
      const { service, stopped } = yield* stoppedFleet(3)
      const stderr = yield* stopped("DELETE /nodes/1001/", ["destroy", "--quiet"])
      const nodes = String.raw`shop-web-\d \(\d+\)(?:, shop-web-\d \(\d+\))*`
      const report = new RegExp(
        String.raw`^Interrupted; (\d) of 3 changes are done, and the ledger has them\.(?: It deleted (${nodes})\.)? ` +
          String.raw`It may have deleted (${nodes}): no reply came\.\nhint: Run the same command again to continue\.\n$`
      )
      assert.match(stderr, report)
      const [, done, ...named] = report.exec(stderr)!
      const [deleted = [], open = []] = named.map((list = "") => list.split(", ").filter((each) => each !== ""))
      // The deletes are sent at the same time, so the signal may come before the other replies are read.
      const sent = service.requests
        .filter((each) => each.startsWith("DELETE"))
        .map((each) => Number(/\d+/.exec(each)![0]))
        .map((id) => `shop-web-${id - 999} (${id})`)
      assert.include(open, "shop-web-2 (1001)")
      assert.includeMembers(sent, deleted)
      assert.includeMembers([...deleted, ...open], sent)
      assert.sameMembers([...new Set([...deleted, ...open])], [...deleted, ...open])
      assert.isAtMost(Number(done), deleted.length)
    }).pipe(Effect.scoped)
  )
})
