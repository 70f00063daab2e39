import { assert, describe, it } from "@effect/vitest"
import { Queue } from "../../../src/client/allowance/Queue.ts"
import { Lane } from "../../../src/domain/Lane.ts"

const anybody = () => true

/** A queue with so many in each lane, named after it and numbered from 1. */
const queueOf = (counts: Partial<Record<Lane, number>>): Queue<string> => {
  const queue = new Queue<string>()
  for (const lane of Lane.literals) {
    for (let i = 1; i <= (counts[lane] ?? 0); i++) queue.add(lane, `${lane} ${i}`, 0)
  }
  return queue
}

const drain = (queue: Queue<string>, mayGo: (lane: Lane) => boolean = anybody): ReadonlyArray<string> => {
  const taken: Array<string> = []
  for (let next = queue.take(mayGo); next !== undefined; next = queue.take(mayGo)) taken.push(next)
  return taken
}

describe("the queue", () => {
  it("lets go by lane, and within a lane who came first", () => {
    const queue = new Queue<string>()
    for (const lane of ["sweep", "wait", "mutation", "interactive"] as const) {
      queue.add(lane, `${lane} 1`, 0)
      queue.add(lane, `${lane} 2`, 0)
    }
    const inOrder = ["interactive", "mutation", "wait", "sweep"].flatMap((lane) => [`${lane} 1`, `${lane} 2`])
    assert.deepStrictEqual(drain(queue), inOrder)
    assert.strictEqual(queue.size, 0)
  })

  it("says who would go before one more, and forgets who gave up", () => {
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
    it(`lets a ${lane} go after it was passed over ${patience} times`, () => {
      const taken = drain(queueOf({ interactive: 100, [lane]: 2 }))
      assert.strictEqual(taken.indexOf(`${lane} 1`), patience)
      assert.strictEqual(taken.indexOf(`${lane} 2`), 2 * patience + 1)
    })
  }

  it("lets nobody go who may not, and does not count who waits behind them as passed over", () => {
    const queue = queueOf({ interactive: 40, sweep: 1 })
    const notSweeps = (lane: Lane) => lane !== "sweep"
    assert.strictEqual(drain(queue, notSweeps).length, 40)
    assert.isUndefined(queue.take(notSweeps))
    assert.isUndefined(queue.take(() => false))
    assert.strictEqual(queue.take(anybody), "sweep 1")
  })
})
