/** Tests what learn can find out about the paging of a service with only a few nodes, and what it cannot. */
import { describe, expect, it } from "vitest"
import { adviceFrom } from "../src/advice.ts"
import { judge } from "../src/claims.ts"
import { profileOf } from "../src/profileOf.ts"
import { evidenceOf, survey } from "./record.ts"
import { startQuay } from "./services/quay.ts"

const verdictsOf = async (nodes: number, most: number) => {
  await using service = await startQuay({ nodes, most })
  const evidence = evidenceOf(await survey(service))
  const verdicts = new Map(judge(evidence.exchanges).map(({ claim, verdict }) => [claim, verdict]))
  const { behaviour } = profileOf(evidence)
  return {
    goesToHundred: verdicts.get("per_page may be up to 100"),
    endIsEmpty: verdicts.get("A page past the end is empty"),
    longest: behaviour.paging.maximumSize,
    saysSafe: adviceFrom(behaviour).some(({ setting }) => setting === "exact: false")
  }
}

describe("a page of 100 that was asked for", () => {
  it("was shortened where more nodes follow, though no list says how many there are", async () => {
    expect(await verdictsOf(130, 50)).toEqual({
      goesToHundred: "refuted",
      endIsEmpty: "confirmed",
      longest: 50,
      saysSafe: false
    })
  })

  it.each([0, 3, 40, 50])("shows nothing where there are no more than %d nodes", async (nodes) => {
    const found = await verdictsOf(nodes, 50)
    expect(found).toMatchObject({ goesToHundred: "open", longest: undefined, saysSafe: false })
    expect(found.endIsEmpty).not.toBe("refuted")
  })

  it("is whole where it has 100", async () => {
    expect(await verdictsOf(130, 100)).toEqual({
      goesToHundred: "confirmed",
      endIsEmpty: "confirmed",
      longest: 100,
      saysSafe: true
    })
  })
})

describe("requests that follow each other within a millisecond", () => {
  it("show as much as others: each reply was there before the next was asked for", async () => {
    await using service = await startQuay()
    const { paging } = profileOf(evidenceOf(await survey(service, 0))).behaviour
    expect(paging).toMatchObject({ defaultSize: 20, pageAlias: true, winner: "page_no" })
    await using other = await startQuay({ takes: (query) => query.delete("page"), most: 50 })
    const moved = profileOf(evidenceOf(await survey(other, 0))).behaviour
    expect(moved.paging).toMatchObject({ maximumSize: 50, pageAlias: false })
  })
})
