import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { nodeSpec } from "../../src/client/NodeOperations.ts"

const specOf = (name: string) => ({ name, plan: "P", image: "I" })

describe("the name of a create", () => {
  it("has 3 to 50 letters, digits and hyphens if a project is set", () => {
    for (const name of ["web", "web-1", "Web-01", "-a-", "123", "a".repeat(50)])
      assert.deepStrictEqual(Effect.runSync(nodeSpec(specOf(name), true)), specOf(name))
  })

  for (const name of ["a_b", "ab", "web 1", "web.1", "wéb", "web\n", "a".repeat(51)]) {
    it(`is refused before anything is sent if a project is set and it is ${JSON.stringify(name)}`, () => {
      const { fields, status } = Effect.runSync(Effect.flip(nodeSpec(specOf(name), true)))
      assert.deepStrictEqual([status, fields], [null, { name: ["expected 3 to 50 letters, digits and hyphens"] }])
      // The documented service states no rule for names.
      assert.isTrue(Exit.isSuccess(Effect.runSyncExit(nodeSpec(specOf(name), false))))
    })
  }
})
