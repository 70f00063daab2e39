/** Protection of nodes on a machine that knows the fleet, although the ledger is missing, damaged or outdated. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { alteredService, plan } from "./AlteredService.ts"
import { hurriedFolderOf, rowsOf, webs } from "./fleet.ts"
import { startAgent } from "./mcp/Agent.ts"

const dbOf = (more = "") =>
  `fleet: shop\nnodes:\n  web: { plan: ${plan}, image: Ubuntu-24.04 }\n  db: { plan: ${plan}, image: Ubuntu-24.04${more} }\n`

/** A fleet of web-1 and the protected db-1, and the ledger from before db-1 was protected. */
const protectedFleet = Effect.gen(function* () {
  const { account, service } = yield* alteredService
  const fleet = yield* hurriedFolderOf(account)
  fleet.write(dbOf())
  assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
  const older = readFileSync(fleet.ledger, "utf8")
  fleet.write(dbOf(", protect: true"))
  assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
  const idOf = (name: string) => String(service.nodes.find((node) => node.name === name)!.id)
  const [web, db] = [idOf("shop-web-1"), idOf("shop-db-1")]
  const remove = (...nodes: ReadonlyArray<string>) => fleet.run(["node", "delete", ...nodes, "--yes"])
  return { account, db, fleet, older, remove, service, web }
})

describe("a protected member", () => {
  it.live("is not deleted by hand while the ledger is missing or an older one, and nothing else is held up", () =>
    Effect.gen(function* () {
      const { db, fleet, older, remove, service, web } = yield* protectedFleet
      renameSync(fleet.ledger, `${fleet.ledger}.away`)
      const missing = yield* remove(db)
      assert.strictEqual(missing.code, 5, missing.stderr)
      assert.include(missing.stderr, `Protected: node ${db} (shop-db-1), which is db-1 of the fleet shop.`)
      assert.include(missing.stderr, `the ledger ${fleet.ledger} is not there. Nothing was deleted.`)
      assert.include(missing.stderr, "berth fleet forget shop")
      writeFileSync(fleet.ledger, older)
      assert.strictEqual((yield* remove("shop-*")).code, 5)
      assert.lengthOf(service.nodes, 2)
      rmSync(fleet.ledger)
      assert.strictEqual((yield* remove(web)).code, 0)
      assert.strictEqual((yield* fleet.run(["fleet", "forget", "shop"])).code, 0)
      assert.strictEqual((yield* remove(db)).code, 0)
    }).pipe(Effect.scoped)
  )

  it.live("is deleted by hand once the file has released it, or the fleet has forgotten it", () =>
    Effect.gen(function* () {
      for (const release of ["apply", "forget"] as const) {
        const { db, fleet, remove } = yield* protectedFleet
        if (release === "apply") {
          fleet.write(dbOf())
          assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
        } else {
          assert.strictEqual((yield* fleet.run(["fleet", "forget", "db-1", "-f", fleet.file])).code, 0)
        }
        rmSync(fleet.ledger)
        const removed = yield* remove(db)
        assert.strictEqual(removed.code, 0, removed.stderr)
      }
    }).pipe(Effect.scoped)
  )

  it.live("is noted as soon as it is taken in, and if it is made as a protected one", () =>
    Effect.gen(function* () {
      const { account } = yield* alteredService
      const fleet = yield* hurriedFolderOf(account)
      fleet.write(dbOf(", protect: true"))
      assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
      rmSync(fleet.ledger)
      assert.strictEqual((yield* fleet.run(["node", "delete", "shop-db-1", "--yes"])).code, 5)
      assert.strictEqual((yield* fleet.run(["fleet", "forget", "shop"])).code, 0)
      const adopted = yield* fleet.run(["fleet", "adopt", "shop-db-1", "--as", "db-1", "-f", fleet.file])
      assert.strictEqual(adopted.code, 0, adopted.stderr)
      rmSync(fleet.ledger)
      assert.strictEqual((yield* fleet.run(["node", "delete", "shop-db-1", "--yes"])).code, 5)
    }).pipe(Effect.scoped)
  )
})

