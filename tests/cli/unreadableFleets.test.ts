/** A machine whose list of fleets cannot be read. Berth does not know which nodes are protected, so it deletes none. */
import { globSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { freePort } from "@berthkit/testing/freePort"
import { Effect } from "effect"
import { alteredService, plan } from "./AlteredService.ts"
import { hurriedFolderOf, webs } from "./fleet.ts"
import { startAgent } from "./mcp/Agent.ts"

/** A fleet with a protected node, another fleet with one node, and the record of the first fleet in the list of fleets. */
const twoFleets = Effect.gen(function* () {
  const { account, service } = yield* alteredService
  const fleet = yield* hurriedFolderOf(account)
  fleet.write(webs(1, plan, ", protect: true"))
  assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
  const state = (yield* fleet.env)["XDG_STATE_HOME"]!
  const [record = ""] = globSync(join(state, "berth/accounts/*/records/fleet/*.json"))
  const other = join(fleet.folder, "other.yaml")
  writeFileSync(other, `fleet: other\nnodes:\n  x: { count: 1, plan: ${plan}, image: Ubuntu-24.04 }\n`)
  assert.strictEqual((yield* fleet.run(["apply", "-f", other, "--yes"])).code, 0)
  const changes = () => service.requests.filter((request) => !request.startsWith("GET "))
  return { account, changes, fleet, other, record, service }
})

/** Every command that may delete or adopt the protected node or another one. */
const ends = (other: string): ReadonlyArray<ReadonlyArray<string>> => [
  ["node", "delete", "1000", "--yes"],
  ["api", "DELETE", "/nodes/1000/"],
  ["api", "POST", "/update_committed_node_status/", "-d", '{"vcn_id":1000,"node_status":"auto_terminate"}'],
  ["commitment", "set", "1000", "auto_terminate", "--yes"],
  ["fleet", "adopt", "1000", "--as", "x-2", "-f", other],
  ["destroy", "-f", other, "--yes", "--max-deletes", "9"],
  ["apply", "-f", other, "--yes", "--replace", "all", "--max-deletes", "9"]
]

describe("a list of fleets that cannot be read", () => {
  it.live.each([
    ["empty", () => ""],
    ["cut off", (text: string) => text.slice(0, 20)],
    ["of a later version", (text: string) => text.replace('"version":1', '"version":2')]
  ] as const)("ends no node while a record is %s, and names the record and the way out", ([, damage]) =>
    Effect.gen(function* () {
      const { changes, fleet, other, record } = yield* twoFleets
      const before = changes().length
      const text = readFileSync(record, "utf8")
      writeFileSync(record, damage(text))
      for (const command of ends(other)) {
        const refused = yield* fleet.run(command)
        assert.strictEqual(refused.code, 10, `${command.join(" ")}: ${refused.stderr}`)
        assert.include(refused.stderr, `${record} is damaged, or of a later version. A fleet in it may have the node.`)
        assert.include(refused.stderr, "update berth. Otherwise restore it; or remove it, and run berth apply")
      }
      const agent = yield* startAgent(["--allow", "delete"], { env: yield* fleet.env })
      const { content, isError } = yield* Effect.promise(() =>
        agent.call("propose", { action: "delete", node: "1000" })
      )
      assert.isTrue(isError)
      assert.include(content[0]?.text, `${record} is damaged`)
      assert.lengthOf(changes(), before)
      for (const command of [["fleet", "list"], ["doctor"]]) {
        const told = yield* fleet.run(command)
        assert.strictEqual(told.code, 10, told.stderr)
        assert.include(told.stderr, `${record} is damaged`)
        assert.notInclude(told.stdout, "no fleets")
      }
      for (const command of [
        ["node", "list"],
        ["diff", "-f", other],
        ["cost", "--by", "fleet"]
      ]) {
        const read = yield* fleet.run(command)
        assert.strictEqual(read.code, 0, `${command.join(" ")}: ${read.stderr}`)
      }
      rmSync(record)
      assert.strictEqual((yield* fleet.apply("--yes")).code, 0)
      assert.strictEqual((yield* fleet.run(["node", "delete", "1000", "--yes"])).code, 5)
      assert.strictEqual((yield* fleet.run(["destroy", "-f", other, "--yes", "--max-deletes", "9"])).code, 0)
    }).pipe(Effect.scoped)
  )

  it.live("ends no node while the folder of the records cannot be read, and any while there is none", () =>
    Effect.gen(function* () {
      const { changes, fleet, other, record } = yield* twoFleets
      const before = changes().length
      const folder = join(record, "..")
      renameSync(folder, `${folder}.away`)
      writeFileSync(folder, "")
      for (const command of ends(other)) {
        const refused = yield* fleet.run(command)
        assert.strictEqual(refused.code, 10, `${command.join(" ")}: ${refused.stderr}`)
        assert.include(refused.stderr, folder)
      }
      assert.lengthOf(changes(), before)
      rmSync(folder)
      assert.strictEqual((yield* fleet.run(["node", "delete", "1000", "--yes"])).code, 0)
    }).pipe(Effect.scoped)
  )

  it.live("ends no node while the database with the records is away", () =>
    Effect.gen(function* () {
      const { account, changes, fleet, other } = yield* twoFleets
      const before = changes().length
      Object.assign(account, { BERTH_STATE_URL: `postgres://berth@127.0.0.1:${yield* Effect.promise(freePort)}/berth` })
      for (const command of ends(other)) {
        const refused = yield* fleet.run(command)
        assert.strictEqual(refused.code, 10, `${command.join(" ")}: ${refused.stderr}`)
      }
      assert.lengthOf(changes(), before)
      assert.strictEqual((yield* fleet.run(["fleet", "list"])).code, 10)
      assert.strictEqual((yield* fleet.run(["node", "list"])).code, 0)
    }).pipe(Effect.scoped)
  )
})
