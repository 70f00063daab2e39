import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import * as fc from "fast-check"
import { maxPagesOf } from "../../../src/client/listing/Bounds.ts"
import { makeMemory } from "../../../src/client/listing/PageStore.ts"
import type { PageRange } from "../../../src/client/listing/PageRange.ts"
import { readList, upTo } from "./readList.ts"

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
        makeMemory(),
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
        /: expected the end of the list within 2000 nodes \(maxNodes\) and 1040 pages, got \d+ nodes on \d+ pages, and no end\.$/
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

  it("without a bound from the caller ends after 21 000 pages", async () => {
    const { message } = await Effect.runPromise(Effect.flip(readList(({ page = 1 }) => [page], makeMemory())))
    assert.match(message, /within 1000000 nodes \(maxNodes\) and 21000 pages, got \d+ nodes on 21000 pages/)
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
        assert.isAtMost(requests, maxPagesOf(2000))
      }),
      { numRuns: 60 }
    ))
})
