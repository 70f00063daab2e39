import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { Queue } from "../../../src/client/allowance/Queue.ts"
import { Lane } from "../../../src/domain/Lane.ts"

const anyLane = () => true

/** A queue with some calls in each lane, named after the lane and numbered from 1. */
const queueOf = (counts: Partial<Record<Lane, number>>): Queue<string> => {
  const queue = new Queue<string>()
  for (const lane of Lane.literals) {
    for (let i = 1; i <= (counts[lane] ?? 0); i++) queue.add(lane, `${lane} ${i}`, 0)
  }
  return queue
}

const drain = (queue: Queue<string>, mayGo: (lane: Lane) => boolean = anyLane): ReadonlyArray<string> => {
  const taken: Array<string> = []
  for (let next = queue.take(mayGo); next !== undefined; next = queue.take(mayGo)) taken.push(next)
  return taken
}

describe("the queue", () => {
  it("takes calls by lane, and within a lane in order of arrival", () => {
    const queue = new Queue<string>()
    for (const lane of ["sweep", "wait", "mutation", "interactive"] as const) {
      queue.add(lane, `${lane} 1`, 0)
      queue.add(lane, `${lane} 2`, 0)
    }
    const inOrder = ["interactive", "mutation", "wait", "sweep"].flatMap((lane) => [`${lane} 1`, `${lane} 2`])
    assert.deepStrictEqual(drain(queue), inOrder)
    assert.strictEqual(queue.size, 0)
  })

  it("counts the calls before one more, without those that left", () => {
    const queue = queueOf({ interactive: 1, wait: 3, sweep: 4 })
    const first = queue.add("mutation", "mutation 1", 0)
    queue.add("mutation", "mutation 2", 0)
    assert.deepStrictEqual(
      Lane.literals.map((lane) => queue.ahead(lane)),
      [1, 3, 6, 10]
    )
    queue.leave(first)
    queue.leave(first)
    assert.strictEqual(queue.size, 9)
    assert.deepStrictEqual(drain(queue).slice(0, 3), ["interactive 1", "mutation 2", "wait 1"])
  })

  for (const [lane, patience] of [
    ["mutation", 8],
    ["wait", 16],
    ["sweep", 32]
  ] as const) {
    it(`takes a ${lane} after it was passed over ${patience} times`, () => {
      const taken = drain(queueOf({ interactive: 100, [lane]: 2 }))
      assert.strictEqual(taken.indexOf(`${lane} 1`), patience)
      assert.strictEqual(taken.indexOf(`${lane} 2`), 2 * patience + 1)
    })
  }

  it("takes no call that may not go, and does not count it as passed over", () => {
    const queue = queueOf({ interactive: 40, sweep: 1 })
    const notSweeps = (lane: Lane) => lane !== "sweep"
    assert.strictEqual(drain(queue, notSweeps).length, 40)
    assert.isUndefined(queue.take(notSweeps))
    assert.isUndefined(queue.take(() => false))
    queue.add("interactive", "interactive 41", 0)
    assert.deepStrictEqual(drain(queue), ["interactive 41", "sweep 1"])
  })

  it("takes out the calls whose deadline is before an instant, earliest first, and no other call, after any events", () => {
    const event = fc.oneof(
      fc.record({
        kind: fc.constant("add" as const),
        deadlineAt: fc.oneof(fc.nat(50), fc.constant(Number.POSITIVE_INFINITY))
      }),
      fc.record({ kind: fc.constant("leave" as const), which: fc.nat() }),
      fc.record({ kind: fc.constant("take" as const) }),
      fc.record({ kind: fc.constant("late" as const), instant: fc.nat(60) })
    )
    fc.assert(
      fc.property(fc.array(event, { maxLength: 400 }), (events) => {
        const queue = new Queue<number>()
        let places: Array<ReturnType<typeof queue.add>> = []
        let added = 0
        for (const event of events) {
          if (event.kind === "add") places.push(queue.add("wait", added++, event.deadlineAt))
          else if (event.kind === "leave" && places.length > 0) {
            queue.leave(places.splice(event.which % places.length, 1)[0]!)
          } else if (event.kind === "take") assert.strictEqual(queue.take(anyLane), places.shift()?.waiter)
          else if (event.kind === "late") {
            const late: Array<number> = []
            for (
              let place = queue.takeLate("wait", event.instant);
              place;
              place = queue.takeLate("wait", event.instant)
            ) {
              late.push(place.deadlineAt)
            }
            const expected = places.map(({ deadlineAt }) => deadlineAt).filter((at) => at < event.instant)
            assert.deepStrictEqual(
              late,
              expected.toSorted((a, b) => a - b)
            )
            places = places.filter(({ deadlineAt }) => deadlineAt >= event.instant)
          }
          assert.strictEqual(queue.size, places.length)
        }
      }),
      { numRuns: 1000 }
    )
  })
})
