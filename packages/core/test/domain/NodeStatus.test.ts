import { assert, it } from "@effect/vitest"
import { mayBecome } from "../../src/domain/NodeStatus.ts"

it.each(["error", "ERROR", "Build_Error", "build failed", "failure", "create-fail"])(
  "a node whose status says that it has failed becomes nothing by itself: %s",
  (unknown) => assert.isFalse(mayBecome({ unknown }, "running"))
)

it.each(["rebuilding", "terrors", "failover", "maintenance", ""])(
  "a node in another status that Berth does not know may become running: %j",
  (unknown) => assert.isTrue(mayBecome({ unknown }, "running"))
)
