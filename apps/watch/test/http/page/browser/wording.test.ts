import { describe, expect, it } from "@effect/vitest"
import { offsetText, shortSpanText, spanText } from "@berthkit/web/components/times"
import { sentenceOf } from "../../../../src/events/sentences.ts"
import { toneOfStatus } from "@berthkit/web/components/statuses"

describe("the wording of the page", () => {
  it("says which zone a time is in", () => {
    expect([0, 330, -210, 60].map(offsetText)).toEqual(["UTC", "UTC+05:30", "UTC-03:30", "UTC+01:00"])
  })

  it("writes a span by its largest unit, up to two days in hours with their minutes", () => {
    const minute = 60_000
    const spans = [
      0,
      59_000,
      minute,
      43 * minute,
      60 * minute,
      117 * minute,
      47 * 60 * minute,
      2879 * minute,
      2881 * minute
    ]
    expect(spans.map(spanText)).toEqual([
      "0 s",
      "59 s",
      "1 min",
      "43 min",
      "1 h",
      "1 h 57 min",
      "47 h",
      "47 h 59 min",
      "2 d"
    ])
  })

  it("writes a span for a narrow column by its largest unit alone", () => {
    expect([59_000, 117 * 60_000, 50 * 3_600_000].map(shortSpanText)).toEqual(["59 s", "1 h", "2 d"])
  })

  it("keeps the colours of alarm for what is wrong: what people asked for is none", () => {
    const tones = ["running", "creating", "created", "power-off", "terminate"].map(toneOfStatus)
    expect(tones).toEqual(["good", "coming", "coming", "off", "going"])
    expect(sentenceOf({ type: "berth.node.deleted", data: {} }).tone).toBe("off")
    expect(sentenceOf({ type: "berth.sink.disabled", data: { sink: "ops", message: "410" } }).tone).toBe("bad")
  })
})
