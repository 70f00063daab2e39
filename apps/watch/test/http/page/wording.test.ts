import { describe, expect, it } from "@effect/vitest"
import { sentenceOf } from "../../../src/events/sentences.js"

/** A script of the page, which the compiler does not read. */
const { offsetText, toneOfStatus } = await import(new URL("../../../src/http/page/wording.js", import.meta.url).href)

describe("the wording of the page", () => {
  it("says which zone a time is in", () => {
    expect([0, 330, -210, 60].map(offsetText)).toEqual(["UTC", "UTC+05:30", "UTC-03:30", "UTC+01:00"])
  })

  it("keeps the colours of alarm for what is wrong: what people asked for is none", () => {
    const tones = ["running", "creating", "created", "power-off", "terminate"].map(toneOfStatus)
    expect(tones).toEqual(["good", "coming", "coming", "off", "going"])
    expect(sentenceOf({ type: "berth.node.deleted", data: {} }).tone).toBe("off")
    expect(sentenceOf({ type: "berth.sink.disabled", data: { sink: "ops", message: "410" } }).tone).toBe("bad")
  })
})
