import { assert, it } from "@effect/vitest"
import { label, mayBecome, spelling } from "../../src/domain/NodeStatus.ts"

it.each(["error", "ERROR", "Build_Error", "build failed", "failure", "create-fail"])(
  "a node whose status says that it has failed becomes nothing by itself: %s",
  (unknown) => assert.isFalse(mayBecome({ unknown }, "running"))
)

it.each(["rebuilding", "terrors", "failover", "maintenance", ""])(
  "a node in another status that Berth does not know may become running: %j",
  (unknown) => assert.isTrue(mayBecome({ unknown }, "running"))
)

it.each([
  ["running", "running", "running"],
  [{ unknown: "Build_Error" }, "Build_Error", "Build_Error"],
  [{ unknown: "" }, "not stated", ""]
] as const)("the status %j is for people %j, and in the service's spelling %j", (status, word, text) => {
  assert.deepStrictEqual([label(status), spelling(status)], [word, text])
})
