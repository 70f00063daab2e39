import { assert, it } from "@effect/vitest"
import { closeSwitches } from "../../src/settings/switches.ts"

it("a word after -- is no switch", () => {
  assert.deepStrictEqual(closeSwitches(["--yes", "--", "--yes", "-y"]), ["--yes=true", "--", "--yes", "-y"])
})
