import { describe, expect, it } from "@effect/vitest"
import { Option } from "effect"
import fc from "fast-check"
import { advance, beginning, complete, formatCursor, isAfter, parseCursor } from "../../src/events/Cursor.ts"

const account = fc.stringMatching(/^[\w.@-]{1,64}$/)
const cursor = fc.array(fc.tuple(account, fc.integer({ min: 1, max: 2 ** 53 - 1 }))).map((places) => new Map(places))

describe("a cursor", () => {
  it("is read as it was written", () => {
    fc.assert(
      fc.property(cursor, (cursor) => {
        expect(Option.getOrThrow(parseCursor(formatCursor(cursor)))).toEqual(cursor)
      })
    )
  })

  it("has one text, whatever order its accounts were read in", () => {
    expect(
      formatCursor(
        new Map([
          ["b", 2],
          ["a", 1]
        ])
      )
    ).toBe("a:1,b:2")
    expect(formatCursor(beginning)).toBe("")
  })

  it("names an account without events, so that its first ones are behind it", () => {
    const cursor = new Map([
      ["b", 0],
      ["a", 1]
    ])
    expect(formatCursor(cursor)).toBe("a:1,b:0")
    expect(Option.getOrThrow(parseCursor("a:1,b:0"))).toEqual(cursor)
    expect(formatCursor(new Map([["a", 0]]))).toBe("")
  })

  it("starts now in an account that it does not name, at the first event in that of the daemon", () => {
    const ends = new Map([
      ["a", 7],
      ["b", 9],
      ["_daemon", 3]
    ])
    expect(formatCursor(complete(new Map([["a", 5]]), ends))).toBe("_daemon:0,a:5,b:9")
    expect(Array.from(complete(beginning, ends).values())).toEqual([0, 0, 0])
  })

  it.each(["a", "a:", ":1", "a:01", "a:-1", "a:1,", "a:1,a:2", "a:9007199254740993", "a b:1", "ü:1"])(
    "cannot be %j",
    (text) => {
      expect(Option.isNone(parseCursor(text))).toBe(true)
    }
  )

  it("goes forward only, for one account at a time", () => {
    const read = advance(advance(beginning, "a", 7), "a", 3)
    expect([isAfter(read, "a", 7), isAfter(read, "a", 8), isAfter(read, "b", 1)]).toEqual([false, true, true])
  })

  it("is refused when it names more accounts than a daemon watches", () => {
    const text = Array.from({ length: 2001 }, (_, index) => `a${index}:1`).join(",")
    expect(Option.isNone(parseCursor(text))).toBe(true)
  })
})
