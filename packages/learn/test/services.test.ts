import { describe, expect, it } from "vitest"

import { judge } from "../src/claims.ts"

import { evidenceOf, lives, type Service, survey } from "./record.ts"
import { harbourChoices, startHarbour } from "./services/harbour.ts"
import { meadowChoices, startMeadow } from "./services/meadow.ts"

type Choices = Readonly<Record<string, ReadonlyArray<string>>>

const recordOf = async (service: Service, withNodes: boolean) => {
  const entries = [...(await survey(service)), ...(withNodes ? await lives(service, 2, 30_000) : [])]
  // Go past the end of a window of one minute, and of a window of ten minutes.
  service.advance(50_000)
  entries.push(...(await survey(service)))
  service.advance(600_000)
  entries.push(...(await survey(service)).slice(0, 2))
  return evidenceOf(entries)
}

const services = [
  { name: "harbour", choices: harbourChoices as Choices, start: startHarbour, withNodes: true },
  { name: "meadow", choices: meadowChoices as Choices, start: startMeadow, withNodes: false }
]

/** The windows of both services are shorter than an hour, whichever points are switched on. */
const always = ["The window is an hour long"]

describe.each(services)("what $name chose otherwise", ({ choices, start, withNodes }) => {
  it("is found completely, and nothing else is found", async () => {
    await using service = await start()
    const refuted = judge((await recordOf(service, withNodes)).exchanges).filter(({ verdict }) => verdict === "refuted")
    const expected = [...new Set([...Object.values(choices).flat(), ...always])]
    expect(Object.keys(choices).length).toBeGreaterThanOrEqual(20)
    expect(refuted.map(({ claim }) => claim).toSorted()).toEqual(expected.toSorted())
  })

  it("is not found where it chose as is assumed", async () => {
    await using service = await start(new Set())
    expect(
      judge((await recordOf(service, withNodes)).exchanges)
        .filter(({ verdict }) => verdict === "refuted")
        .map(({ claim }) => claim)
    ).toEqual(always)
  })
})
