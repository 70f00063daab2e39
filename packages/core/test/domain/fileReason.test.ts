import { assert, describe, it } from "@effect/vitest"
import { StateUnavailable } from "../../src/domain/ErrorReason.ts"

describe("a state folder that cannot be used", () => {
  it.each([
    ["ENOSPC", "the disk is full", "Free space there"],
    ["EDQUOT", "the disk has no more space for this user", "Free space there"],
    ["EROFS", "the file system is read-only", "Make that file system writable"],
    ["EACCES", "permission denied", "Make that folder readable and writable"]
  ])("says why, and what to do: %s", (code, why, remedy) => {
    const { hint, message } = new StateUnavailable({ path: "/state", code, detail: "from the system" })
    assert.strictEqual(message, `The state of this account cannot be kept in /state: ${why} (${code}).`)
    assert.strictEqual(hint, `${remedy}, then create it again with the same key.`)
  })
})
