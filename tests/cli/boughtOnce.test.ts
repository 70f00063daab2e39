/** Every command that buys a period for a node records the purchase under the node's id, so that no other command buys the period again. */
import { writeFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { alteredService, days, image, plan } from "./AlteredService.ts"
import { hurriedFolderOf, rowsOf, webs } from "./fleet.ts"
import { startAgent } from "./mcp/Agent.ts"

const webOf = (more = "") => webs(1, plan, `, commitment: auto_renew ${days}d${more}`)
const all = ["--yes", "--max-deletes", "9", "--max-commitment", "100000", "-o", "json"]

/** A fleet file, and functions to buy a period by hand and to count purchases. */
const place = Effect.gen(function* () {
  const { account, service } = yield* alteredService
  const fleet = yield* hurriedFolderOf(account)
  const buy = (node: string, ...more: ReadonlyArray<string>) =>
    fleet.run(["commitment", "set", node, "auto_renew", "--sku", "7", "--yes", "--max-commitment", "1000", ...more])
  const bought = () => service.requests.filter((request) => request === "POST /update_committed_node_status/").length
  const create = (name: string, ...more: ReadonlyArray<string>) =>
    fleet.run(["node", "create", name, "--plan", plan, "--image", image, "--yes", ...more])
  const adopt = (node: string) => fleet.run(["fleet", "adopt", node, "--as", "web-1", "-f", fleet.file])
  return { account, adopt, bought, buy, create, fleet, service }
})

describe("a period that was bought by hand", () => {
  it.live("is not bought again by the fleet that the node is taken into", () =>
    Effect.gen(function* () {
      const { adopt, bought, buy, create, fleet } = yield* place
      yield* create("shop-web-1")
      assert.strictEqual((yield* buy("1000")).code, 0)
      fleet.write(webOf())
      assert.strictEqual((yield* adopt("1000")).code, 0)
      assert.include(fleet.ledgerText(), `"commitment":"auto_renew ${days}d"`)
      const applied = yield* fleet.apply(...all)
      assert.deepStrictEqual([applied.code, rowsOf(applied).map(({ action }) => action)], [0, ["unchanged"]])
      assert.strictEqual(bought(), 1)
    }).pipe(Effect.scoped)
  )

  it.live("is not bought again for a member, and the ledger learns of it", () =>
    Effect.gen(function* () {
      const { bought, buy, fleet } = yield* place
      fleet.write(webs(1))
      yield* fleet.apply(...all)
      yield* buy("1000")
      fleet.write(webOf())
      assert.strictEqual((yield* fleet.diff()).code, 0)
      assert.strictEqual((yield* fleet.apply(...all)).code, 0)
      assert.include(fleet.ledgerText(), `"commitment":"auto_renew ${days}d"`)
      assert.strictEqual(bought(), 1)
    }).pipe(Effect.scoped)
  )

  it.live("is not bought again by the fleet of another machine that the node of a committed create is taken into", () =>
    Effect.gen(function* () {
      const { account, adopt, bought, create, fleet } = yield* place
      const created = yield* create("shop-web-1", "--committed-sku", "7", "--max-commitment", "1000")
      assert.strictEqual(created.code, 0, created.stderr)
      fleet.write(webOf())
      assert.strictEqual((yield* adopt("1000")).code, 0)
      const other = yield* hurriedFolderOf(account)
      other.write(webOf())
      writeFileSync(other.ledger, fleet.ledgerText())
      for (const each of [fleet, other]) {
        const applied = yield* each.apply(...all)
        const [row] = rowsOf(applied)
        assert.deepStrictEqual([applied.code, row?.action, bought()], [0, "differs", 0], applied.stderr)
        assert.include(row?.reason, `its create has bought a period of ${days} days`)
      }
      other.write(webs(0))
      const deleting = yield* other.apply("--dry-run", "-o", "json")
      assert.include(
        rowsOf(deleting).find(({ action }) => action === "forfeit")?.reason,
        `period of ${days} days runs until`
      )
    }).pipe(Effect.scoped)
  )

  it.live("is not bought again between the plan of an apply and its purchase", () =>
    Effect.gen(function* () {
      const { bought, buy, fleet, service } = yield* place
      fleet.write(webs(1))
      yield* fleet.apply(...all)
      fleet.write(webs(2, plan, `, commitment: auto_renew ${days}d`))
      let byHand: Effect.Success<ReturnType<typeof buy>> | undefined
      let pending: Promise<unknown> | undefined
      service.onMade = () => {
        pending ??= Effect.runPromise(buy("1000")).then((ended) => (byHand = ended))
      }
      service.optionPrice = "1000"
      const applied = yield* fleet.apply(...all)
      yield* Effect.promise(async () => pending)
      assert.deepStrictEqual([applied.code, bought()], [0, 2], `${applied.stderr}\n${byHand?.stderr}`)
    }).pipe(Effect.scoped)
  )

  it.live("is not bought again for the new node of a continued replacement", () =>
    Effect.gen(function* () {
      const { bought, buy, fleet } = yield* place
      fleet.write(webs(1))
      yield* fleet.apply(...all)
      fleet.write(webOf(", tags: [b]"))
      const held = yield* fleet.apply(...all, "--replace", "all", "--ready-command", "false", "--ready-timeout", "50ms")
      assert.deepStrictEqual([held.code, bought()], [9, 0], held.stderr)
      assert.strictEqual((yield* buy("1001")).code, 0)
      const ended = yield* fleet.apply(...all, "--replace", "all")
      assert.deepStrictEqual([ended.code, bought()], [0, 1], ended.stderr)
    }).pipe(Effect.scoped)
  )

  it.live("is not bought again by hand, unless a person says that the portal does not show it", () =>
    Effect.gen(function* () {
      const { bought, buy, create, fleet } = yield* place
      yield* create("w")
      yield* buy("w")
      const again = yield* buy("w")
      assert.strictEqual(again.code, 5, again.stderr)
      assert.include(again.stderr, "Nothing was sent now.")
      assert.include(again.stderr, "berth commitment set 1000 auto_renew --sku 7 --found not-set")
      assert.strictEqual(bought(), 1)
      assert.strictEqual((yield* buy("w", "--found", "not-set")).code, 0)
      assert.strictEqual((yield* fleet.run(["commitment", "set", "w", "hourly_billing", "--yes"])).code, 0)
      assert.strictEqual((yield* buy("w")).code, 0)
    }).pipe(Effect.scoped)
  )

  it.live("is not bought again for an agent that proposed it before", () =>
    Effect.gen(function* () {
      const { bought, buy, create, fleet } = yield* place
      yield* create("w")
      const env = yield* fleet.env
      const agent = yield* startAgent(["--allow", "commit"], { env, person: () => "accept" })
      const call = (name: string, given: object) => Effect.promise(() => agent.call(name, given as never))
      const proposed = yield* call("propose", { action: "commit", node: "w", setting: "auto_renew", sku: 7 })
      yield* buy("w")
      const executed = yield* call("execute", { proposal: String(proposed.structuredContent["id"]) })
      assert.include(executed.content[0]?.text, "Nothing was sent now.")
      assert.strictEqual(executed.isError, true)
      assert.strictEqual(bought(), 1)
    }).pipe(Effect.scoped)
  )
})

describe("a period that a create has bought", () => {
  it.live("is not bought again by the fleet that the node is taken into, which says what to do", () =>
    Effect.gen(function* () {
      const { adopt, bought, create, fleet } = yield* place
      yield* create("shop-web-1", "--committed-sku", "7", "--max-commitment", "1000")
      fleet.write(webOf())
      yield* adopt("1000")
      const applied = yield* fleet.apply(...all)
      const [row] = rowsOf(applied)
      assert.deepStrictEqual([applied.code, row?.action, bought()], [0, "differs", 0], applied.stderr)
      assert.include(row?.reason, "apply does not buy it again")
      const told = ["fleet", "adopt", "1000", "--as", "web-1", "-f", fleet.file, "--commitment", `auto_renew ${days}d`]
      assert.strictEqual((yield* fleet.run(told)).code, 0)
      assert.strictEqual((yield* fleet.diff()).code, 0)
    }).pipe(Effect.scoped)
  )
})

describe("a period that is in the ledger of another machine", () => {
  for (const [what, isLost, codes] of [
    ["is not bought by hand, unless a person says that the portal does not show it", false, [0, 5]],
    ["is not bought by hand while nobody knows whether it was set", true, [5, 8]]
  ] as const) {
    it.live(what, () =>
      Effect.gen(function* () {
        const { account, service } = yield* alteredService
        const fleet = yield* hurriedFolderOf(account)
        const other = yield* hurriedFolderOf(account)
        fleet.write(webOf())
        service.isPurchaseLost = isLost
        yield* fleet.apply(...all)
        service.isPurchaseLost = false
        other.write(webOf())
        writeFileSync(other.ledger, fleet.ledgerText())
        const purchases = () =>
          service.requests.filter((request) => request.startsWith("POST /update_committed")).length
        const sent = purchases()
        const buy = ["commitment", "set", "1000", "auto_renew", "--sku", "7", "--yes", "--max-commitment", "1000"]
        const seen = yield* other.apply(...all)
        const held = yield* other.run(buy)
        assert.deepStrictEqual([seen.code, held.code, purchases()], [...codes, sent], held.stderr)
        assert.include(held.stderr, other.ledger)
        if (isLost) return
        assert.strictEqual((yield* other.run([...buy, "--found", "not-set"])).code, 0)
        assert.strictEqual(purchases(), sent + 1)
      }).pipe(Effect.scoped)
    )
  }

  it.live("is not bought by hand on a machine that set something else for the node before", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      const fleet = yield* hurriedFolderOf(account)
      const other = yield* hurriedFolderOf(account)
      const share = () => writeFileSync(other.ledger, fleet.ledgerText())
      fleet.write(webs(1))
      yield* fleet.apply(...all)
      other.write(webs(1))
      share()
      yield* other.apply(...all)
      assert.strictEqual((yield* other.run(["commitment", "set", "1000", "hourly_billing", "--yes"])).code, 0)
      fleet.write(webOf())
      service.isPurchaseLost = true
      yield* fleet.apply(...all)
      service.isPurchaseLost = false
      share()
      const sent = service.requests.filter((request) => request.startsWith("POST /update_committed")).length
      const buy = ["commitment", "set", "1000", "auto_renew", "--sku", "7", "--yes", "--max-commitment", "1000"]
      const held = yield* other.run(buy)
      assert.strictEqual(held.code, 8, held.stderr)
      assert.include(held.stderr, other.ledger)
      // A person has looked in the portal. That machine's log then knows more than its ledger.
      assert.strictEqual((yield* fleet.run([...buy, "--found", "set"])).code, 0)
      assert.strictEqual((yield* fleet.run(buy)).code, 5)
      const after = service.requests.filter((request) => request.startsWith("POST /update_committed")).length
      assert.strictEqual(after, sent)
    }).pipe(Effect.scoped)
  )
})