describe("a node that this machine has noted as protected", () => {
  it.live("is not deleted under a new API key of the account, until the ledger is of that one and releases it", () =>
    Effect.gen(function* () {
      const { account, db, fleet, remove, service } = yield* protectedFleet
      account.BERTH_API_KEY = "the-new-key-of-a-test"
      const refused = yield* remove(db)
      assert.strictEqual(refused.code, 5, refused.stderr)
      assert.include(refused.stderr, `Protected: node ${db} (shop-db-1), which is db-1 of the fleet shop.`)
      assert.include(refused.stderr, "belongs to an account with another API key. Nothing was deleted.")
      // Run the command that the refusal of apply names.
      const applied = yield* fleet.apply("--yes")
      const [, before, now] = /account or place: (\w+), not (\w+)/.exec(applied.stderr) ?? []
      writeFileSync(fleet.ledger, readFileSync(fleet.ledger, "utf8").replace(before!, now!))
      for (const text of [dbOf(", protect: true"), dbOf()]) {
        fleet.write(text)
        const again = yield* fleet.apply("--yes")
        assert.strictEqual(again.code, 0, again.stderr)
      }
      assert.strictEqual((yield* remove(db)).code, 0)
      assert.notInclude(
        service.nodes.map(({ id }) => String(id)),
        db
      )
    }).pipe(Effect.scoped)
  )

  /** The fleet after somebody has put back the file and the ledger from before the protection. */
  const putBack = Effect.gen(function* () {
    const found = yield* protectedFleet
    writeFileSync(found.fleet.ledger, found.older)
    found.fleet.write(dbOf())
    const ids = () => found.service.nodes.map(({ id }) => String(id))
    return { ...found, ids }
  })
  const destroy = (fleet: { readonly file: string }) =>
    ["destroy", "-f", fleet.file, "--yes", "--max-deletes", "9", "-o", "json"] as const

  it.live(
    "is kept by destroy and by lower counts, in one folder and however often, if file and ledger are put back",
    () =>
      Effect.gen(function* () {
        const { db, fleet, ids } = yield* putBack
        const lower = dbOf().replace("db: {", "db: { count: 0,")
        for (const text of [dbOf(), lower, lower]) {
          fleet.write(text)
          const applied = yield* fleet.apply("--yes", "--max-deletes", "9", "-o", "json")
          assert.strictEqual(applied.code, 0, applied.stderr)
          assert.include(ids(), db)
        }
        const kept = rowsOf(yield* fleet.apply("--yes", "-o", "json")).find(({ member }) => member === "db-1")
        assert.strictEqual(kept?.action, "kept")
        assert.include(
          kept?.reason,
          `this machine has a record of the protection, but the ledger ${fleet.ledger} does not protect it.`
        )
        assert.include((yield* fleet.diff("-o", "json")).stdout, '"kept"')
        const destroyed = yield* fleet.run(destroy(fleet))
        assert.strictEqual(destroyed.code, 5, destroyed.stderr)
        assert.deepStrictEqual(ids(), [db])
        // Follow the advice in the reason.
        const noWeb = (text: string) => text.replace("web: {", "web: { count: 0,")
        fleet.write(noWeb(dbOf(", protect: true")))
        assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
        fleet.write(noWeb(dbOf()))
        assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
        assert.strictEqual((yield* fleet.run(destroy(fleet))).code, 0)
        assert.lengthOf(ids(), 0)
      }).pipe(Effect.scoped)
  )

  it.live("is kept in another clone that has the file and the ledger of before", () =>
    Effect.gen(function* () {
      const { db, fleet, ids, older } = yield* putBack
      const folder = join(fleet.folder, "clone")
      mkdirSync(folder)
      const clone = { file: join(folder, "fleet.yaml") }
      writeFileSync(clone.file, dbOf().replace("db: {", "db: { count: 0,"))
      writeFileSync(join(folder, "fleet.ledger.json"), older)
      const applied = yield* fleet.run(["apply", "-f", clone.file, "--yes", "--max-deletes", "9"])
      assert.strictEqual(applied.code, 0, applied.stderr)
      assert.strictEqual((yield* fleet.run(destroy(clone))).code, 5)
      assert.deepStrictEqual(ids(), [db])
    }).pipe(Effect.scoped)
  )

  it.live("is kept with all others while the ledger of another clone is damaged, which may protect any of them", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      const fleet = yield* hurriedFolderOf(account)
      fleet.write(webs(2))
      assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
      const folder = join(fleet.folder, "clone")
      mkdirSync(folder)
      const [file, ledger] = [join(folder, "fleet.yaml"), join(folder, "fleet.ledger.json")]
      const whole = fleet.ledgerText()
      writeFileSync(file, webs(2))
      writeFileSync(ledger, whole)
      assert.strictEqual((yield* fleet.run(["apply", "-f", file, "--yes"])).code, 0)
      const ids = () => service.nodes.map(({ id }) => id)
      for (const damaged of [`<<<<<<< HEAD\n${whole}`, "", "{}", whole.replace('"version": 1', '"version": 9')]) {
        writeFileSync(ledger, damaged)
        fleet.write(webs(0))
        const lower = yield* fleet.apply("--yes", "--max-deletes", "9", "-o", "json")
        fleet.write(webs(2))
        const destroyed = yield* fleet.run(destroy(fleet))
        assert.strictEqual(destroyed.code, 5, destroyed.stderr)
        for (const ran of [lower, destroyed]) {
          assert.deepStrictEqual(
            rowsOf(ran).map(({ action, reason }) => [action, reason.includes(ledger)]),
            [
              ["kept", true],
              ["kept", true]
            ],
            ran.stderr
          )
        }
        const removed = yield* fleet.run(["node", "delete", "1000", "--yes"])
        assert.strictEqual(removed.code, 5, removed.stderr)
        // The damaged clone itself does nothing.
        const refused = yield* fleet.run(["destroy", "-f", file, "--yes"])
        assert.strictEqual(refused.code, 10, refused.stderr)
        assert.deepStrictEqual(ids(), [1000, 1001])
      }
      writeFileSync(ledger, whole)
      assert.strictEqual((yield* fleet.run(destroy(fleet))).code, 0)
      assert.deepStrictEqual(ids(), [])
    }).pipe(Effect.scoped)
  )

  it.live("is kept and not replaced if its group is renamed with an older ledger", () =>
    Effect.gen(function* () {
      const { db, fleet, ids } = yield* putBack
      fleet.write(dbOf(", tags: [b]"))
      const replaced = yield* fleet.apply("--yes", "--replace", "all", "--max-deletes", "9", "-o", "json")
      assert.strictEqual(rowsOf(replaced).find(({ member }) => member === "db-1")?.action, "differs")
      fleet.write(dbOf().replace("db:", "api:"))
      const renamed = yield* fleet.apply("--yes", "--max-deletes", "9", "-o", "json")
      assert.strictEqual(rowsOf(renamed).find(({ member }) => member === "db-1")?.action, "kept")
      assert.include(ids(), db)
    }).pipe(Effect.scoped)
  )

  it.live.each([
    ["is kept", ", protect: true"],
    ["and is not protected is kept", ""]
  ])("%s by another fleet of which an older ledger still has it", ([, protect]) =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      const fleet = yield* hurriedFolderOf(account)
      const other = { file: join(fleet.folder, "other.yaml") }
      const otherLedger = join(fleet.folder, "other.ledger.json")
      const otherOf = (more = "") => `fleet: other\nnodes:\n  x: { plan: ${plan}, image: Ubuntu-24.04${more} }\n`
      writeFileSync(other.file, otherOf())
      assert.strictEqual((yield* fleet.run(["apply", "-f", other.file, "--yes"])).code, 0)
      const older = readFileSync(otherLedger, "utf8")
      assert.strictEqual((yield* fleet.run(["fleet", "forget", "x-1", "-f", other.file])).code, 0)
      fleet.write(`fleet: shop\nnodes:\n  db: { plan: ${plan}, image: Ubuntu-24.04${protect}, name: other-x-1 }\n`)
      const adopted = yield* fleet.run(["fleet", "adopt", "1000", "--as", "db-1", "-f", fleet.file])
      assert.strictEqual(adopted.code, 0, adopted.stderr)
      assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
      writeFileSync(otherLedger, older)
      writeFileSync(other.file, otherOf(", tags: [b]"))
      yield* fleet.run(["apply", "-f", other.file, "--yes", "--replace", "all", "--max-deletes", "9"])
      const destroyed = yield* fleet.run(destroy(other))
      const [row] = rowsOf(destroyed)
      assert.strictEqual(row?.action, "kept", destroyed.stderr)
      assert.include(row?.reason, "db-1 of the fleet shop")
      assert.deepStrictEqual(
        service.nodes.map(({ id }) => id),
        [1000]
      )
    }).pipe(Effect.scoped)
  )
})

