/** Every command shows the same record of a node, no matter how the user named the node. */
import { assert, describe, it } from "@effect/vitest"
import { TestServer } from "@berthkit/server/testing"
import { Effect } from "effect"
import { parse } from "yaml"
import { firstStatus, inDialect, shownPlan } from "../account.ts"
import { json, lines, settings } from "./berth.ts"
import { berth, invoke } from "./invoke.ts"
import { stateFolder } from "./stateFolder.ts"

const create = (name: string) =>
  berth(["node", "create", "--name", name, "--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04", "-o", "json"])

interface Shown {
  readonly id: number
  readonly name: string
}

describe("a name that no node has", () => {
  it.live("is answered with the nearest spelling, by every command", () =>
    Effect.gen(function* () {
      for (const [name, sentence] of [
        ["wbe-1", "No node matches wbe-1; did you mean web-1?"],
        ["databse", "No node matches databse; did you mean database?"],
        ["nothing-like-it", "No node matches nothing-like-it."]
      ] as const) {
        for (const args of [["get"], ["wait"], ["delete", "--yes"], ["ip"], ["ssh"]]) {
          const { code, stderr, stdout } = yield* berth(["node", ...args, name])
          assert.deepStrictEqual([code, stdout, lines(stderr)[0]], [4, "", `error: ${sentence}`], args[0])
        }
      }
    }).pipe(Effect.provide(TestServer.layer(inDialect({ scenario: "small" }))))
  )
})