describe("a purchase with berth api", () => {
  const body = (setting = "auto_renew", id: unknown = 1000) =>
    JSON.stringify({ node_status: setting, vcn_id: id, committed_plan: setting === "auto_renew" ? 7 : 0 })
  const api = (fleet: Pick<Effect.Success<typeof place>["fleet"], "run">, sent = body(), method = "POST") =>
    fleet.run(["api", method, "/update_committed_node_status/", "-d", sent])

  it.live("is refused while the reply to an earlier one is missing, and says how to settle that", () =>
    Effect.gen(function* () {
      const { bought, buy, create, fleet, service } = yield* place
      yield* create("w")
      service.isPurchaseLost = true
      assert.strictEqual((yield* buy("w")).code, 8)
      service.isPurchaseLost = false
      const sent = bought()
      for (const text of [body(), body("auto_renew", "1000"), `\uFEFF${body()}`, body("AUTO-RENEW", [1000])]) {
        const refused = yield* api(fleet, text)
        assert.strictEqual(refused.code, 8, refused.stderr)
        assert.include(refused.stderr, "auto_renew with the committed option 7 was sent at")
        assert.include(refused.stderr, "berth commitment set 1000 auto_renew --sku 7 --found set")
      }
      assert.strictEqual(bought(), sent)
      assert.strictEqual((yield* buy("w", "--found", "set")).code, 0)
      assert.strictEqual((yield* api(fleet)).code, 5)
      assert.strictEqual(bought(), sent)
    }).pipe(Effect.scoped)
  )

  it.live("is refused if a ledger has the same purchase without a reply", () =>
    Effect.gen(function* () {
      const { account, bought, fleet, service } = yield* place
      fleet.write(webOf())
      service.isPurchaseLost = true
      assert.strictEqual((yield* fleet.apply(...all)).code, 9)
      service.isPurchaseLost = false
      const sent = bought()
      const other = yield* hurriedFolderOf(account)
      other.write(webOf())
      writeFileSync(other.ledger, fleet.ledgerText())
      assert.strictEqual((yield* other.apply(...all)).code, 5)
      const refused = yield* api(other)
      assert.strictEqual(refused.code, 8, refused.stderr)
      assert.include(refused.stderr, other.ledger)
      assert.strictEqual(bought(), sent)
    }).pipe(Effect.scoped)
  )

  it.live("is not made again by any command, nor by a second request", () =>
    Effect.gen(function* () {
      const { adopt, bought, buy, create, fleet } = yield* place
      yield* create("shop-web-1")
      assert.strictEqual((yield* api(fleet)).code, 0)
      assert.strictEqual((yield* api(fleet)).code, 5)
      assert.strictEqual((yield* buy("1000")).code, 5)
      const shown = yield* fleet.run(["node", "delete", "1000", "--dry-run", "-o", "json"])
      assert.include(
        shown.stdout,
        "a committed period of the option 7, whose length Berth does not know, may still run"
      )
      fleet.write(webOf())
      assert.strictEqual((yield* adopt("1000")).code, 0)
      yield* fleet.apply(...all)
      assert.strictEqual(bought(), 1)
    }).pipe(Effect.scoped)
  )

  for (const method of ["POST", "PUT"]) {
    it.live(`is sent once with ${method} and remembered if no reply comes`, () =>
      Effect.gen(function* () {
        const { bought, buy, create, fleet, service } = yield* place
        yield* create("w")
        service.isPurchaseLost = true
        const lost = yield* api(fleet, body(), method)
        assert.strictEqual(lost.code, 8, lost.stderr)
        assert.include(lost.stderr, "Look in the account portal")
        service.isPurchaseLost = false
        const sent = service.requests.filter((request) => request.endsWith("/update_committed_node_status/")).length
        assert.strictEqual(sent, 1)
        assert.strictEqual((yield* buy("w")).code, 8)
        assert.strictEqual((yield* api(fleet)).code, 8)
        assert.strictEqual((yield* buy("w", "--found", "not-set")).code, 0)
        assert.strictEqual(bought(), method === "POST" ? 2 : 1)
      }).pipe(Effect.scoped)
    )
  }

  it.live("is refused before anything is sent if it cannot be read as a purchase for one node", () =>
    Effect.gen(function* () {
      const { create, fleet, service } = yield* place
      yield* create("w")
      const path = "/update_committed_node_status/"
      for (const [words, because] of [
        [["-d", `[${body()}]`], "the body is not a JSON object"],
        [["-d", "vcn_id=1000&node_status=auto_renew"], "the body is not a JSON object"],
        [[], "the body is not a JSON object"],
        [["-d", '{"data":{"vcn_id":1000,"node_status":"auto_renew"}}'], "the body has no node_status"],
        [["-d", '{"node_status":"auto_renew","committed_plan":7}'], "vcn_id names no node"],
        [["-d", body("hourly_billing", null)], "vcn_id names no node"],
        [["-d", body("auto_renew", [1000, 1001])], "vcn_id names more than one node"],
        [["-q", "vcn_id=1000", "-q", "node_status=auto_renew"], "vcn_id is in the query"],
        [["-q", "Committed-Plan=7", "-d", body("hourly_billing")], "Committed-Plan is in the query"]
      ] as const) {
        for (const method of ["POST", "PUT"]) {
          const refused = yield* fleet.run(["api", method, path, ...words])
          assert.strictEqual(refused.code, 2, `${words.join(" ")}: ${refused.stderr}`)
          assert.include(refused.stderr, `${because}. Nothing was sent.`)
        }
      }
      const inPath = yield* fleet.run(["api", "POST", `${path}?node_status=auto_renew`, "-d", body("hourly_billing")])
      assert.strictEqual(inPath.code, 2, inPath.stderr)
      assert.isTrue(service.requests.every((request) => !request.endsWith(path)))
    }).pipe(Effect.scoped)
  )

  it.live("does not hinder settings that buy nothing, and the log knows them", () =>
    Effect.gen(function* () {
      const { buy, create, fleet, service } = yield* place
      yield* create("w")
      service.isPurchaseLost = true
      yield* buy("w")
      service.isPurchaseLost = false
      assert.strictEqual((yield* api(fleet, body("auto_terminate"))).code, 0)
      const shown = yield* fleet.run(["commitment", "get", "w"])
      assert.include(shown.stdout, "auto_terminate")
    }).pipe(Effect.scoped)
  )
})
