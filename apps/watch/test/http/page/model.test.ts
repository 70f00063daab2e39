import { describe, expect, it } from "@effect/vitest"

/** A script of the page, which the compiler does not read. */
const { historyOf, model, pastOf, setEvents, takeEvent } = await import(
  new URL("../../../src/http/page/model.js", import.meta.url).href
)

const millisOf = (minute: number) => Date.UTC(2026, 2, 1, 0, minute)

const changed = (sequence: number, id: number, from: string | null, to: string | null) => ({
  id: `event-${sequence}`,
  source: "/accounts/default",
  sequence: String(sequence).padStart(16, "0"),
  type: "berth.node.status_changed",
  subject: `nodes/${id}`,
  time: new Date(millisOf(sequence)).toISOString(),
  data: { before: from && { status: from }, after: to && { id, name: "web", status: to, createdAt: "2026-03-01" } }
})

describe("what the page knows", () => {
  it("keeps no change of an event that it has forgotten, and no node that is gone", () => {
    setEvents([])
    for (let index = 1; index <= 3000; index++) {
      takeEvent(changed(2 * index - 1, index, null, "running"))
      takeEvent(changed(2 * index, index, "running", null))
    }
    expect([model.events.length, model.changes.size, model.nodes.size]).toEqual([1000, 500, 0])
  })

  it("leaves the time before the events blank in a history, and shows no change twice", () => {
    setEvents([{ event: changed(10, 7, "running", "power-off") }])
    takeEvent(changed(10, 7, "running", "power-off"))
    takeEvent(changed(20, 7, "power-off", "running"))
    const node = model.nodes.get("default/7")
    expect(historyOf(node, pastOf(node), millisOf(0), millisOf(30))).toEqual([
      { status: "power-off", fromMillis: millisOf(10), toMillis: millisOf(20) },
      { status: "running", fromMillis: millisOf(20), toMillis: millisOf(30) }
    ])
  })
})
