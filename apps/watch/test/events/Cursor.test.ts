import { describe, expect, it } from "@effect/vitest"
import { Option } from "effect"
import fc from "fast-check"
import { beginning, cursorProblem, formatCursor, parseCursor, startOf } from "../../src/events/Cursor.ts"

describe("a cursor", () => {
  it("is read as it was written, and fits into a URL", () => {
    fc.assert(
      fc.property(fc.nat(Number.MAX_SAFE_INTEGER), (cursor) => {
        expect(Option.getOrThrow(parseCursor(formatCursor(cursor)))).toBe(cursor)
        expect(formatCursor(cursor).length).toBeLessThanOrEqual(16)
      })
    )
    expect(formatCursor(beginning)).toBe("")
  })

  it.each(["a", "0", "01", "-1", "1.5", "1e3", "9007199254740993", "12345678901234567", " 1", "1,", "a:1"])(
    "cannot be %j",
    (text) => {
      expect(Option.isNone(parseCursor(text))).toBe(true)
    }
  )

  it("is refused, and the error says what is wrong", () => {
    expect(["yesterday", "x".repeat(99)].map(cursorProblem)).toEqual([
      "yesterday is not a cursor.",
      "This is not a cursor."
    ])
  })

  it("starts a sink with new events in an account, but with the first event of the daemon", () => {
    expect([startOf("a", 7), startOf("_daemon", 7)]).toEqual([7, 0])
  })
})
