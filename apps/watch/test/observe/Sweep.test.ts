import { describe, expect, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { Nodes } from "@berth/core/client/Nodes"
import { layer, nodeRecord, ok } from "@berth/core/testing"
import type { Observation } from "../../src/diff/Observation.ts"
import { makeMoments } from "../../src/observe/Moments.ts"
import { sweep } from "../../src/observe/Sweep.ts"

const failed = "failed"

/** The ids on a page of a list; `failed` is a page that cannot be read. Pages are requested one after the other. */
type Page = (number: number) => ReadonlyArray<number> | typeof failed

const clientOf = (page: Page) =>
  layer(({ query }) => {
    const ids = page(Number(query["page_no"]))
    return ids === failed ? { status: 503, body: "down" } : ok(ids.map((id) => nodeRecord({ id })))
  })

/** What one sweep of the list saw. */
const swept = (page: Page) =>
  Effect.gen(function* () {
    const observations: Array<Observation> = []
    const result = yield* sweep({
      lane: "sweep",
      number: 3,
      nodes: yield* Nodes,
      moments: yield* makeMoments,
      pace: Effect.void,
      observe: (observation) => Effect.sync(() => void observations.push(observation))
    }).pipe(Effect.result)
    if (Result.isSuccess(result)) observations.push(result.success)
    const failure = Result.isFailure(result) ? result.failure : null
    const ids = observations.map((seen) => (seen._tag === "PageRead" ? seen.nodes.map(({ id }) => id) : seen._tag))
    return { observations, ids, failure }
  }).pipe(Effect.provide(clientOf(page)))

/** Cuts a list into pages the way the service does. */
const pagesOf =
  (perPage: number, list: () => ReadonlyArray<number>): Page =>
  (number) =>
    list().slice((number - 1) * perPage, number * perPage)

describe("a sweep", () => {
  it.effect("reads to the first empty page, for nothing else proves the end", () =>
    Effect.gen(function* () {
      const pages = [[1, 2, 3], [4], [5, 6], []]
      const { failure, ids } = yield* swept((number) => pages[number - 1]!)
      expect(ids).toEqual([[1, 2, 3], [4], [5, 6], "SweepCompleted"])
      expect(failure).toBeNull()
    })
  )

  it.effect("of an empty list is complete", () =>
    Effect.gen(function* () {
      expect((yield* swept(() => [])).ids).toEqual(["SweepCompleted"])
    })
  )

  it.effect("ends when the service ignores the page number, or stays on the last page", () =>
    Effect.gen(function* () {
      expect((yield* swept(() => [1, 2])).ids).toEqual([[1, 2], "SweepCompleted"])
      const stays = yield* swept((number) => (number === 1 ? [1, 2] : [3]))
      expect(stays.ids).toEqual([[1, 2], [3], "SweepCompleted"])
    })
  )

  it.effect("that meets a failure is not complete, keeps the pages it read, and has the reason", () =>
    Effect.gen(function* () {
      const { failure, ids, observations } = yield* swept((number) => (number < 3 ? [number] : failed))
      expect(ids).toEqual([[1], [2], "RequestFailed"])
      expect(failure?.reason._tag).toBe("ServiceUnavailable")
      expect(observations.at(-1)).toMatchObject({ message: failure?.message })
    })
  )

  it.effect("of a list that never ends is not complete", () =>
    Effect.gen(function* () {
      const { failure, ids } = yield* swept((number) => [number])
      expect(ids.at(-1)).toBe("RequestFailed")
      expect(failure?.message).toContain("an end of the list within 10000 pages")
    })
  )

  it.effect("misses nodes that moved to a page it has read, which is why no sweep alone deletes a node", () =>
    Effect.gen(function* () {
      let list = [1, 2, 3, 4, 5]
      const shifting = pagesOf(2, () => list)
      const { ids } = yield* swept((number) => {
        const page = shifting(number)
        if (number === 1) list = list.slice(1)
        return page
      })
      expect(ids).toEqual([[1, 2], [4, 5], "SweepCompleted"])
    })
  )

  it.effect("orders its moments: it begins before its pages and ends after them", () =>
    Effect.gen(function* () {
      const { observations } = yield* swept((number) => (number < 3 ? [number] : []))
      const [first, second, end] = observations
      const order = [end!.asked, first!.asked, first!.answered, second!.asked, second!.answered, end!.answered]
      const orders = order.map((moment) => moment.order)
      expect(orders.toSorted((a, b) => a - b)).toEqual(orders)
    })
  )
})
