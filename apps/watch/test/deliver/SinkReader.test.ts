import { describe, expect, it } from "@effect/vitest"
import { damp } from "../../src/deliver/SinkReader.ts"
import type { StoredEvent } from "../../src/store/accounts.ts"
import type { Delivery } from "../../src/store/deliveries.ts"

const second = 1000

const change = (seq: number, atMillis: number, from: string, to: string): StoredEvent => ({
  account: "a",
  seq,
  id: `id-${seq}`,
  type: "berth.node.status_changed",
  node: 7,
  atMillis,
  body: JSON.stringify({ id: `id-${seq}`, data: { from, to, before: { status: from }, after: { status: to } } })
})

/** The events of a node that remain to be delivered. */
const run = (events: ReadonlyArray<StoredEvent>, forMillis: number) => {
  let left: ReadonlyArray<Delivery> = []
  for (const event of events) {
    const { delivery, dropped } = damp(
      event,
      left.findLast(({ held }) => held !== null) ?? null,
      forMillis,
      event.atMillis
    )
    left = left.filter(({ seq }) => seq !== dropped?.seq)
    if (delivery !== null) left = [...left, delivery]
  }
  return left.map(({ body, dueMillis, seq }) => {
    return { seq, due: dueMillis, ...(body === null ? {} : { from: JSON.parse(body).data.from }) }
  })
}

describe("flap damping", () => {
  it("holds a change back until the status has lasted", () => {
    expect(run([change(1, 0, "running", "power-off")], 30 * second)).toEqual([{ seq: 1, due: 30 * second }])
  })

  it("delivers nothing when the status is back in time", () => {
    expect(run([change(1, 0, "running", "power-off"), change(2, 29_999, "power-off", "running")], 30 * second)).toEqual(
      []
    )
  })

  it("delivers both when it comes back later", () => {
    expect(run([change(1, 0, "running", "power-off"), change(2, 30_000, "power-off", "running")], 30 * second)).toEqual(
      [
        { seq: 1, due: 30_000 },
        { seq: 2, due: 60_000 }
      ]
    )
  })

  it("delivers the last of several changes with the first status, once that has held", () => {
    const events = [change(1, 0, "running", "power-off"), change(2, 10_000, "power-off", "creating")]
    expect(run(events, 30 * second)).toEqual([{ seq: 2, due: 40_000, from: "running" }])
    const { delivery } = damp(events[1]!, damp(events[0]!, null, 30_000, 0).delivery, 30_000, 10_000)
    expect(JSON.parse(delivery!.body!)).toEqual({
      id: "id-2",
      data: { from: "running", to: "creating", before: { status: "running" }, after: { status: "creating" } }
    })
  })

  it("delivers a deletion at once, without the change that did not hold", () => {
    const deleted = { ...change(2, 5000, "", ""), type: "berth.node.deleted" }
    expect(run([change(1, 0, "running", "terminate"), deleted], 30 * second)).toEqual([{ seq: 2, due: 5000 }])
  })

  it("keeps other events of the node behind the change that waits", () => {
    const renamed = { ...change(2, 5000, "", ""), type: "berth.node.changed" }
    expect(run([change(1, 0, "running", "power-off"), renamed], 30 * second).map(({ seq }) => seq)).toEqual([1, 2])
    const back = change(3, 9000, "power-off", "running")
    expect(run([change(1, 0, "running", "power-off"), renamed, back], 30 * second)).toEqual([{ seq: 2, due: 5000 }])
  })

  it("is off for a sink that does not ask for it", () => {
    expect(run([change(1, 0, "running", "power-off"), change(2, 1, "power-off", "running")], 0)).toEqual([
      { seq: 1, due: 0 },
      { seq: 2, due: 1 }
    ])
  })

  it("does not wait longer when the wall clock was set back", () => {
    const { delivery } = damp(change(1, 3_600_000, "running", "power-off"), null, 30 * second, 1000)
    expect(delivery!.dueMillis).toBe(31_000)
    expect(damp(change(1, 3_600_000, "running", "power-off"), null, 0, 1000).delivery!.dueMillis).toBe(1000)
  })
})
