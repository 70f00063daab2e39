/** Prints the same nodes in every format. No name may start a new line or contain a control code. */
import { nodeRecord, ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { parse } from "yaml"
import { controls, json, lines, start } from "./berth.ts"
import { invoke } from "./invoke.ts"
import { serve } from "./ScriptedServer.ts"

const account = { BERTH_API_KEY: "the-key-of-a-test", BERTH_ACCESS_TOKEN: "the-token-of-a-test" }

const hostile = 'a "quoted",\nname\u001b[31m\u202e'

/** A service with these nodes on one page. */
const withNodes = (names: ReadonlyArray<string>) =>
  Effect.map(
    serve(({ query }) =>
      ok(query["page_no"] === "1" ? names.map((name, index) => nodeRecord({ id: index + 1, name })) : [])
    ),
    (url) =>
      (...args: ReadonlyArray<string>) =>
        invoke(["node", "list", ...args], { env: { ...account, BERTH_BASE_URL: url } })
  )

describe("node list", () => {
  it.live("-o id, name, csv and yaml hold the same nodes as json", () =>
    Effect.gen(function* () {
      const list = yield* withNodes(["web", "db"])
      const json = JSON.parse((yield* list("-o", "json")).stdout)
      assert.strictEqual((yield* list("-o", "id")).stdout, "1\n2\n")
      assert.strictEqual((yield* list("-o", "name")).stdout, "web\ndb\n")
      assert.deepStrictEqual(parse((yield* list("-o", "yaml")).stdout), json)
      assert.strictEqual((yield* list("-o", "csv", "--columns", "id,name,age,memory")).stdout.split(",")[0], "id")
      assert.deepStrictEqual(
        lines((yield* list("-o", "csv", "--columns", "id,name,memory", "--no-header")).stdout),
        json.map(({ id, memoryMib, name }: Record<string, unknown>) => `${id},${name},${memoryMib}`)
      )
    })
  )

  it.live("lets no name begin a line or write a control code, in any format", () =>
    Effect.gen(function* () {
      const list = yield* withNodes([hostile])
      for (const format of ["table", "json", "ndjson", "yaml", "csv", "id", "name"]) {
        const { code, stderr, stdout } = yield* list("-o", format)
        assert.deepStrictEqual([code, stderr], [0, ""])
        assert.notMatch(stdout, controls, format)
        assert.notInclude(stdout, "\u202e", format)
      }
      assert.lengthOf(lines((yield* list("-o", "csv")).stdout), 2)
      assert.include((yield* list("-o", "csv")).stdout, '"a ""quoted"",\\nname\\x1b[31m\\u202e"')
      assert.lengthOf(lines((yield* list("-o", "name")).stdout), 1)
    })
  )

  it.live("of no nodes is empty in the way of each format", () =>
    Effect.gen(function* () {
      const list = yield* withNodes([])
      const empty: Record<string, string> = { table: "", json: "[]\n", ndjson: "", yaml: "[]\n", id: "", name: "" }
      for (const [format, stdout] of Object.entries(empty)) {
        assert.deepStrictEqual([format, (yield* list("-o", format)).stdout], [format, stdout])
      }
      assert.match((yield* list("-o", "csv")).stdout, /^id,name,[^\n]+\n$/)
    })
  )

  it.live("--query gives a part of the JSON, in JSON, NDJSON or YAML", () =>
    Effect.gen(function* () {
      const list = yield* withNodes(["web", "db"])
      const query = ["--query", "[?name=='db'].{name: name, id: id}"]
      assert.deepStrictEqual(JSON.parse((yield* list(...query, "-o", "json")).stdout), [{ name: "db", id: 2 }])
      assert.strictEqual((yield* list(...query, "-o", "ndjson")).stdout, '{"name":"db","id":2}\n')
      assert.strictEqual((yield* list(...query, "-o", "yaml")).stdout, "- name: db\n  id: 2\n")
      const { code, stderr } = yield* list("--query", "[?")
      assert.strictEqual(code, 2)
      assert.match(stderr, /^error: --query is not usable: .+\nhint: .+\n$/)
    })
  )

  it.live("--query gives people a table, a card, or values a line each, as it finds objects or values", () =>
    Effect.gen(function* () {
      const list = yield* withNodes(["web", "db"])
      for (const [query, stdout] of [
        [
          "[].{name: name, memoryMib: memoryMib, image: image}",
          "NAME  MEMORY MIB  IMAGE\nweb        16384  -\ndb         16384  -\n"
        ],
        ["[].{name: name, tags: tags, x: {a: id}}", 'NAME  TAGS  X\nweb   -     {"a":1}\ndb    -     {"a":2}\n'],
        ["[].[id, name]", "1  web\n2  db\n"],
        ["[].name", "web\ndb\n"],
        ["[].image", ""],
        ["length(@)", "2\n"],
        ["[0].name", "web\n"],
        ["[0].backups", "false\n"],
        ["[0].{id: id, name: name}", "ID    1\nNAME  web\n"]
      ] as const) {
        const shown = yield* list("--query", query)
        assert.deepStrictEqual(
          [query, shown.code, shown.stdout, shown.stderr === ""],
          [query, 0, stdout, stdout !== ""]
        )
      }
      assert.strictEqual((yield* list("--query", "[].{name: name}", "--no-header")).stdout, "web\ndb\n")
      assert.strictEqual(
        (yield* list("--query", "name")).stderr,
        "The query has no result. The JSON is a list: begin with [], as in '[].name'.\n"
      )
    })
  )

  it.live("--query selects parts of a value that has no rows, which --columns and --sort need", () =>
    Effect.gen(function* () {
      const shown = yield* invoke(["schema", "fleet", "--query", "properties.fleet.type"])
      assert.deepStrictEqual([shown.code, shown.stdout], [0, "string\n"])
      const rows = yield* invoke(["schema", "fleet", "-o", "csv", "--query", "keys(properties)"])
      assert.deepStrictEqual([rows.code, rows.stdout.split("\n")[0]], [0, "value"])
      for (const flag of ["--columns", "--sort"]) {
        const { code, stderr } = yield* invoke(["schema", "fleet", flag, "type"])
        assert.deepStrictEqual([code, stderr.split("\n")[0]], [2, `error: ${flag} needs rows: a schema has none.`])
      }
    })
  )

  it.live("--query gives rows to CSV, and ids and names of what has them", () =>
    Effect.gen(function* () {
      const list = yield* withNodes(["web", "db"])
      const picked = ["--query", "[?name=='db']"]
      assert.strictEqual((yield* list("-o", "id", ...picked)).stdout, "2\n")
      assert.strictEqual((yield* list("-o", "name", ...picked)).stdout, "db\n")
      assert.strictEqual(
        (yield* list("-o", "csv", "--query", "[].{name: name, id: id}")).stdout,
        "name,id\nweb,1\ndb,2\n"
      )
      assert.strictEqual((yield* list("-o", "csv", "--query", "[].name")).stdout, "value\nweb\ndb\n")
      const { code, stderr } = yield* list("-o", "id", "--query", "[].plan")
      assert.strictEqual(code, 2)
      assert.include(stderr, "--output cannot be id")
    })
  )

  for (const format of ["ndjson", "csv", "id", "name"]) {
    it.live(`-o ${format} of 10 000 nodes writes the first line before the second page has arrived`, () =>
      Effect.gen(function* () {
        const second = Promise.withResolvers<void>()
        const names = Array.from({ length: 10_000 }, (_, index) => `node-${index}`)
        const url = yield* serve(async ({ query }) => {
          const [number, size] = [Number(query["page_no"]), Number(query["per_page"])]
          if (number > 1) await second.promise
          const page = names.slice((number - 1) * size, number * size)
          return ok(page.map((name, index) => nodeRecord({ id: (number - 1) * size + index + 1, name })))
        })
        const running = yield* start(["node", "list", "-o", format], { env: { ...account, BERTH_BASE_URL: url } })
        yield* running.untilStdout(format === "id" ? "\n2\n" : "node-1")
        second.resolve()
        const { stdout } = yield* running.ended
        assert.lengthOf(lines(stdout), format === "csv" ? 10_001 : 10_000)
      })
    )
  }
})

describe("a status that the service does not state", () => {
  const node = { ...nodeRecord({ id: 1, name: "web" }), status: null }
  const against = (args: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const url = yield* serve(({ path }) => ok(path === "/nodes/1/" ? node : path === "/nodes/" ? [node] : []))
      return yield* invoke(args, { env: { ...account, BERTH_BASE_URL: url } })
    }).pipe(Effect.scoped)

  for (const [command, text] of [
    ["node list", /^ +1 +web +not stated /m],
    ["node get 1", /^STATUS +not stated$/m],
    // A read may be under way when the time is up.
    ["node wait 1 --timeout 5s", /: node 1 has no stated status, expected running[.;]/],
    ["cost --by status", /^not stated/m]
  ] as const) {
    it.live(`is said to be so by berth ${command}`, () =>
      Effect.map(against(command.split(" ")), ({ stderr, stdout }) => assert.match(stdout + stderr, text))
    )
  }

  it.live("is for a program one that is unknown, with an empty spelling", () =>
    Effect.map(against(["node", "get", "1", "-o", "json"]), (ended) =>
      assert.deepStrictEqual(json<{ status: unknown }>(ended).status, { unknown: "" })
    )
  )
})
