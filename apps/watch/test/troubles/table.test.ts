import { describe, expect, it } from "@effect/vitest"
import type { SinkState } from "../../src/deliver/Sinks.ts"
import { eventTypes } from "../../src/events/Event.ts"
import { StoreFailed } from "../../src/store/StoreFailed.ts"
import type { AccountProgress } from "../../src/telemetry/Progress.ts"
import type { DaemonState } from "../../src/troubles/DaemonState.ts"
import { keyOf, troublesOf, troubleTable } from "../../src/troubles/table.ts"
import { aSink, aState, anAccount, nowMillis } from "./aState.ts"

const none: ReadonlyMap<string, number> = new Map()

const keysOf = (state: DaemonState) => troublesOf(state, none).map(keyOf)

const ofAccount = (rest: Partial<AccountProgress>) => aState({ accounts: new Map([["acme", anAccount(rest)]]) })
const ofSink = (rest: Partial<SinkState>) => aState({ sinks: [aSink(rest)] })
const sweptAgo = (millis: number) => ({ endedMillis: nowMillis - millis, durationMillis: 1, requests: 1 })
const low = (isLow: boolean) => ({ limit: 1200, remaining: 100, resetMillis: null, isLow })

/** For each trouble: a state in which it just holds, and one in which it just does not. */
const cases: Readonly<Record<string, readonly [holds: DaemonState, not: DaemonState]>> = {
  "account-refused": [
    ofAccount({ outage: { message: "401", sinceMillis: 5, isRefusal: true } }),
    ofAccount({ outage: { message: "503", sinceMillis: 5, isRefusal: false } })
  ],
  "service-failing": [
    ofAccount({ outage: { message: "503", sinceMillis: 5, isRefusal: false } }),
    ofAccount({ outage: { message: "401", sinceMillis: 5, isRefusal: true } })
  ],
  "list-not-believed": [
    ofAccount({ doubt: { message: "half is missing", sinceMillis: 5, isOther: false } }),
    ofAccount({ doubt: { message: "others", sinceMillis: 5, isOther: true } })
  ],
  "other-account": [
    ofAccount({ doubt: { message: "others", sinceMillis: 5, isOther: true } }),
    ofAccount({ doubt: { message: "half is missing", sinceMillis: 5, isOther: false } })
  ],
  "sweeps-late": [
    ofAccount({ lastSweep: sweptAgo(60_001), intervalMillis: 9000 }),
    ofAccount({ lastSweep: sweptAgo(60_000), intervalMillis: 9000 })
  ],
  "records-unreadable": [
    ofAccount({ unreadable: { count: 2, example: "node 4, whose name is not a string" } }),
    ofAccount({ unreadable: null })
  ],
  "allowance-low": [ofAccount({ allowance: low(true) }), ofAccount({ allowance: low(false) })],
  "store-failing": [
    aState({ store: { failure: new StoreFailed({ fault: "full", detail: "x" }), sinceMillis: 5 } }),
    aState({ store: null })
  ],
  "retention-behind": [
    aState({ kept: { events: 1101, maxEvents: 1000, bytes: 0, maxBytes: 1000 } }),
    aState({ kept: { events: 1100, maxEvents: 1000, bytes: 1100, maxBytes: 1000 } })
  ],
  "clock-stepped": [aState({ clock: { byMillis: -7_200_000, sinceMillis: 5 } }), aState({ clock: null })],
  "heartbeat-failing": [aState({ heartbeat: { reason: "it timed out", sinceMillis: 5 } }), aState({ heartbeat: null })],
  "sink-failing": [ofSink({ state: "failing", message: "the receiver answered 404" }), ofSink({ state: "up" })],
  "sink-down": [ofSink({ state: "down", message: "the receiver answered 503" }), ofSink({ state: "failing" })],
  "sink-disabled": [ofSink({ state: "disabled", message: "as requested" }), ofSink({ state: "down" })],
  "sink-behind": [ofSink({ unread: 10_001 }), ofSink({ unread: 10_000 })],
  "dead-letters": [ofSink({ dead: 1 }), ofSink({ dead: 0 })]
}

