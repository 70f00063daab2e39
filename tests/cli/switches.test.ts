/**
 * Switches (flags that are on or off) never take the next word as a value, because it may be a node. Several short switches may be combined
 * in one word.
 */
import { nodeRecord, ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { invoke } from "./invoke.ts"
import { serve } from "./ScriptedServer.ts"

const env = { BERTH_API_KEY: "the-key-of-a-test", BERTH_ACCESS_TOKEN: "the-token-of-a-test" }

describe("a switch before a list of nodes", () => {
  for (const flags of [["--yes"], ["-y"], ["--debug", "--yes"]]) {
    it.live(`node delete ${flags.join(" ")} 1 2 3 deletes every node that is named`, () =>
      Effect.gen(function* () {
        const deleted: Array<string> = []
        const url = yield* serve(({ method, path }) => {
          const id = /^\/nodes\/(\d+)\/$/.exec(path)?.[1] ?? "?"
          if (method === "DELETE") deleted.push(id)
          return ok(nodeRecord({ id: Number(id) }))
        })
        const { code } = yield* invoke(["node", "delete", ...flags, "1", "2", "3"], {
          env: { ...env, BERTH_BASE_URL: url }
        })
        assert.deepStrictEqual(deleted.toSorted(), ["1", "2", "3"])
        assert.strictEqual(code, 0)
      })
    )
  }
})

describe("help that is asked for among other switches", () => {
  for (const flags of [["-yh"], ["-hy"], ["--yes", "--help=true"], ["-y", "-h"]]) {
    it.live(`node delete web ${flags.join(" ")} shows help, and asks for nothing`, () =>
      Effect.gen(function* () {
        const requests: Array<string> = []
        const url = yield* serve(({ method, path }) => {
          requests.push(`${method} ${path}`)
          return ok(nodeRecord({ id: 1, name: "web" }))
        })
        const { code, stdout } = yield* invoke(["node", "delete", "web", ...flags], {
          env: { ...env, BERTH_BASE_URL: url }
        })
        assert.include(stdout, "berth node delete")
        assert.deepStrictEqual([code, requests], [0, []])
      })
    )
  }

  it.live("is not shown where it is switched off in any word", () =>
    Effect.gen(function* () {
      const { code, stdout } = yield* invoke(["profile", "list", "--help=no"], { env })
      assert.notInclude(stdout, "USAGE")
      assert.strictEqual(code, 0)
    })
  )

  it.live("reports an unknown flag", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* invoke(["-help"], { env })
      assert.strictEqual(code, 2)
      assert.include(stderr, "has no flag -help")
    })
  )
})
