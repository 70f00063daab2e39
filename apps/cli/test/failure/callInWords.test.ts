import { assert, it } from "@effect/vitest"
import { waitCommand } from "../../src/failure/callInWords.ts"

it.each([
  [["web-1", "o*"], "berth node wait web-1 'o*' --for running"],
  [["-old", "web-1"], "berth node wait --for running -- -old web-1"]
])("the command that goes on waiting names the same nodes: %j", (given, command) => {
  assert.strictEqual(waitCommand(given, { goal: "running" }), `To continue waiting: ${command}`)
})
