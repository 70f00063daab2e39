import { describe, expect, it } from "@effect/vitest"

import { toneOf } from "../../../../src/http/page/browser/states.ts"
import { adviceOf, staleAccounts, summaryOf, troublesOf } from "../../../../src/http/page/browser/troubles.ts"
import type { AccountStatus, SinkStatus, Trouble } from "../../../../src/http/page/browser/watchApi.ts"

const nowMillis = Date.UTC(2026, 2, 2)

const millisOf = (minute: number) => Date.UTC(2026, 2, 1, 0, minute)

/** The fields of an account that the page reads here. */
const account = (name: string, sweptMinute: number | null = 0) =>
  ({
    account: name,
    lastSweep: sweptMinute === null ? null : { endedAt: new Date(millisOf(sweptMinute)).toISOString() }
  }) as AccountStatus
const sink = (name: string, state: SinkStatus["state"] = "up") => ({ sink: name, state }) as SinkStatus

const trouble = (
  severity: Trouble["severity"],
  kind: Trouble["about"]["kind"],
  name: string | null,
  message = "It fails."
): Trouble => ({
  name: "service-failing",
  about: { kind, name },
  severity,
  message,
  next: "Look.",
  since: "2026-03-01T03:00:00.000Z"
})

const lines = (troubles: ReadonlyArray<Trouble>, chosen = "", lostMillis?: number) =>
  troublesOf(
    { troubles },
    chosen,
    nowMillis,
    lostMillis === undefined ? undefined : { sinceMillis: lostMillis, refusal: undefined }
  )

describe("what is wrong, on the page", () => {
  it("is one line for all accounts of the same trouble, and one for each sink", () => {
    const found = lines([
      trouble("warning", "account", "a"),
      trouble("warning", "account", "b"),
      trouble("critical", "sink", "ops"),
      trouble("warning", "sink", "chat")
    ])
    expect(found.map(({ count, sink, tone, who }) => [who, sink, tone, count])).toEqual([
      ["a, b", null, "warm", 2],
      ["Sink ops", "ops", "bad", 1],
      ["Sink chat", "chat", "warm", 1]
    ])
    expect(summaryOf(found, "", { accounts: [], sinks: [] })).toEqual({
      tone: "bad",
      text: "4 problems",
      note: "1 critical"
    })
  })

  it("is that of the chosen account, of the sinks and of the daemon, which comes first where it is not there", () => {
    const all = [
      trouble("warning", "account", "a"),
      trouble("warning", "account", "b"),
      trouble("warning", "daemon", null)
    ]
    expect(lines(all, "b").map(({ who }) => who)).toEqual(["b", ""])
    expect(lines(all, "b", 1)[0]).toMatchObject({ what: "The daemon cannot be reached.", tone: "bad", sinceMillis: 1 })
  })

  it("gives a sink the colour of its state, with its trouble and before the trouble is known", () => {
    const toneOfSink = (state: SinkStatus["state"], severity: Trouble["severity"]) => [
      toneOf("sink", "chat", state, []),
      toneOf("sink", "chat", state, [trouble(severity, "sink", "chat")])
    ]
    expect(toneOfSink("down", "warning")).toEqual(["warm", "warm"])
    expect(toneOfSink("failing", "critical")).toEqual(["bad", "bad"])
    expect(toneOfSink("disabled", "critical")).toEqual(["bad", "bad"])
  })

  it("parts the command at the end of its advice from the sentence", () => {
    expect(adviceOf("Correct the receiver, then run berth-watch sinks retry chat.")).toEqual({
      advice: "Correct the receiver, then run:",
      command: "berth-watch sinks retry chat"
    })
    const next = "Look at the daemon's log, or start it again with berth-watch run; this page continues by itself."
    expect(adviceOf(next)).toEqual({ advice: next, command: undefined })
  })

  it("has its instants in the time zone of its reader, as all others on the page", () => {
    const instant = new Date(2026, 2, 1, 4, 5, 6)
    const [line] = lines([
      trouble("warning", "account", "a", `The last complete sweep ended at ${instant.toISOString()}.`)
    ])
    expect(line!.what).toBe("The last complete sweep ended at 1 Mar, 04:05:06.")
  })

  it("is nothing where all is well, which is said with what it means", () => {
    const summary = (accounts: ReadonlyArray<AccountStatus>, sinks: ReadonlyArray<SinkStatus>, chosen = "") => {
      const { note, text, tone } = summaryOf([], chosen, { accounts, sinks })
      return [tone, `${text} ${note}`.trim()]
    }
    expect(summary([account("a")], [])).toEqual([
      "good",
      "All well. The account is read on time, but no sink is configured."
    ])
    expect(summary([account("a"), account("b")], [sink("ops"), sink("old", "removed")])).toEqual([
      "good",
      "All well. Both accounts are read on time, and the sink takes its events."
    ])
    expect(summary([account("a")], [sink("ops"), sink("script", "retrying")])).toEqual([
      "warm",
      "No problem yet. Deliveries to script failed and are retried."
    ])
    expect(summary([account("a")], [sink("ops"), sink("chat", "down"), sink("script", "retrying")])).toEqual([
      "warm",
      "No problem yet. Deliveries to script failed and are retried. Sink chat is down."
    ])
    expect(summary([account("a"), account("b", null)], [])).toEqual([
      "off",
      "Starting. The first sweep of 1 account is under way."
    ])
    expect(summary([account("a"), account("b", null)], [sink("x"), sink("y")], "a")).toEqual([
      "good",
      "All well. The account is read on time, and both sinks take their events."
    ])
    expect(summary([], [])).toEqual(["off", "Nothing is watched."])
  })

  it("says how old the data of unreadable nodes is, and since when a daemon is silent", () => {
    const blind = (name: Trouble["name"], about: string | null, minute: number): Trouble => ({
      ...trouble("warning", about === null ? "daemon" : "account", about),
      name,
      since: new Date(millisOf(minute)).toISOString()
    })
    const accounts = [account("a", 10), account("b", 58), account("c", null)]
    const stale = (troubles: ReadonlyArray<Trouble>, lostMillis?: number) =>
      Object.fromEntries(
        staleAccounts({ accounts, troubles, startedAt: new Date(millisOf(5)).toISOString() }, lostMillis)
      )
    const asOf = (minute: number) => ({ atMillis: millisOf(minute), isBefore: false })
    const c = { atMillis: millisOf(5), isBefore: true }
    expect(stale([])).toEqual({ c })
    expect(stale([blind("allowance-low", "b", 20), blind("account-refused", "a", 12)])).toEqual({ a: asOf(10), c })
    expect(stale([blind("other-account", "b", 20)])).toEqual({ b: asOf(20), c })
    expect(stale([blind("store-failing", null, 50)])).toEqual({ a: asOf(10), b: asOf(50), c })
    expect(stale([], millisOf(59))).toEqual({ a: asOf(59), b: asOf(59), c })
  })
})
