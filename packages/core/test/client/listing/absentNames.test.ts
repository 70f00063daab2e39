/** When a search by name may say that no node has the name: only if the list shows that it has every node. */
import { failure, layer, nodeRecord, ok, type Reply, scripted } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { Nodes } from "../../../src/client/Nodes.ts"

interface Totals {
  readonly total_count?: number
  readonly total_page_number?: number
}

const reply = (ids: ReadonlyArray<number>, totals: Totals): Reply => {
  const listed = ok(ids.map((id) => nodeRecord({ id, name: `n-${id}` })))
  return { ...listed, body: JSON.stringify({ ...JSON.parse(listed.body!), ...totals }) }
}

/** A service that answers every page with the first one. */
const repeating = (ids: ReadonlyArray<number>, totals: Totals) => scripted(() => reply(ids, totals))

/** A service without totals that follows the number of the page, and its size unless that is given here. */
const paging = (ids: ReadonlyArray<number>, ownSize?: number, meanwhile: (requests: number) => void = () => {}) => {
  let requests = 0
  return scripted(({ query }) => {
    meanwhile(++requests)
    const [page, size] = [Number(query["page_no"] ?? 1), ownSize ?? Number(query["per_page"])]
    return reply(ids.slice((page - 1) * size, page * size), {})
  })
}

const named = (name: string) => Nodes.use((nodes) => nodes.named(name))

describe("a name that no listed node has", () => {
  for (const ids of [
    [1, 2, 3],
    [3, 2, 1]
  ]) {
    for (const [what, totals] of [
      ["has no totals", {}],
      ["states only a number of nodes", { total_count: 3 }],
      ["states only a number of pages", { total_page_number: 1 }]
    ] as const) {
      it.effect(`is not absent if each page is the same and ${what}, from ${ids[0]}`, () =>
        Effect.gen(function* () {
          const { reason } = yield* Effect.flip(named("n-9"))
          assert.deepInclude(reason, { _tag: "UnexpectedResponse", path: "data", retryable: false })
          assert.strictEqual(
            reason.hint,
            "A node of that name may be missing from the list: look for it in the service's console, and use its id."
          )
          assert.deepStrictEqual(
            (yield* named("n-2")).map(({ id }) => Number(id)),
            [2]
          )
        }).pipe(Effect.provide(layer(repeating(ids, totals))))
      )
    }

    it.effect(`is absent if both totals confirm the page, from ${ids[0]}`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* named("n-9"), [])
      }).pipe(Effect.provide(layer(repeating(ids, { total_count: 3, total_page_number: 1 }))))
    )
  }

  for (const ids of [
    [1, 2, 3],
    [3, 2, 1]
  ]) {
    for (const [what, totals, isAbsent] of [
      ["has no totals", {}, false],
      ["states only a number of nodes", { total_count: 3 }, false],
      ["states both totals", { total_count: 3, total_page_number: 1 }, true]
    ] as const) {
      it.effect(`is ${isAbsent ? "" : "not "}absent if the list ends with a 404 and ${what}, from ${ids[0]}`, () =>
        Effect.gen(function* () {
          const found = yield* Effect.result(named("n-9"))
          assert.strictEqual(Result.isSuccess(found), isAbsent)
          assert.lengthOf(yield* named("n-2"), 1)
        }).pipe(
          Effect.provide(
            layer(
              scripted(({ query }) =>
                Number(query["page_no"] ?? 1) > 1 ? failure(404, "Invalid page.") : reply(ids, totals)
              )
            )
          )
        )
      )
    }
  }

  it.effect("is absent if the pages show where the list ends", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* named("n-9"), [])
    }).pipe(Effect.provide(layer(paging([1, 2, 3]))))
  )

  for (const [what, service] of [
    ["of a size of their own", paging([1, 2, 3], 20)],
    ["and the newest node first", paging([3, 2, 1])]
  ] as const) {
    it.effect(`is absent if the list is one page, with pages ${what}`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* named("n-9"), [])
      }).pipe(Effect.provide(layer(service)))
    )
  }

  it.effect("is not absent if it may have moved to an earlier page, which was read before", () =>
    Effect.gen(function* () {
      for (let moment = 1; moment <= 6; moment++) {
        const ids = [5, 4, 3, 2, 1]
        // Another node is deleted, so that the last one moves to the only page.
        const service = paging(ids, 4, (requests) => requests === moment && ids.splice(0, 1))
        const found = yield* Effect.result(Effect.provide(named("n-1"), layer(service)))
        if (Result.isSuccess(found)) assert.lengthOf(found.success, 1, `deleted before request ${moment}`)
      }
    })
  )

  it.effect("is absent for a caller that accepts a list without this proof", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* Nodes.use((nodes) => nodes.named("n-900", { exact: false })), [])
    }).pipe(Effect.provide(layer(paging(Array.from({ length: 250 }, (_, i) => i + 1)))))
  )
})