describe("the table of troubles", () => {
  it("has none while all is well", () => {
    expect(keysOf(aState())).toEqual([])
  })

  it.each(troubleTable)("$name holds in its state, and no longer in the next one", ({ about, name }) => {
    const [holds, not] = cases[name]!
    const subject = { daemon: null, account: "acme", sink: "ops" }[about]
    expect(troublesOf(holds, none).filter((each) => each.name === name)).toMatchObject([
      { about: { kind: about, name: subject } }
    ])
    expect(troublesOf(not, none).map((each) => each.name)).not.toContain(name)
  })

  it.each(troubleTable)("$name says what is wrong and what to do, each in whole sentences", (entry) => {
    const [trouble] = troublesOf(cases[entry.name]![0], none).filter(({ name }) => name === entry.name)
    expect(entry.sentence).toMatch(/^[A-Z][^.]+\.$/)
    for (const text of [trouble!.message, trouble!.next, entry.next]) expect(text).toMatch(/^[A-Z].*[^.]\.$/)
    for (const text of [entry.begins, entry.ends]) expect(text).toMatch(/[^.|]$/)
  })

  it("has each name, alert and event once, and no unknown event", () => {
    for (const values of [troubleTable.map(({ name }) => name), troubleTable.map(({ alert }) => alert.name)]) {
      expect(new Set(values).size).toBe(values.length)
    }
    const events = troubleTable.flatMap(({ event }) => (event === null ? [] : [event]))
    expect(events.filter((event) => !eventTypes.includes(event))).toEqual([])
  })

  it("shows the details after the sentence", () => {
    const messageOf = (state: DaemonState) => troublesOf(state, none)[0]!.message
    expect(messageOf(ofSink({ state: "failing", message: "the receiver answered 404" }))).toBe(
      "Deliveries fail. The receiver answered 404."
    )
    for (const [message, detail] of [
      ["the template failed: its result is not valid JSON", "The template failed: its result is not valid JSON."],
      ["the server refuses ops@example.com: 550 gone", "The server refuses ops@example.com: 550 gone."],
      ["it ended with 1: no such channel", "It ended with 1: no such channel."]
    ]) {
      expect(messageOf(ofSink({ state: "failing", message: message! }))).toBe(`Deliveries fail. ${detail}`)
    }
    expect(messageOf(cases["clock-stepped"]![0])).toBe(
      "The clock of this machine was changed. It moved back by 2 hours."
    )
    expect(messageOf(cases["records-unreadable"]![0])).toContain(
      "There are 2, for example node 4, whose name is not a string."
    )
    expect(messageOf(aState({ kept: { events: 1, maxEvents: 1, bytes: 2200, maxBytes: 1000 } }))).toContain(
      "It takes 2,200 bytes; maxSize is 1,000."
    )
  })

  it("says to correct the template, and not the receiver, if the template failed", () => {
    const message = "the template failed: its result is not valid JSON"
    const [trouble] = troublesOf(ofSink({ state: "failing", message }), none)
    expect(trouble!.next).toBe(
      "Correct the template of the sink in the config, try it with check-config, then run berth-watch sinks retry ops."
    )
  })

  it("names the sink in what to do", () => {
    const [trouble] = troublesOf(ofSink({ state: "disabled" }), none)
    expect(trouble!.next).toBe("Repair the receiver, then run berth-watch sinks enable ops.")
  })

  it("gives a process that has just started the time of a sweep", () => {
    const begun = (millis: number, intervalMillis: number | null = null) => ({
      ...ofAccount({ state: "starting", lastSweep: null, intervalMillis }),
      begunMillis: nowMillis - millis
    })
    expect(keysOf(begun(60_000))).toEqual([])
    expect(keysOf(begun(60_001))).toEqual(["sweeps-late (acme)"])
    expect(keysOf(begun(120_000, 60_000))).toEqual([])
  })

  it("gives an account that was added or resumed since the same time for its first sweep", () => {
    const begunMillis = (millis: number) => ({ begunMillis: nowMillis - millis, intervalMillis: 9000 })
    expect(keysOf(ofAccount({ ...begunMillis(60_000), lastSweep: null }))).toEqual([])
    expect(keysOf(ofAccount({ ...begunMillis(60_001), lastSweep: null }))).toEqual(["sweeps-late (acme)"])
    // The store still has the last sweep from before a pause.
    expect(keysOf(ofAccount({ ...begunMillis(60_000), lastSweep: sweptAgo(3_600_000) }))).toEqual([])
    expect(keysOf(ofAccount({ ...begunMillis(60_001), lastSweep: sweptAgo(3_600_000) }))).toEqual([
      "sweeps-late (acme)"
    ])
  })

  it("finds two troubles of one account at once", () => {
    const outage = { message: "503", sinceMillis: 5, isRefusal: false }
    const doubt = { message: "half is missing", sinceMillis: 5, isOther: false }
    expect(keysOf(ofAccount({ outage, doubt }))).toEqual(["service-failing (acme)", "list-not-believed (acme)"])
  })

  it("has no series of an account that is not polled, or of a removed sink", () => {
    const outage = { message: "503", sinceMillis: 5, isRefusal: false }
    for (const state of ["stopped", "paused"] as const) {
      expect(keysOf(ofAccount({ state, outage, lastSweep: sweptAgo(1e9) }))).toEqual([])
    }
    expect(keysOf(ofSink({ state: "removed", dead: 3, unread: 1_000_000 }))).toEqual([])
  })

  it("finds a sink far behind at half the lag with which it is disabled", () => {
    expect(keysOf(ofSink({ maxLag: 100, unread: 51 }))).toEqual(["sink-behind (ops)"])
    expect(keysOf(ofSink({ maxLag: null, unread: 9999 }))).toEqual([])
  })

  it("puts the worst first", () => {
    const state = aState({
      accounts: new Map([["acme", anAccount({ allowance: low(true) })]]),
      sinks: [aSink({ state: "disabled" })]
    })
    expect(troublesOf(state, none).map(({ severity }) => severity)).toEqual(["critical", "warning"])
  })

  it("lasts since it was first seen, where the state does not say since when", () => {
    const sinceOf = (state: DaemonState, known = none) => troublesOf(state, known)[0]!.sinceMillis
    expect(sinceOf(ofSink({ dead: 1 }))).toBe(nowMillis)
    expect(sinceOf(ofSink({ dead: 1 }), new Map([["dead-letters (ops)", 7]]))).toBe(7)
    expect(sinceOf(cases["store-failing"]![0], new Map([["store-failing", 7]]))).toBe(5)
  })
})
