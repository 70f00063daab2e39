import { describe, expect, it } from "@effect/vitest"
import { EventBacklog, maxWaiting, maxWaitingBytes } from "../../src/control/events.ts"
import { Journals, type JournalEvent } from "../../src/journal/Journals.ts"
import * as World from "../../src/world/World.ts"
import { defaults } from "../../src/world/WorldSettings.ts"
import { entryOf } from "../journal/entries.ts"

/** The events of requests to one world that each of two listeners gets. */
const eventsOf = (count: number, url = "/") => {
  const journals = new Journals()
  const [one, other]: [Array<JournalEvent>, Array<JournalEvent>] = [[], []]
  for (const events of [one, other]) journals.listen((event) => events.push(event))
  const world = World.make({ ...defaults, clock: "frozen" }, 0)
  for (let request = 0; request < count; request++) journals.record(world, entryOf({ url }))
  return [one, other] as const
}

const drain = (backlog: EventBacklog) => {
  const ids: Array<number> = []
  for (let event = backlog.take(); event !== undefined; event = backlog.take()) ids.push(event.id)
  return ids
}

describe("the events that wait for a client", () => {
  it("are the same objects for all clients, none of them shown yet", () => {
    const [one, other] = eventsOf(3)
    expect(one.length).toBe(3)
    for (const [index, event] of one.entries()) expect(other[index]).toBe(event)
    expect(one[0]!.recorded?.url).toBe("/")
  })

  it("are bounded in number: the oldest go first", () => {
    const backlog = new EventBacklog()
    for (const event of eventsOf(maxWaiting + 5)[0]) backlog.offer(event)
    expect(backlog.size).toBe(maxWaiting)
    const ids = drain(backlog)
    expect([ids[0], ids.at(-1), ids.length]).toEqual([6, maxWaiting + 5, maxWaiting])
  })

  it("are bounded in bytes, and events that were taken no longer count", () => {
    const backlog = new EventBacklog()
    const events = eventsOf(900, "x".repeat(8_000))[0]
    const fitting = Math.floor(maxWaitingBytes / 8_256)
    for (const event of events) backlog.offer(event)
    expect(backlog.size).toBe(fitting)
    expect(drain(backlog).at(-1)).toBe(900)
    for (const event of events) backlog.offer(event)
    expect(backlog.size).toBe(fitting)
  })

  it("wake each waiting reader once, even if the events came before it waited", () => {
    const backlog = new EventBacklog()
    const [event] = eventsOf(1)[0]
    let woken = 0
    backlog.whenOffered(() => (woken += 1))
    expect(woken).toBe(0)
    backlog.offer(event!)
    backlog.offer(event!)
    expect(woken).toBe(1)
    backlog.whenOffered(() => (woken += 1))
    expect(woken).toBe(2)
    drain(backlog)
    backlog.whenOffered(() => (woken += 1))()
    backlog.offer(event!)
    expect(woken).toBe(2)
  })
})
