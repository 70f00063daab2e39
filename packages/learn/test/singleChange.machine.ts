import { describe, expect, it } from "vitest"
import { compare } from "../src/check.ts"
import { profileOf } from "../src/profileOf.ts"
import { evidenceOf, type Service, survey } from "./record.ts"
import { harbourChoices, startHarbour } from "./services/harbour.ts"
import { meadowChoices, startMeadow } from "./services/meadow.ts"

const services = [
  { name: "harbour", start: startHarbour, choices: harbourChoices },
  { name: "meadow", start: startMeadow, choices: meadowChoices }
]

const learned = async (service: Service) => profileOf(evidenceOf(await survey(service)))

describe.each(services)("the profile of $name", ({ choices, start }) => {
  it("differs from that of a service that takes back any one choice", async () => {
    await using service = await start()
    const before = await learned(service)
    await using again = await start()
    expect(compare(before, await learned(again)).differences).toEqual([])
    // Only a create or the end of a window shows these changes.
    const unseen = new Set(["deleteIs200", "noLocation", "sliding"])
    for (const name of Object.keys(choices).filter((each) => !unseen.has(each))) {
      await using moved = await start(new Set(Object.keys(choices).filter((each) => each !== name)))
      expect([name, compare(before, await learned(moved)).differences.length > 0]).toEqual([name, true])
    }
  })
})
