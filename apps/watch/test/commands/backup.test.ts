import { describe, expect, it } from "@effect/vitest"
import { notCopied } from "../../src/commands/backup.ts"
import { StoreFailed, type StoreFault } from "../../src/store/StoreFailed.ts"

describe("a backup that fails", () => {
  it.each([
    ["full", "copy.db cannot be written: it is."],
    ["unwritable", "copy.db cannot be written: it is."],
    ["unreadable", "copy.db cannot be written: it is."],
    ["busy", "The store is locked by another program: it is."],
    ["damaged", "The store is damaged: it is."],
    ["statement", "The store refused a statement: it is."]
  ] as const satisfies ReadonlyArray<readonly [StoreFault, string]>)(
    "says of %s whose fault it is",
    (fault, message) => {
      expect(notCopied("copy.db", new StoreFailed({ fault, detail: "it is" })).message).toBe(message)
    }
  )
})
