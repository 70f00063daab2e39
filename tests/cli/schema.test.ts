/**
 * `berth schema` also describes output that is not a record: the help of every command as data, and errors. `matrix.test.ts` checks the
 * records.
 */
import { verbsOf } from "@berthkit/cli/commandTree"
import { tree } from "@berthkit/cli/commands"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { json, lines } from "./berth.ts"
import { invoke } from "./invoke.ts"
import { validator } from "./matrix/check.ts"

describe("help as data", () => {
  it.live("of every command is valid by the schema, and so is an error", () =>
    Effect.gen(function* () {
      const { error, help } = json<{ readonly help: object; readonly error: object }>(yield* invoke(["schema"]))
      const valid = validator(help)
      const groups = tree.map(({ name }) => [name])
      for (const path of [[], ...groups, ...verbsOf(tree).map(({ path }) => path)]) {
        const asked = yield* invoke([...path, "--help", "-o", "json"])
        assert.deepStrictEqual([asked.code, asked.stderr], [0, ""], path.join(" "))
        valid(json(asked), path.join(" "))
        const inLine = yield* invoke(["help", ...path, "-o", "ndjson"])
        assert.lengthOf(lines(inLine.stdout), 1)
        assert.deepStrictEqual(json(inLine), json(asked))
      }
      const { stderr } = yield* invoke(["node", "list", "-o", "json"])
      validator(error)(JSON.parse(stderr), "error")
    })
  )
})