describe("the old node of a protected member whose replacement is not finished", () => {
  it.live("is not deleted by hand or by an agent, and no row or hint tells to do so", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      const fleet = yield* hurriedFolderOf(account)
      fleet.write(webs(1))
      yield* fleet.apply("--yes")
      fleet.write(webs(1, plan, ", tags: [b]"))
      const unready = ["--ready-command", "false", "--ready-timeout", "50ms"]
      const held = yield* fleet.apply("--yes", "--replace", "all", "--max-deletes", "1", ...unready)
      assert.strictEqual(held.code, 9, held.stderr)
      fleet.write(webs(1, plan, ", tags: [b], protect: true"))
      yield* fleet.apply("--yes")
      for (const isMissing of [false, true]) {
        if (isMissing) renameSync(fleet.ledger, `${fleet.ledger}.away`)
        for (const node of ["1000", "1001"]) {
          const refused = yield* fleet.run(["node", "delete", node, "--yes"])
          assert.strictEqual(refused.code, 5, refused.stderr)
          assert.include(refused.stderr, `Protected: node ${node} (shop-web-1), which is web-1 of the fleet shop.`)
        }
        const agent = yield* startAgent(["--allow", "delete"], { env: yield* fleet.env })
        const { isError } = yield* Effect.promise(() => agent.call("propose", { action: "delete", node: "1000" }))
        assert.isTrue(isError)
      }
      renameSync(`${fleet.ledger}.away`, fleet.ledger)
      for (const command of [fleet.diff(), fleet.apply("--yes"), fleet.run(["fleet", "list"])]) {
        const { stderr, stdout } = yield* command
        assert.notInclude(stdout + stderr, "berth node delete")
      }
      assert.lengthOf(service.nodes, 2)
      // The file ends the protection, so the replacement ends and leaves no record.
      fleet.write(webs(1, plan, ", tags: [b]"))
      yield* fleet.apply("--yes")
      const ended = yield* fleet.apply("--yes", "--replace", "all", "--max-deletes", "1")
      assert.strictEqual(ended.code, 0, ended.stderr)
      assert.deepStrictEqual(
        service.nodes.map(({ id }) => id),
        [1001]
      )
    }).pipe(Effect.scoped)
  )
})

