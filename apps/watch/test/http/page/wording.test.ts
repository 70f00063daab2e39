import { describe, expect, it } from "@effect/vitest"
import { sentenceOf } from "../../../src/events/sentences.js"

/** A script of the page, which the compiler does not read. */
const { toneOfStatus } = await import(new URL("../../../src/http/page/wording.js", import.meta.url).href)

describe("the wording of the page", () => {
  it("keeps the colours of alarm for what is wrong: what people asked for is none", () => {
    const tones = ["running", "creating", "created", "power-off", "terminate"].map(toneOfStatus)
    expect(tones).toEqual(["good", "coming", "coming", "off", "going"])
    expect(sentenceOf({ type: "berth.node.deleted", data: {} }).tone).toBe("off")
    expect(sentenceOf({ type: "berth.sink.disabled", data: { sink: "ops", message: "410" } }).tone).toBe("bad")
  })
})
