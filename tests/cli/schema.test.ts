/**
 * Every command in every format, in a terminal and in a pipe: stdout is data of that format and nothing else, JSON is valid by
 * `berth schema`, and so is the help of every command.
 */
import { verbsOf } from "@berth/cli/commandTree"
import { tree } from "@berth/cli/commands"
import { TestServer } from "@berth/server/testing"
import { assert, describe, it, layer } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Effect } from "effect"
import { parse } from "yaml"
import { json, lines, settings } from "./berth.ts"
import { invoke } from "./invoke.ts"

const node = "database"
const plan = "C-2VCPU-8RAM-50DISK"

/** A command line of each command that prints records, which changes nothing. */
const commands: ReadonlyArray<readonly [command: string, ...args: ReadonlyArray<string>]> = [
  ["node list"],
  ["node get", node],
  ["node get", "*"],
  ["node create", "--name", "n", "--plan", plan, "--image", "Ubuntu-22.04", "--dry-run"],
  ["node delete", node, "--dry-run"],
  ["node wait", node],
  ["node ip", node],
  ["commitment set", node, "auto_terminate", "--dry-run"],
  ["image list", "--plan", plan],
  ["image saved"],
  ["plan list"],
  ["plan get", plan],
  ["cost"],
  ["limits"],
  ["doctor"],
  ["auth status"],
  ["profile list"]
]

/** What has no name to print, and what is made by a change. */
const withoutIds = new Set(["limits"])
/** What is alone on its line, for another command line. */
const bare = new Set(["node ip"])
const changing = new Set(["node watch", "auth login", "auth logout", "profile show", "profile use", "profile remove"])

it("covers every command that prints records", () => {
  const printing = verbsOf(tree).flatMap(({ path, verb }) => (verb.prints.length > 0 ? [path.join(" ")] : []))
  const covered = new Set(commands.map(([command]) => command))
  assert.deepStrictEqual(
    printing.filter((command) => !covered.has(command) && !changing.has(command)),
    []
  )
})

const validator = (schema: object) => {
  const ajv = new Ajv2020({ strict: false })
  const validate = ajv.compile(schema)
  return (value: unknown, what: string) => assert.isTrue(validate(value), `${what}: ${ajv.errorsText(validate.errors)}`)
}

layer(TestServer.layer({ scenario: "small" }), { excludeTestServices: true })("berth", (it) => {
  for (const [command, ...args] of commands) {
    it.effect(`${[command, ...args].join(" ")} prints every format`, () =>
      Effect.gen(function* () {
        const env = yield* settings
        const words = [...command.split(" "), ...args]
        const asked = (format: string, terminalColumns?: number) =>
          invoke([...words, "-o", format], { env, ...(terminalColumns && { terminalColumns }) })
        const valid = validator(json<object>(yield* invoke(["schema", ...command.split(" ")])))

        for (const columns of [undefined, 80]) {
          const isPipe = columns === undefined
          const found = yield* asked("json", columns)
          assert.strictEqual(found.code, 0, found.stderr)
          if (isPipe) assert.strictEqual(found.stderr, "")
          const value: unknown = JSON.parse(found.stdout)
          valid(value, "json")
          const count = Array.isArray(value) ? value.length : 1

          const ndjson = yield* asked("ndjson", columns)
          if (isPipe) assert.strictEqual(ndjson.stderr, "")
          const records: ReadonlyArray<unknown> = lines(ndjson.stdout).map((line) => JSON.parse(line))
          assert.lengthOf(records, count)
          valid(Array.isArray(value) ? records : records[0], "ndjson")

          valid(parse((yield* asked("yaml", columns)).stdout), "yaml")
          assert.lengthOf(lines((yield* asked("csv", columns)).stdout), count + 1)
          for (const format of ["id", "name"]) {
            const printed = yield* asked(format, columns)
            if (withoutIds.has(command)) assert.deepStrictEqual([printed.code, printed.stdout], [2, ""])
            else assert.isAtMost(lines(printed.stdout).length, count)
          }
          const table = yield* asked("table", columns)
          assert.strictEqual(table.code, 0)
          const hasColor = table.stdout.includes("\u001b")
          assert.isTrue(isPipe || bare.has(command) ? !hasColor : count === 0 || hasColor)
        }
      })
    )
  }
})

describe("help as data", () => {
  it.live("of every command is valid by the schema, and so is an error", () =>
    Effect.gen(function* () {
      const { error, help } = json<{ readonly help: object; readonly error: object }>(yield* invoke(["schema"]))
      const valid = validator(help)
      for (const path of [[], ["node"], ...verbsOf(tree).map(({ path }) => path)]) {
        valid(json(yield* invoke([...path, "--help", "-o", "json"])), path.join(" "))
      }
      const { stderr } = yield* invoke(["node", "list", "-o", "json"])
      validator(error)(JSON.parse(stderr), "error")
    })
  )
})
