import { describe, expect, it } from "@effect/vitest"
import { eventTypes } from "../../src/events/Event.ts"
import { sentenceOf } from "../../src/events/sentences.ts"

const of = (type: string, data: unknown = {}) => sentenceOf({ type, data })

describe("the sentence of an event", () => {
  it.each(eventTypes)("of type %s is there, also where the data lack what it is about", (type) => {
    const { text } = of(type)
    expect(text).not.toContain("berth.")
    expect(text).toMatch(/^\S.*[^.]$/)
  })

  it("states what a new price costs in a month, and who does not pay it", () => {
    const price = (nodes: number, differencePerMonthInr: number | null) =>
      of("berth.plan.price_changed", {
        before: { plan: "small", pricePerMonthInr: 730 },
        after: { plan: "small", pricePerMonthInr: 803.5 },
        nodes,
        differencePerMonthInr
      }).text
    const begin = "Plan small costs ₹803.50 a month instead of ₹730.00"
    expect(price(12, 882)).toBe(`${begin}: 12 nodes, ₹882.00 more a month`)
    expect(price(1, -10)).toBe(`${begin}: 1 node, ₹10.00 less a month`)
    expect(price(0, 0)).toBe(`${begin}: no node has it`)
    expect(price(2, null)).toBe(`${begin}: 2 nodes`)
  })

  it("says who requested a deletion, and warns if this is unknown", () => {
    const of = (cause: string, causedBy: object | null) =>
      sentenceOf({ type: "berth.node.deleted", data: { cause, causedBy } })
    const ann = { user: "ann", host: "ci-7", job: "shop/web 42", fleet: "shop" }
    expect(of("requested", ann).text).toBe("was deleted by ann on ci-7 in the job shop/web 42 for the fleet shop")
    expect(of("requested", { user: null, host: "ci-7", job: null, fleet: null }).text).toBe("was deleted on ci-7")
    expect(of("lease", { user: "ann", host: "ci-7", job: null }).text).toBe(
      "was deleted at the end of its lease by ann on ci-7"
    )
    expect(of("commitment", ann)).toEqual({ tone: "off", text: "was deleted at the end of its commitment" })
    expect(of("unknown", null)).toEqual({
      tone: "warm",
      text: "was deleted, and nobody is known to have asked for it"
    })
  })

  it("is the type itself where a newer daemon knows one more", () => {
    expect(of("berth.new.thing")).toEqual({ tone: "off", text: "berth.new.thing" })
  })
})