describe("berth api", () => {
  it.live("deletes no protected node, however its path is written, and no other is held up", () =>
    Effect.gen(function* () {
      const { db, fleet, service } = yield* protectedFleet
      const paths = ["/nodes/ID/", "nodes/ID", "//nodes//ID/", "/%6eodes/ID", "/%256eodes/ID", "/nodes/ID/?a=b"]
      for (const path of [...paths, "/myaccount/api/v1/nodes/ID/", "/nodes/0ID/", "/nodes/ID;a=b/", "/NODES/ID "]) {
        const refused = yield* fleet.run(["api", "delete", path.replace("ID", db)])
        assert.strictEqual(refused.code, 5, `${path}: ${refused.stderr}`)
        assert.include(refused.stderr, `Protected: node ${db} (shop-db-1), which is db-1 of the fleet shop.`)
        assert.include(refused.stderr, "hint: Remove its protection in the fleet file and apply")
      }
      for (const path of [
        "/../v1/nodes/ID/",
        "../v1/nodes/ID/",
        "/nodes/x/..%2fID/",
        "/x/%252E%252e/nodes/ID",
        "\\nodes\\ID"
      ]) {
        const refused = yield* fleet.run(["api", "DELETE", path.replace("ID", db)])
        assert.strictEqual(refused.code, 5, `${path}: ${refused.stderr}`)
        assert.include(
          refused.stderr,
          "expected a path without backslashes and control characters, and without . or .. as a part"
        )
      }
      assert.isTrue(service.requests.every((request) => !request.startsWith("DELETE")))
      assert.strictEqual((yield* fleet.run(["api", "DELETE", "/nodes/999/"])).code, 4)
      assert.strictEqual((yield* fleet.run(["api", `/nodes/${db}/`])).code, 0)
      fleet.write(dbOf())
      assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
      assert.strictEqual((yield* fleet.run(["api", "DELETE", `/nodes/${db}/`])).code, 0)
    }).pipe(Effect.scoped)
  )

  it.live("does not let the service delete a protected node with its commitment", () =>
    Effect.gen(function* () {
      const { db, fleet, service, web } = yield* protectedFleet
      const purchase = "/update_committed_node_status/"
      const bodyOf = (id: unknown, setting: string) => JSON.stringify({ vcn_id: id, node_status: setting })
      for (const id of [Number(db), db]) {
        for (const method of ["POST", "PUT"]) {
          const refused = yield* fleet.run(["api", method, purchase, "-d", bodyOf(id, "auto_terminate")])
          assert.strictEqual(refused.code, 5, refused.stderr)
          assert.include(refused.stderr, "With auto_terminate the service would delete it")
        }
      }
      for (const body of [
        `\uFEFF${bodyOf(db, "auto_terminate")}`,
        bodyOf(db, "Auto-Terminate "),
        JSON.stringify({ VCN_ID: [Number(web), Number(db)], "Node-Status": ["auto_terminate"] })
      ]) {
        const refused = yield* fleet.run(["api", "POST", purchase, "-d", body])
        assert.strictEqual(refused.code, 5, `${body}: ${refused.stderr}`)
      }
      assert.notInclude(service.requests, `POST ${purchase}`)
      for (const body of [bodyOf(Number(db), "hourly_billing"), bodyOf(Number(web), "auto_terminate")]) {
        assert.strictEqual((yield* fleet.run(["api", "POST", purchase, "-d", body])).code, 0)
      }
    }).pipe(Effect.scoped)
  )
})