describe("the record of a node", () => {
  it.live("is the same by id, name and pattern, after a wait and in the result of a delete", () =>
    Effect.gen(function* () {
      const { advance } = yield* TestServer
      const { id } = json<Shown>(yield* create("web"))
      yield* create("database")
      yield* advance("1 minute")
      const shown = (...args: ReadonlyArray<string>) =>
        Effect.map(berth(["node", ...args, "-o", "ndjson"]), ({ stdout }) => JSON.parse(lines(stdout)[0]!))
      const byId = yield* shown("get", String(id))
      assert.deepInclude(byId, {
        id,
        name: "web",
        plan: shownPlan("C-2VCPU-8RAM-50DISK"),
        memoryMib: 8192,
        region: "ncr",
        locked: false
      })
      assert.deepStrictEqual(yield* shown("get", "web"), byId)
      assert.deepStrictEqual(yield* shown("get", "name:web"), byId)
      assert.deepStrictEqual(yield* shown("get", "w*"), byId)
      for (const named of [["web"], [String(id)], ["w*", "database"]]) {
        const { node, ...row } = yield* shown("wait", ...named)
        assert.deepStrictEqual(row, {
          id,
          name: "web",
          outcome: "running"
        })
        assert.deepStrictEqual(node, byId)
      }
      for (const named of ["web", String(id), "w*"]) {
        const { node, ...row } = yield* shown("delete", named, "--yes")
        assert.deepStrictEqual(row, {
          id,
          name: "web",
          outcome: "deleting"
        })
        assert.deepStrictEqual({ ...node, status: "running" }, byId)
      }
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("is that of a get in the result of a create, and of a create that finds it", () =>
    Effect.gen(function* () {
      const order = ["node", "create", "web", "--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04", "--if-absent"]
      for (const expected of ["created", "existing"]) {
        const { outcome, ...record } = json<Shown & { readonly outcome: string }>(
          yield* berth([...order, "-o", "json"])
        )
        assert.strictEqual(outcome, expected)
        assert.deepStrictEqual(record, json<Shown>(yield* berth(["node", "get", "web", "-o", "json"])))
      }
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("is that of a get in the result of every command that changes or awaits nodes", () =>
    Effect.gen(function* () {
      const { advance } = yield* TestServer
      const env = { XDG_STATE_HOME: yield* stateFolder }
      const order = ["--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04", "--yes"]
      const shown = (...args: ReadonlyArray<string>) =>
        Effect.gen(function* () {
          const ended = yield* invoke([...args, "-o", "json"], { env: { ...(yield* settings), ...env } })
          assert.strictEqual(ended.code, 0, ended.stderr)
          return json<Record<string, unknown>>(ended)
        })
      yield* shown("node", "create", "web", ...order)
      yield* advance("1 minute")
      const expected = yield* shown("node", "get", "web")

      // Three creates: one that finds the node of its key, one whose reply is lost, and one of several.
      const keyed = yield* shown("node", "create", "keyed", ...order, "--key", "k")
      const { outcome, ...adopted } = yield* shown("node", "create", "keyed", ...order, "--key", "k")
      assert.strictEqual(outcome, "adopted")
      assert.deepStrictEqual({ ...adopted, outcome: "created" }, keyed)
      const counted = yield* shown("node", "create", "many", ...order, "--count", "2")
      for (const { outcome: _, ...record } of counted as unknown as ReadonlyArray<Shown & { outcome: string }>) {
        assert.deepStrictEqual<unknown>(record, yield* shown("node", "get", record.name))
      }

      const { node: committed } = yield* shown("commitment", "set", "web", "auto_terminate", "--yes")
      assert.deepStrictEqual(committed, expected)
      const { node: waited } = yield* shown("node", "wait", "name:web")
      assert.deepStrictEqual(waited, expected)
      const { id, name, privateIp, publicIp } = expected
      assert.deepStrictEqual(yield* shown("node", "ip", "web"), { id, name, publicIp, privateIp })
      const proposed = yield* shown("node", "delete", "web", "--dry-run")
      assert.deepStrictEqual([proposed["id"], proposed["name"]], [id, name])
      yield* advance("1 minute")
      const { node: deleted } = yield* shown("node", "delete", String(id), "--yes")
      assert.deepStrictEqual({ ...(deleted as object), status: "running" }, expected)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("has the same values in every format, in a pipe and on a terminal", () =>
    Effect.gen(function* () {
      const { advance } = yield* TestServer
      const env = yield* settings
      yield* create("web")
      yield* advance("1 minute")
      for (const args of [["get", "web"], ["get", "w*"], ["list"]]) {
        const one = (format: string, terminalColumns?: number) =>
          Effect.map(
            invoke(["node", ...args, "-o", format], { env, ...(terminalColumns && { terminalColumns }) }),
            ({ stdout }) => stdout
          )
        const expected = [JSON.parse(yield* one("json"))].flat()
        for (const columns of [undefined, 20, 80]) {
          assert.deepStrictEqual([JSON.parse(yield* one("json", columns))].flat(), expected)
          assert.deepStrictEqual([JSON.parse(yield* one("ndjson", columns))], expected)
          assert.deepStrictEqual([parse(yield* one("yaml", columns))].flat(), expected)
          const [titles = "", values = ""] = lines(yield* one("csv", columns))
          const cells = values.split(",")
          for (const [at, key] of titles.split(",").entries()) {
            const value: unknown = expected[0][key]
            assert.strictEqual(cells[at], Array.isArray(value) ? JSON.stringify(value) : String(value ?? ""), key)
          }
        }
      }
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("is that of the list, besides what the list does not report of a node", () =>
    Effect.gen(function* () {
      const { advance } = yield* TestServer
      yield* create("web")
      yield* advance("1 minute")
      const [listed] = json<ReadonlyArray<Record<string, unknown>>>(yield* berth(["node", "list", "-o", "json"]))
      const got = json<Record<string, unknown>>(yield* berth(["node", "get", "web", "-o", "json"]))
      assert.deepStrictEqual(Object.keys(listed!), Object.keys(got))
      assert.deepStrictEqual({ ...listed, locked: got["locked"], extra: got["extra"] }, got)
      assert.deepStrictEqual([listed!["locked"], got["locked"]], [null, false])
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("in a result row has the node's name, or null where it is not known", () =>
    Effect.gen(function* () {
      const { id } = json<Shown>(yield* create("web"))
      const { code, stderr, stdout } = yield* berth(["node", "delete", String(id), "7", "--yes", "-o", "ndjson"])
      assert.strictEqual(code, 9)
      assert.strictEqual(JSON.parse(stdout).name, "web")
      const failures = stderr
        .split("\n")
        .flatMap((line) => (!line.startsWith("{") ? [] : [JSON.parse(line).error.details.node]))
      assert.deepStrictEqual(failures, [{ id: 7, name: null }, undefined])
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )
})

describe("a name of digits", () => {
  it.live("is found by get and wait, and by others as name:123 alone", () =>
    Effect.gen(function* () {
      const { id } = json<Shown>(yield* create("123"))
      for (const args of [
        ["get", "123"],
        ["get", "name:123"],
        ["wait", "123", "--for", firstStatus]
      ]) {
        const { code, stdout } = yield* berth(["node", ...args, "-o", "json"])
        assert.deepStrictEqual([code, json<Shown>({ code, stdout, stderr: "" }).id], [0, id], args.join(" "))
      }
      for (const args of [
        ["node", "delete", "123", "--yes"],
        ["commitment", "set", "123", "auto_terminate", "--yes"]
      ]) {
        const refused = yield* berth(args)
        assert.deepStrictEqual([refused.code, refused.stdout], [4, ""], args.join(" "))
      }
      const deleted = yield* berth(["node", "delete", "name:123", "--yes", "-o", "json"])
      assert.strictEqual(json<Shown>(deleted).id, id)
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("is the id where a node has both", () =>
    Effect.gen(function* () {
      const { id } = json<Shown>(yield* create("web"))
      yield* create(String(id))
      assert.strictEqual(json<Shown>(yield* berth(["node", "get", String(id), "-o", "json"])).name, "web")
      assert.strictEqual(json<Shown>(yield* berth(["node", "get", `name:${id}`, "-o", "json"])).name, String(id))
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )
})

describe("a name with an asterisk", () => {
  it.live("is one among all that match where it is read as a pattern, and alone with name:", () =>
    Effect.gen(function* () {
      const { id } = json<Shown>(yield* create("w*"))
      yield* create("web")
      const ids = (node: string) =>
        Effect.map(berth(["node", "get", node, "-o", "ndjson"]), ({ stdout }) =>
          lines(stdout).map((line) => JSON.parse(line).id)
        )
      assert.lengthOf(yield* ids("w*"), 2)
      assert.lengthOf(yield* ids("pattern:w*"), 2)
      assert.deepStrictEqual(yield* ids("name:w*"), [id])
      const { stdout } = yield* berth(["commitment", "set", "w*", "auto_terminate", "--dry-run", "-o", "json"])
      assert.strictEqual(json<Shown>({ code: 0, stdout, stderr: "" }).id, id)
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )
})
