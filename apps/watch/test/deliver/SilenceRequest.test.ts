import { describe, expect, it } from "@effect/vitest"
import { type SilenceRequest, silenceProblem, type Surroundings, toSilence } from "../../src/deliver/SilenceRequest.ts"

const hour = 3_600_000
const day = 24 * hour
const now = 100 * day

const request = (over: Partial<SilenceRequest> = {}): SilenceRequest => ({
  nodes: ["web-*"],
  accounts: [],
  sinks: [],
  fromMillis: null,
  untilMillis: now + hour,
  reason: "new disks",
  atEnd: "deliver",
  ...over
})

const around: Surroundings = { accounts: ["acme"], sinks: ["ops", "chat"], silences: [], nowMillis: now }

const problem = (over: Partial<SilenceRequest>) => silenceProblem(request(over), around)

describe("a silence that is asked for", () => {
  it("is fine for nodes, or for accounts as a whole, now or later", () => {
    expect(problem({})).toBe(null)
    expect(problem({ nodes: [], accounts: ["acme"], sinks: ["ops"] })).toBe(null)
    expect(problem({ fromMillis: now + day, untilMillis: now + 31 * day })).toBe(null)
  })

  it("covers nothing that happened before it was asked for", () => {
    const silence = toSilence(request({ fromMillis: now - 1000, reason: " new disks\n" }), "s", now)
    expect(silence).toMatchObject({ id: "s", fromMillis: now, untilMillis: now + hour, reason: "new disks" })
    expect(toSilence(request({ fromMillis: now + 1 }), "s", now).fromMillis).toBe(now + 1)
  })

  it.each<[string, Partial<SilenceRequest>, string]>([
    ["nothing", { nodes: [] }, "A silence needs nodes or accounts: the pattern * covers every node."],
    [
      "only a sink",
      { nodes: [], sinks: ["ops"] },
      "A silence needs nodes or accounts: the pattern * covers every node."
    ],
    ["an empty pattern", { nodes: [" "] }, "A pattern of nodes has 1 to 256 characters."],
    ["a very long pattern", { nodes: ["x".repeat(257)] }, "A pattern of nodes has 1 to 256 characters."],
    [
      "too many patterns",
      { nodes: Array(101).fill("x") },
      "A silence can name at most 100 patterns, accounts or sinks."
    ],
    ["the daemon itself", { accounts: ["_daemon"] }, "Events of the daemon itself are never silenced."],
    ["an unknown account", { accounts: ["other"] }, "There is no account other. There is acme."],
    ["an unknown sink", { sinks: ["other"] }, "There is no sink other. There is ops, chat."],
    ["no reason", { reason: " \n" }, "A silence needs a reason."],
    ["a very long reason", { reason: "x".repeat(501) }, "A reason has at most 500 characters."],
    [
      "a begin in the past",
      { fromMillis: now - hour },
      "A silence cannot begin in the past; without a beginning it begins now."
    ],
    [
      "a begin years ahead",
      { fromMillis: now + 366 * day, untilMillis: now + 367 * day },
      "A silence begins within 365 days."
    ],
    ["an end in the past", { untilMillis: now - 1 }, "A silence cannot end in the past."],
    ["an end before its begin", { fromMillis: now + 2 * hour }, "A silence has to end after it begins."],
    ["a month and more", { untilMillis: now + 30 * day + 1 }, "A silence lasts at most 30 days."]
  ])("is refused for %s", (_, over, expected) => {
    expect(problem(over)).toBe(expected)
  })

  it("is refused where there are very many that are not over", () => {
    const one = toSilence(request(), "s", now)
    const over = { ...one, untilMillis: now }
    const among = (count: number) =>
      silenceProblem(request(), { ...around, silences: [over, ...Array.from({ length: count }, () => one)] })
    expect([among(199), among(200)]).toEqual([null, "There are 200 silences already: end one of them first."])
  })
})