describe("auto_terminate of a protected member", () => {
  const purchase = "POST /update_committed_node_status/"

  it.live("is refused by hand and by an agent before anything is sent, and other settings are not", () =>
    Effect.gen(function* () {
      const { db, fleet, service, web } = yield* protectedFleet
      const set = (node: string, setting: string) => fleet.run(["commitment", "set", node, setting, "--yes"])
      const refused = yield* set(db, "auto_terminate")
      assert.strictEqual(refused.code, 5, refused.stderr)
      assert.include(refused.stderr, `Protected: node ${db} (shop-db-1), which is db-1 of the fleet shop.`)
      assert.include(refused.stderr, "the service would delete it")
      const agent = yield* startAgent(["--allow", "commit"], { env: yield* fleet.env })
      const { content, isError } = yield* Effect.promise(() =>
        agent.call("propose", { action: "commit", node: "shop-db-1", setting: "auto_terminate" })
      )
      assert.isTrue(isError)
      assert.include(content[0]?.text, "Protected: node")
      assert.notInclude(service.requests, purchase)
      assert.strictEqual((yield* set(db, "hourly_billing")).code, 0)
      assert.strictEqual((yield* set(web, "auto_terminate")).code, 0)
    }).pipe(Effect.scoped)
  )

  it.live("is a difference if it was set before the node was protected", () =>
    Effect.gen(function* () {
      const { account } = yield* alteredService
      const fleet = yield* hurriedFolderOf(account)
      fleet.write(webs(1))
      assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
      const set = (setting: string) => fleet.run(["commitment", "set", "shop-web-1", setting, "--yes"])
      assert.strictEqual((yield* set("auto_terminate")).code, 0)
      assert.strictEqual((yield* fleet.diff()).code, 0)
      fleet.write(webs(1, plan, ", protect: true"))
      yield* fleet.apply("--yes")
      const differing = yield* fleet.diff("-o", "json")
      assert.deepStrictEqual(
        [differing.code, rowsOf(differing).map(({ action, reason }) => `${action}: ${reason.split(";")[0]}`)],
        [11, ["differs: auto_terminate was set for it, so the service deletes the node at its end"]]
      )
      fleet.write(webs(1, plan, ", protect: true, commitment: hourly_billing"))
      assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
      assert.strictEqual((yield* fleet.diff()).code, 0)
    }).pipe(Effect.scoped)
  )

  it.live("is not sent by the apply that takes the protection away, and is by the next one", () =>
    Effect.gen(function* () {
      const { fleet, service } = yield* protectedFleet
      fleet.write(dbOf(", commitment: auto_terminate"))
      const first = yield* fleet.apply("--yes", "-o", "json")
      assert.strictEqual(first.code, 0, first.stderr)
      assert.include(
        rowsOf(first)
          .map(({ reason }) => reason)
          .join(),
        "auto_terminate lets the service delete it; the ledger protects it until this apply has finished"
      )
      assert.notInclude(service.requests, purchase)
      assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
      assert.include(service.requests, purchase)
    }).pipe(Effect.scoped)
  )
})

