import { InstantText, parseInstantMillis } from "@berthkit/terminal/instant"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Option, Result, Schema } from "effect"

const read = (text: string, dayOffset?: string): string | undefined =>
  Option.getOrUndefined(
    Option.map(parseInstantMillis(text, dayOffset), (millis) => DateTime.formatIso(DateTime.makeUnsafe(millis)))
  )

describe("an instant", () => {
  it("is a time of ISO 8601 with its offset", () => {
    for (const [text, instant] of [
      ["2026-03-01T10:20Z", "2026-03-01T10:20:00.000Z"],
      ["2026-03-01 10:20:30Z", "2026-03-01T10:20:30.000Z"],
      ["2026-03-01T10:20:30.123456Z", "2026-03-01T10:20:30.123Z"],
      ["2026-03-01T10:20:30+05:30", "2026-03-01T04:50:30.000Z"],
      ["2026-03-01T00:20-0800", "2026-03-01T08:20:00.000Z"],
      ["2024-02-29t23:59:59z", "2024-02-29T23:59:59.000Z"],
      ["0001-01-01T00:00Z", "0001-01-01T00:00:00.000Z"]
    ] as const) {
      assert.strictEqual(read(text), instant, text)
    }
  })

  it("may be a bare day if the zone of its midnight is stated", () => {
    assert.strictEqual(read("2026-03-01", "+05:30"), "2026-02-28T18:30:00.000Z")
    assert.strictEqual(read("2026-03-01T00:00Z", "+05:30"), "2026-03-01T00:00:00.000Z")
  })

  it("needs its offset: UTC and local time are hours apart", () => {
    for (const text of ["2026-03-01", "2026-03-01T10:20", "2026-03-01 10:20:30.5"]) assert.isUndefined(read(text), text)
    assert.isUndefined(read("2026-03-01T00:00", "+05:30"))
  })

  it("has to exist: what JavaScript would guess is refused", () => {
    for (const text of [
      "2026-02-30T00:00Z",
      "2026-02-29T00:00Z",
      "2026-04-31T10:00Z",
      "2026-13-01T00:00Z",
      "2026-00-10T00:00Z",
      "2026-01-00T00:00Z",
      "2026-01-01T24:00Z",
      "2026-01-01T10:60Z",
      "2026-01-01T10:20:60Z",
      "2026-01-01T10:20:30+15:00",
      "01/12/2026",
      "2026/12/01T00:00Z",
      "1 March 2026",
      "2026-3-1T00:00Z",
      "20260301",
      "2026-03",
      "2026",
      "0",
      "1767225600000",
      "2026-03-01T10Z",
      "2026-03-01T10:20 PM",
      " 2026-03-01T00:00Z",
      ""
    ]) {
      assert.isUndefined(read(text), text)
    }
  })

  it("is read and written as a field of a request", () => {
    const decode = Schema.decodeUnknownResult(InstantText)
    const read = decode("2026-03-01T10:20:30+05:30")
    assert.isTrue(Result.isSuccess(read))
    if (Result.isSuccess(read))
      assert.strictEqual(Schema.encodeSync(InstantText)(read.success), "2026-03-01T04:50:30.000Z")
    assert.isTrue(Result.isFailure(decode("2026-02-30T00:00Z")))
  })
})
