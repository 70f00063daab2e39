import { describe, expect, it } from "@effect/vitest"

/** Scripts of the page, which the compiler does not read. */
const script = (name: string) => import(new URL(`../../../src/http/page/${name}`, import.meta.url).href)
const { summaryOf, troublesOf } = await script("troubles.js")
const { model } = await script("model.js")

const account = (name: string, isSwept = true) => ({ account: name, lastSweep: isSwept ? {} : null })
const sink = (name: string, state = "up") => ({ sink: name, state })

const trouble = (severity: string, kind: string, name: string | null, message = "It fails.") => ({
  name: "some-trouble",
  about: { kind, name },
  severity,
  message,
  next: "Look.",
  since: "2026-03-01T03:00:00.000Z"
})

const lines = (troubles: ReadonlyArray<object>, chosen = "", lostMillis?: number) => {
  model.status = { troubles }
  return troublesOf(chosen, lostMillis)
}

describe("what is wrong, on the page", () => {
  it("is one line for all accounts of the same trouble, and one for each sink", () => {
    const found = lines([
      trouble("warning", "account", "a"),
      trouble("warning", "account", "b"),
      trouble("critical", "sink", "ops"),
      trouble("warning", "sink", "chat")
    ])
    expect(found.map(({ count, sink, tone, who }: any) => [who, sink, tone, count])).toEqual([
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
    expect(lines(all, "b").map(({ who }: any) => who)).toEqual(["b", ""])
    expect(lines(all, "b", 1)[0]).toMatchObject({ what: "The daemon cannot be reached.", tone: "bad", sinceMillis: 1 })
  })

  it("has its instants in the time zone of its reader, as all others on the page", () => {
    const instant = new Date(2026, 2, 1, 4, 5, 6)
    const [line] = lines([
      trouble("warning", "account", "a", `The last complete sweep ended at ${instant.toISOString()}.`)
    ])
    expect(line.what).toBe("The last complete sweep ended at 1 Mar, 04:05:06.")
  })

  it("is nothing where all is well, which is said with what it means", () => {
    const summary = (accounts: ReadonlyArray<object>, sinks: ReadonlyArray<object>, chosen = "") => {
      const { note, text, tone } = summaryOf([], chosen, { accounts, sinks })
      return [tone, `${text} ${note}`.trim()]
    }
    expect(summary([account("a")], [])).toEqual([
      "good",
      "All well. The account is read on time, but no sink is configured."
    ])
    expect(summary([account("a"), account("b")], [sink("ops"), sink("old", "removed")])).toEqual([
      "good",
      "All well. All 2 accounts are read on time, and the sink takes its events."
    ])
    expect(summary([account("a")], [sink("ops"), sink("script", "retrying")])).toEqual([
      "warm",
      "No problem yet. Deliveries to script failed and are retried."
    ])
    expect(summary([account("a"), account("b", false)], [])).toEqual([
      "off",
      "Starting. The first sweep of 1 account is under way."
    ])
    expect(summary([account("a"), account("b", false)], [sink("x"), sink("y")], "a")).toEqual([
      "good",
      "All well. The account is read on time, and both sinks take their events."
    ])
    expect(summary([], [])).toEqual(["off", "Nothing is watched."])
  })
})
