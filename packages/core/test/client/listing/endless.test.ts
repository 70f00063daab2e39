import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import * as fc from "fast-check"
import { maxRequestsOf } from "../../../src/client/listing/Bounds.ts"
import type { PageRange } from "../../../src/client/listing/PageRange.ts"
import { capped, readList, upTo } from "./readList.ts"

type Service = (range: PageRange) => ReadonlyArray<number>

/** Reads a list of at most 2000 nodes, and counts the requests. */
const read = async (service: Service, exact = true) => {
  let requests = 0
  const result = await Effect.runPromise(
    Effect.result(
      readList(
        (range) => {
          requests++
          return service(range)
        },
        { maxNodes: 2000, exact }
      )
    )
  )
  return { requests, result }
}

const failureOf = async (service: Service) => {
  const { result } = await read(service)
  assert.isTrue(Result.isFailure(result))
  return Result.isFailure(result) ? result.failure : assert.fail("it succeeded")
}

describe("a list without an end", () => {
  for (const [name, service] of [
    ["new nodes for ever", ({ page = 1 }: PageRange) => upTo(100).map((id) => id + (page - 1) * 100)],
    ["new nodes for ever, pages half empty", ({ page = 1 }: PageRange) => upTo(37).map((id) => id + page * 37)],
    ["one new node a page", ({ page = 1 }: PageRange) => [page]],
    ["new nodes for ever, the newest first", ({ page = 1 }: PageRange) => upTo(100).map((id) => 1e9 - id - page * 100)]
  ] as const) {
    it(`of a service that returns ${name} fails with the counts`, async () => {
      const { message, reason } = await failureOf(service)
      assert.strictEqual(reason._tag, "UnexpectedResponse")
      assert.match(
        message,
        /: expected the end of the list within 2000 nodes \(maxNodes\) and \d+ requests, got \d+ nodes in \d+ requests, and no end\.$/
      )
    })
  }

  it("of a service that returns the same nodes for ever ends with them, and is not called complete", async () => {
    let turn = 0
    for (const service of [
      () => upTo(20),
      () => [7],
      () => [1 + (turn++ % 5)],
      () => [5, 5, 5]
    ] satisfies Array<Service>) {
      for (const exact of [true, false]) {
        const { requests, result } = await read(service, exact)
        assert.isAtMost(requests, 20)
        assert.isFalse(Result.isSuccess(result) ? result.success.complete : undefined)
      }
    }
  })

  for (const [length, most] of [
    [100, 760],
    [50, 1510],
    [20, 3760],
    [1, 760]
  ] as const) {
    it(`without a bound from the caller ends within ${most} requests where a page has ${length} nodes`, async () => {
      let requests = 0
      const service = ({ page = 1, perPage }: PageRange) => {
        requests++
        const size = Math.min(length, perPage)
        return upTo(size).map((id) => id + (page - 1) * size)
      }
      const { hint, message } = await Effect.runPromise(Effect.flip(readList(service)))
      assert.match(
        message,
        new RegExp(`within 50000 nodes \\(maxNodes\\) and ${most} requests, got \\d+ nodes in ${requests} requests`)
      )
      assert.include(hint, "Raise maxNodes")
      assert.isAtMost(requests, most)
    })
  }

  it("is no bound to a list that has so many nodes, whatever the length of its pages", async () => {
    for (const cap of [20, 21, 37, 50, 99, 100]) {
      for (const exact of [true, false]) {
        const { ids } = await Effect.runPromise(readList(capped(upTo(3000), cap), { maxNodes: 3000, exact }))
        assert.lengthOf(ids, 3000)
      }
    }
  })
})

describe("every list", () => {
  const pages = fc.oneof(
    fc.array(fc.integer({ min: 1, max: 1e6 }), { maxLength: 5 }),
    fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 5 }),
    fc.array(fc.integer({ min: 1, max: 1e6 }), { minLength: 90, maxLength: 110 })
  )
  const sorted = fc.boolean()

  it("ends within its bounds, for any pages of the service", () =>
    fc.assert(
      fc.asyncProperty(fc.func(pages), fc.boolean(), sorted, fc.boolean(), async (give, byTurn, sorted, exact) => {
        let turn = 0
        const { requests } = await read(({ page, perPage }) => {
          const ids = give(byTurn ? turn++ : 0, page, perPage)
          return sorted ? ids.toSorted((a, b) => a - b) : ids
        }, exact)
        assert.isAtMost(requests, maxRequestsOf(2000, 20))
      }),
      { numRuns: 60 }
    ))
})
