/** An empty list is printed as a list in every format: in JSON as `[]`, never as no output. */
import { verbsOf } from "@berthkit/cli/commandTree"
import { tree } from "@berthkit/cli/commands"
import { TestServer } from "@berthkit/server/testing"
import { assert, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { inDialect } from "../account.ts"
import { json, lines, settings } from "./berth.ts"
import { berth, invoke } from "./invoke.ts"
import { stateFolder } from "./stateFolder.ts"

const order = ["--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04"]

/** A command line for each command whose list may be empty. */
const empty: Readonly<Record<string, ReadonlyArray<string>>> = {
  "node list": ["--name", "none-*"],
  "node create": ["own", ...order, "--count", "2", "--if-absent", "--dry-run"],
  "image list": ["--plan", "none"],
  "image saved": [],
  "plan list": ["--plan", "none"],
  cost: [],
  "fleet list": [],
  reap: [],
  history: ["none"],
  "profile list": []
}

/**
 * Commands that are left out: a command with a NODE argument fails if there is no node, `berth doctor` always finds something, and a fleet
 * file has a group.
 */
const neverEmpty = ["node get", "node delete", "node wait", "doctor", "apply", "diff", "destroy"]

it("every command that prints a list is here", () => {
  const lists = verbsOf(tree).flatMap(({ path, verb }) =>
    verb.prints.some((record) => record.endsWith("[]")) ? [path.join(" ")] : []
  )
  assert.sameMembers(lists, [...Object.keys(empty), ...neverEmpty])
})

layer(TestServer.layer(inDialect()), { excludeTestServices: true })("a list of nothing", (it) => {
  for (const [command, args] of Object.entries(empty)) {
    it.effect(`of berth ${command} is empty in the way of each format`, () =>
      Effect.gen(function* () {
        if (command === "node create") yield* berth(["node", "create", "own", ...order, "--count", "2", "--yes"])
        const env = { ...(yield* settings), XDG_STATE_HOME: yield* stateFolder }
        const asked = (format: string) =>
          Effect.map(invoke([...command.split(" "), ...args, "-o", format], { env }), (ended) => {
            assert.strictEqual(ended.code, 0, ended.stderr)
            return ended
          })
        for (const format of ["json", "yaml"]) {
          assert.deepStrictEqual(yield* asked(format), { code: 0, stdout: "[]\n", stderr: "" }, format)
        }
        for (const format of ["ndjson", "id", "name"]) assert.strictEqual((yield* asked(format)).stdout, "", format)
        assert.match((yield* asked("csv")).stdout, /^\w[\w.]*(?:,[\w.]+)+\n$/)
        const table = yield* asked("table")
        assert.strictEqual(table.stdout, "")
        assert.match(table.stderr, /^There are no .+\.\n$/)
        // A query works on the empty list.
        const queried = [...command.split(" "), ...args, "--query", "[].name", "-o", "json"]
        assert.deepStrictEqual(json(yield* invoke(queried, { env })), [])
        if (command === "node create") {
          const { control, id: world } = yield* TestServer
          const nodes = yield* Effect.orDie(control.nodes.list({ params: { world }, query: {} }))
          assert.lengthOf(nodes, 2)
          yield* berth(["node", "delete", ...nodes.map(({ id }) => String(id)), "--yes"])
        }
      })
    )
  }

  it.effect("does not come of names that no node has: those fail, and print nothing", () =>
    Effect.gen(function* () {
      for (const args of [["get"], ["wait"], ["delete", "--yes"]]) {
        const { code, stderr, stdout } = yield* berth(["node", ...args, "none-*", "-o", "json"])
        assert.deepStrictEqual([code, stdout, lines(stderr).length], [4, "", 1])
      }
    })
  )
})
