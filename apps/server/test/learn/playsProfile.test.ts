import { describe, expect, it } from "vitest"
import { quantile } from "@berthkit/learn/advice"
import { profileOf } from "@berthkit/learn/profileOf"
import { nextChange } from "../../src/lifecycle/NodeLife.ts"
import { readProfile } from "@berthkit/profile/Profile"
import { settingsUnder } from "../../src/profile/settingsUnder.ts"
import { defaults } from "../../src/world/WorldSettings.ts"
import { answer, asked, idsOf, mockUnder } from "./playing.ts"
import { evidenceOf, lives, type Service, survey } from "@berthkit/learn/testing/record"
import { startHarbour } from "@berthkit/learn/testing/services/harbour"
import { startMeadow } from "@berthkit/learn/testing/services/meadow"

const services = [
  { name: "harbour", nodes: 120, start: startHarbour },
  { name: "meadow", nodes: 150, start: startMeadow }
]

const learned = async (service: Service) => profileOf(evidenceOf(await survey(service)))

describe.each(services)("the mock under the profile of $name", ({ nodes, start }) => {
  it("answers as the service does, and reads the same from its file", async () => {
    await using service = await start()
    const profile = await learned(service)
    const read = readProfile(JSON.stringify(profile))
    expect(read).toMatchObject({ _tag: "Success" })
    const mock = await mockUnder(profile, nodes)
    for (const path of asked)
      expect([path, await answer(mock.url, path)]).toEqual([path, await answer(service.url, path)])
    // One node of the service and one of the mock, each by its own id.
    const [own] = await idsOf(service.url, "?per_page=1")
    const [mocked] = await idsOf(mock.url, "?per_page=1")
    expect(await answer(mock.url, `/nodes/${mocked}/`)).toEqual(await answer(service.url, `/nodes/${own}/`))
    const isAscending = (ids: ReadonlyArray<number>) => ids[0]! < ids[1]!
    expect(isAscending(await idsOf(mock.url, "?per_page=2"))).toBe(isAscending(await idsOf(service.url, "?per_page=2")))
  })
})

describe("times that were learned", () => {
  it("are those of the service, within a tenth", async () => {
    await using service = await startHarbour()
    // Skewed like real provisioning: most are quick, and some take three times as long.
    const durations = Array.from({ length: 24 }, (_, at) =>
      Math.round(40_000 * Math.exp(0.5 * Math.sin(at * 2.4) + at / 60))
    )
    service.takes(durations)
    const profile = profileOf(evidenceOf(await lives(service, durations.length, 4_000)))
    const { lifecycle } = settingsUnder(profile, defaults, 0)
    const node = (id: number) => ({ id, name: "n", createdAt: 0, deletedAt: null, commitment: null })
    const played = Array.from({ length: 2_000 }, (_, id) => nextChange(1, lifecycle, node(id), 0)!.at).toSorted(
      (a, b) => a - b
    )
    const real = durations.toSorted((a, b) => a - b)
    for (const share of [0.1, 0.5, 0.9, 0.95]) {
      expect(Math.abs(quantile(played, share) / quantile(real, share) - 1)).toBeLessThan(0.1)
    }
  })
})
