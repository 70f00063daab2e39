import { describe, expect, it } from "@effect/vitest"
import { csvHeader, csvLine } from "../../src/commands/events.ts"

const event = (name: string) => ({
  specversion: "1.0" as const,
  id: "-id",
  source: "/accounts/eu",
  sequence: "00000000000000000042",
  time: "2026-03-01T10:20:30.000Z",
  datacontenttype: "application/json" as const,
  subject: "nodes/7",
  type: "berth.node.status_changed",
  data: { from: "created", to: { unknown: "odd" }, after: { name } }
})

describe("an event as CSV", () => {
  it("has a column for each value that a spreadsheet sorts by, and all of its data", () => {
    expect(csvHeader).toBe("time,account,sequence,type,subject,name,from,to,id,data\n")
    expect(csvLine(event("web"))).toBe(
      "2026-03-01T10:20:30.000Z,eu,42,berth.node.status_changed,nodes/7,web,created," +
        `"{""unknown"":""odd""}",'-id,` +
        `"{""from"":""created"",""to"":{""unknown"":""odd""},""after"":{""name"":""web""}}"\n`
    )
  })

  it.each([
    ["=cmd()", "'=cmd()"],
    ["+1", "'+1"],
    ["\uff1dA1", "'\uff1dA1"],
    ["a,b", '"a,b"'],
    ["a\nb", "a\\nb"]
  ])("gives the name %j as %j", (name, cell) => {
    expect(csvLine(event(name))).toContain(`nodes/7,${cell},created`)
  })
})