describe("a ledger that cannot be used", () => {
  it.live("refuses deletes by hand and by an agent, until it is put right or the fleet is forgotten", () =>
    Effect.gen(function* () {
      const { fleet, remove, service, web } = yield* protectedFleet
      const whole = fleet.ledgerText()
      writeFileSync(fleet.ledger, `<<<<<<< HEAD\n${whole}`)
      const refused = yield* remove(web)
      assert.strictEqual(refused.code, 5, refused.stderr)
      assert.include(
        refused.stderr,
        `The ledger ${fleet.ledger} of the fleet shop is damaged, and it may protect the node.`
      )
      assert.include(refused.stderr, "berth fleet forget shop")
      const agent = yield* startAgent(["--allow", "delete"], { env: yield* fleet.env })
      const { content, isError } = yield* Effect.promise(() =>
        agent.call("propose", { action: "delete", node: "shop-web-1" })
      )
      assert.isTrue(isError)
      assert.include(content[0]?.text, "is damaged")
      assert.lengthOf(service.nodes, 2)
      writeFileSync(fleet.ledger, whole)
      assert.strictEqual((yield* remove(web)).code, 0)
    }).pipe(Effect.scoped)
  )
})

describe("berth fleet list", () => {
  it.live("exits with 11 while a ledger is missing or damaged, and does not list a fleet that never had one", () =>
    Effect.gen(function* () {
      const { fleet } = yield* protectedFleet
      const list = fleet.run(["fleet", "list"])
      const whole = fleet.ledgerText()
      assert.strictEqual((yield* list).code, 0)
      for (const [text, words] of [
        [undefined, "of the fleet shop is missing"],
        [`<<<<<<< HEAD\n${whole}`, "is damaged: it has the marks of a merge conflict"]
      ] as const) {
        rmSync(fleet.ledger)
        if (text !== undefined) writeFileSync(fleet.ledger, text)
        const listed = yield* list
        assert.strictEqual(listed.code, 11, listed.stderr)
        assert.include(listed.stderr, words)
        writeFileSync(fleet.ledger, whole)
      }
      const { account } = yield* alteredService
      const other = yield* hurriedFolderOf(account)
      other.write(webs(1))
      assert.notStrictEqual((yield* other.apply("--yes", "--max-cost", "0.01")).code, 0)
      assert.strictEqual((yield* other.run(["fleet", "list"])).code, 0)
    }).pipe(Effect.scoped)
  )
})

describe("berth fleet forget", () => {
  it.live("does not say that a node stays which Berth itself has deleted", () =>
    Effect.gen(function* () {
      const { account } = yield* alteredService
      const fleet = yield* hurriedFolderOf(account)
      fleet.write(webs(1))
      yield* fleet.apply("--yes")
      fleet.write(webs(1, plan, ", tags: [b]"))
      const replaced = yield* fleet.apply("--yes", "--replace", "all", "--max-deletes", "1")
      assert.strictEqual(replaced.code, 0, replaced.stderr)
      const { stderr } = yield* fleet.run(["fleet", "forget", "web-1", "-f", fleet.file])
      assert.match(stderr, /Node 1001 was not deleted: if it still exists, it is billed/)
      assert.include(stderr, "An earlier run requested the deletion of node 1000")
    }).pipe(Effect.scoped)
  )
})

describe("a setting that buys nothing, whose reply was lost", () => {
  it.live("is sent again by the next run, and holds up no destroy", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      const fleet = yield* hurriedFolderOf(account)
      fleet.write(webs(1, plan, ", commitment: hourly_billing"))
      const sent = () => service.requests.filter((request) => request.startsWith("POST /update_committed")).length
      const loseOne = Effect.gen(function* () {
        service.isPurchaseLost = true
        const lost = yield* fleet.apply("--yes")
        assert.strictEqual(lost.code, 9)
        assert.notInclude(lost.stderr + lost.stdout, "it is not sent again")
        assert.include(lost.stderr, "Run the same command again: it sends the setting again, which buys nothing.")
        service.isPurchaseLost = false
        return sent()
      })
      const before = yield* loseOne
      const again = yield* fleet.apply("--yes")
      assert.strictEqual(again.code, 0, again.stderr)
      assert.strictEqual(sent(), before + 1)
      assert.strictEqual((yield* fleet.diff()).code, 0)
      fleet.write(webs(1, plan, ", commitment: auto_terminate"))
      yield* loseOne
      const destroyed = yield* fleet.run(["destroy", "-f", fleet.file, "--yes"])
      assert.strictEqual(destroyed.code, 0, destroyed.stderr)
      assert.lengthOf(service.nodes, 0)
    }).pipe(Effect.scoped)
  )
})

describe("a list that still shows the nodes of a fleet that was destroyed", () => {
  const destroyed = Effect.gen(function* () {
    const { account, service } = yield* alteredService
    const fleet = yield* hurriedFolderOf(account)
    fleet.write(webs(2))
    yield* fleet.apply("--yes")
    const listed = [...service.nodes]
    assert.strictEqual((yield* fleet.run(["destroy", "-f", fleet.file, "--yes"])).code, 0)
    service.listed = listed
    service.requests.length = 0
    const plan = (name: string) => fleet.run([name, "-f", fleet.file, "--yes", "--grace", "50ms", "-o", "json"])
    return { fleet, plan, service }
  })

  it.live("is not believed: each node is read by its id, and nothing counts as unchanged", () =>
    Effect.gen(function* () {
      const { fleet, plan, service } = yield* destroyed
      assert.strictEqual((yield* fleet.diff()).code, 11)
      const applied = yield* plan("apply")
      assert.deepStrictEqual(
        rowsOf(applied).map(({ action }) => action),
        ["doubted", "doubted"]
      )
      assert.include(service.requests, "GET /nodes/1000/")
      assert.lengthOf(service.nodes, 0)
      service.listed = undefined
      const again = yield* plan("apply")
      assert.deepStrictEqual(
        rowsOf(again).map(({ action }) => action),
        ["create", "create"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("is no failure of a second destroy", () =>
    Effect.gen(function* () {
      const { plan, service } = yield* destroyed
      const again = yield* plan("destroy")
      assert.strictEqual(again.code, 0, again.stderr)
      assert.notInclude(service.requests, "DELETE /nodes/1000/")
    }).pipe(Effect.scoped)
  )
})

describe("a fleet in two clones on one machine, both without a ledger", () => {
  const clones = Effect.gen(function* () {
    const { account, service } = yield* alteredService
    const fleet = yield* hurriedFolderOf(account)
    const [first, second] = ["x", "y"].map((name) => {
      mkdirSync(join(fleet.folder, name))
      const file = join(fleet.folder, name, "fleet.yaml")
      writeFileSync(file, webs(1))
      return { file, ledger: join(fleet.folder, name, "fleet.ledger.json") }
    })
    const apply = ({ file }: { readonly file: string }, ...args: ReadonlyArray<string>) =>
      fleet.run(["apply", "-f", file, "--yes", ...args])
    return { apply, first: first!, fleet, second: second!, service }
  })

  it.live("is made once if both apply it at the same time: the other is refused, and names both ledgers", () =>
    Effect.gen(function* () {
      const { apply, first, second, service } = yield* clones
      const both = yield* Effect.all([apply(first), apply(second)], { concurrency: "unbounded" })
      assert.deepStrictEqual(both.map(({ code }) => code).toSorted(), [0, 5])
      const { stderr } = both.find(({ code }) => code === 5)!
      for (const { ledger } of [first, second]) assert.include(stderr, ledger)
      assert.lengthOf(service.nodes, 1)
    }).pipe(Effect.scoped)
  )

  it.live(
    "is refused by every command that plans in the second one, until its nodes are gone or it has the ledger",
    () =>
      Effect.gen(function* () {
        const { apply, first, fleet, second, service } = yield* clones
        assert.strictEqual((yield* apply(first)).code, 0)
        for (const args of [["apply", "--dry-run"], ["diff"], ["destroy", "--yes"]]) {
          const refused = yield* fleet.run([args[0]!, "-f", second.file, ...args.slice(1)])
          assert.strictEqual(refused.code, 5, refused.stderr)
          assert.include(refused.stderr, `the fleet shop already has the ledger ${first.ledger},`)
        }
        writeFileSync(second.ledger, readFileSync(first.ledger))
        assert.strictEqual((yield* apply(second)).code, 0)
        assert.lengthOf(service.nodes, 1)
        rmSync(second.ledger)
        assert.strictEqual((yield* fleet.run(["destroy", "-f", first.file, "--yes", "--wait"])).code, 0)
        assert.strictEqual((yield* apply(second)).code, 0)
        assert.lengthOf(service.nodes, 1)
      }).pipe(Effect.scoped)
  )
})
