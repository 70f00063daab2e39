import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { dueAfterEarly, dueHere, failed } from "../../src/deliver/Health.ts"
import { Queues } from "../../src/deliver/Queues.ts"
import type { Delivery } from "../../src/store/deliveries.ts"
import { delivery as dueDelivery } from "../store/facts.ts"

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

const delivery = (seq: number, node = seq, over: Partial<Delivery> = {}) => dueDelivery(seq, { node, ...over })

/** Without random spread, so that the schedule is exact. */
const chance = 0.5

const unavailable = failed("unavailable", "503")
const refused = failed("refused", "400")

const queuesOf = (...deliveries: ReadonlyArray<Delivery>) => {
  const queues = new Queues(8)
  queues.add(deliveries)
  return queues
}

const seqs = (deliveries: ReadonlyArray<Delivery>) => deliveries.map(({ seq }) => seq)

/** Starts the one delivery that is due. */
const only = (queues: Queues, nowMillis: number): Delivery => {
  const [first, ...more] = queues.start(nowMillis)
  if (first === undefined || more.length > 0) throw new Error(`not one delivery is due at ${nowMillis}`)
  return first
}

describe("the queues of a sink", () => {
  it("deliver a node's events one after the other, and those of different nodes at once", () => {
    const queues = queuesOf(delivery(1, 7), delivery(2, 7), delivery(3, 8))
    const [first, other] = queues.start(0)
    expect([first!.seq, other!.seq, queues.start(0).length]).toEqual([1, 3, 0])
    queues.succeeded(first!)
    expect(seqs(queues.start(0))).toEqual([2])
    expect([queues.size, queues.inFlight]).toEqual([2, 2])
  })

  it("attempt no more at once than they may", () => {
    const queues = new Queues(2)
    queues.add([delivery(1), delivery(2), delivery(3)])
    const [first] = queues.start(0)
    expect([queues.start(0).length, queues.nextMillis()]).toEqual([0, null])
    queues.succeeded(first!)
    expect(seqs(queues.start(0))).toEqual([3])
  })

  it.each([0, 3])(
    "give up at once an event that no further attempt can deliver, and go on with the next, after %i",
    (attempt) => {
      // It was tried before it was due, because the receiver had been down.
      const queues = queuesOf(delivery(1, 7, { attempt }), delivery(2, 7))
      const first = only(queues, 0)
      expect(queues.failed({ ...first, dueMillis: minute }, failed("undeliverable", "550"), 0, chance)).toMatchObject({
        _tag: "GiveUp",
        delivery: { seq: 1, attempt: attempt + 1 }
      })
      expect(seqs(queues.start(0))).toEqual([2])
    }
  )

  it("attempt an event that is refused ten times on the schedule, then give it up and go on with the next", () => {
    const queues = queuesOf(delivery(1, 7), delivery(2, 7))
    const at: Array<number> = []
    let now = 0
    for (;;) {
      const consequence = queues.failed(only(queues, now), refused, now, chance)
      at.push(now)
      if (consequence._tag === "GiveUp") break
      const next = queues.nextMillis()!
      expect(queues.start(next - 1)).toEqual([])
      now = next
    }
    const pauses = at.slice(1).map((instant, index) => instant - at[index]!)
    expect(pauses).toEqual([
      5 * second,
      5 * minute,
      30 * minute,
      2 * hour,
      5 * hour,
      10 * hour,
      14 * hour,
      20 * hour,
      24 * hour
    ])
    expect(only(queues, now).seq).toBe(2)
  })

  it("spread the schedule by a tenth", () => {
    for (const [chance, pause] of [
      [0, 4500],
      [1, 5500]
    ] as const) {
      const queues = queuesOf(delivery(1))
      queues.failed(only(queues, 0), refused, 0, chance)
      expect(queues.nextMillis()).toBe(pause)
    }
  })

  it("delay no other node when one event fails", () => {
    const queues = queuesOf(delivery(1, 7), delivery(2, 7), delivery(3, 8))
    const [first] = queues.start(0)
    queues.failed(first!, refused, 0, chance)
    queues.add([delivery(4, 9)])
    expect(seqs(queues.start(1))).toEqual([4])
  })

  it("count a receiver as failing after three refusals in a row, whatever it answers, until it accepts an event", () => {
    const queues = queuesOf(delivery(1), delivery(2), delivery(3), delivery(4))
    const [a, b, c, d] = queues.start(0)
    const stateAfter = (failure: typeof refused, of: Delivery) => {
      queues.failed(of, failure, 0, chance)
      return queues.receiver
    }
    expect([stateAfter(refused, a!), stateAfter(unavailable, b!), stateAfter(refused, c!)]).toEqual([
      "retrying",
      "retrying",
      "failing"
    ])
    queues.succeeded(d!)
    // Three deliveries that failed are left.
    expect(queues.receiver).toBe("retrying")
  })

  it("count the attempts that the process before has left as failures, where none succeeded since", () => {
    const deliveries = [delivery(1, 1, { attempt: 2 }), delivery(2, 2, { attempt: 1 })]
    const stateOf = (failingSinceMillis: number | null) => {
      const queues = new Queues(8, failingSinceMillis)
      queues.resume([], deliveries)
      return queues.receiver
    }
    expect([stateOf(5), stateOf(null)]).toEqual(["failing", "retrying"])
  })

  it("find the receiver down after failures of three queues in a row, and then try one event a minute", () => {
    const queues = queuesOf(delivery(1), delivery(2), delivery(3), delivery(4))
    const [a, b, c, d] = queues.start(0)
    expect(queues.failed(a!, unavailable, 0, chance)._tag).toBe("Retry")
    expect(queues.failed(b!, unavailable, 0, chance)._tag).toBe("Retry")
    queues.failed(c!, unavailable, 0, chance)
    expect(queues.health.probeAtMillis).toBe(minute)
    expect(queues.failed(d!, unavailable, 0, chance)._tag).toBe("Wait")
    let now = minute
    for (let tries = 0; tries < 180; tries++) {
      expect(queues.start(now - 1)).toEqual([])
      expect(queues.failed(only(queues, now), unavailable, now, chance)._tag).toBe("Wait")
      now = queues.nextMillis()!
    }
    // After three hours the receiver is back: everything is due at once, and no attempt was used up.
    expect(now).toBe(181 * minute)
    queues.succeeded(only(queues, now))
    const attempts = new Map([delivery(1), ...queues.start(now)].map(({ attempt, seq }) => [seq, attempt]))
    expect(attempts).toEqual(
      new Map([
        [1, 0],
        [2, 1],
        [3, 1],
        [4, 0]
      ])
    )
  })

  it("try another event a minute later, because the receiver may fail only at one event", () => {
    const queues = queuesOf(delivery(1), delivery(2), delivery(3))
    for (const each of queues.start(0)) queues.failed(each, unavailable, 0, chance)
    const tried = [0, 1, 2, 3].map(() => {
      const each = only(queues, queues.nextMillis()!)
      queues.failed(each, unavailable, queues.health.probeAtMillis!, chance)
      return each.seq
    })
    expect(tried).toEqual([1, 2, 3, 1])
  })

  it("try no event again at once because one succeeds that was on its way before the receiver was down", () => {
    const failing = [1, 2, 3].map((seq) => delivery(seq, seq, { attempt: 4 }))
    const queues = queuesOf(...failing, ...Array.from({ length: 100 }, (_, index) => delivery(10 + index)))
    const flying: Array<Delivery> = []
    let tries = 0
    for (let step = 0; step < 300; step++) {
      flying.push(...queues.start(0))
      const each = flying.shift()
      if (each === undefined) break
      if (each.seq > 3) queues.succeeded(each)
      else {
        tries++
        queues.failed(each, unavailable, 0, chance)
      }
    }
    expect([queues.size, tries]).toEqual([3, 3])
  })

  it("wait as long as a receiver asks that is there again, and no longer than the schedule by a clock that was ahead", () => {
    const dueOf = (dueMillis: number, retryAfterMillis: number | null) => {
      const early = delivery(1, 1, { attempt: 1, dueMillis })
      return dueAfterEarly(early, retryAfterMillis, 0)
    }
    expect([dueOf(4 * second, null), dueOf(4 * second, 10 * minute), dueOf(30 * day, null)]).toEqual([
      4 * second,
      10 * minute,
      5.5 * second
    ])
  })

  it("use up no attempt of the schedule when a receiver comes and goes", () => {
    const queues = queuesOf(delivery(1, 1, { attempt: 1, dueMillis: 5 * second }))
    let now = 0
    let tries = 0
    for (let seq = 2; now < hour; seq += 3) {
      queues.add([delivery(seq), delivery(seq + 1), delivery(seq + 2)])
      const answer = (each: Delivery, isThere: boolean) => {
        if (each.seq === 1) tries++
        if (each.seq !== 1 && isThere) queues.succeeded(each)
        else expect(queues.failed(each, unavailable, now, chance)._tag).not.toBe("GiveUp")
      }
      // The receiver goes down: three queues fail. Then it is back: the probe succeeds, and so do all others except the first.
      for (const each of queues.start(now)) answer(each, false)
      while (queues.size > 1) {
        now = Math.max(now, queues.nextMillis()!)
        for (const each of queues.start(now)) answer(each, true)
      }
    }
    expect(tries).toBeGreaterThan(30)
    const [left] = queues.start(day)
    expect(left).toMatchObject({ seq: 1, attempt: 4 })
  })

  it("do not find it down while other nodes are served in between", () => {
    const queues = queuesOf(delivery(1), delivery(2), delivery(3), delivery(4))
    const [a, b, c, d] = queues.start(0)
    queues.failed(a!, unavailable, 0, chance)
    queues.failed(b!, unavailable, 0, chance)
    queues.succeeded(c!)
    queues.failed(d!, unavailable, 0, chance)
    expect(queues.health.probeAtMillis).toBe(null)
  })

  it("give the only queue of a sink a second attempt before they find the receiver down", () => {
    const queues = queuesOf(delivery(1))
    queues.failed(only(queues, 0), unavailable, 0, chance)
    expect([queues.health.probeAtMillis, queues.nextMillis()]).toEqual([null, 5 * second])
    queues.failed(only(queues, 5 * second), unavailable, 5 * second, chance)
    expect(queues.nextMillis()).toBe(65 * second)
  })

  it("take a refusal for a sign that the receiver is there", () => {
    const queues = queuesOf(delivery(1), delivery(2), delivery(3))
    for (const each of queues.start(0)) queues.failed(each, unavailable, 0, chance)
    expect(queues.failed(only(queues, minute), refused, minute, chance)).toMatchObject({
      _tag: "Retry",
      delivery: { attempt: 2, dueMillis: minute + 5 * minute }
    })
    expect(seqs(queues.start(minute))).toEqual([2, 3])
  })

  it("wait as long as the receiver asks, for all nodes, at most an hour", () => {
    const queues = queuesOf(delivery(1), delivery(2))
    const [a, b] = queues.start(0)
    queues.failed(a!, failed("unavailable", "429", 20 * second), 0, chance)
    queues.succeeded(b!)
    queues.add([delivery(3)])
    queues.failed(only(queues, 0), failed("unavailable", "429", 3 * hour), 0, chance)
    queues.add([delivery(4)])
    expect(queues.start(hour - 1)).toEqual([])
    expect(queues.start(hour).length).toBeGreaterThan(0)
  })

  it("wait a second if a receiver that is down asks for no pause", () => {
    const queues = queuesOf(delivery(1), delivery(2), delivery(3))
    const hurried = failed("unavailable", "503", 0)
    for (const each of queues.start(0)) queues.failed(each, hurried, 0, chance)
    expect(queues.nextMillis()).toBe(second)
    queues.failed(only(queues, second), hurried, second, chance)
    expect([queues.start(2 * second - 1), queues.nextMillis()]).toEqual([[], 2 * second])
  })

  it("are due, while the receiver is down, no sooner than what is held back", () => {
    const last = { attempt: 9 }
    const queues = queuesOf(delivery(1, 1, last), delivery(2, 2, last))
    for (const each of queues.start(0)) queues.failed(each, unavailable, 0, chance)
    queues.add([delivery(4, 4, { dueMillis: 10 * minute, held: "{}" })])
    expect([queues.health.probeAtMillis, queues.nextMillis()]).toEqual([minute, 10 * minute])
    expect(seqs(queues.start(10 * minute))).toEqual([4])
  })

  it("disable a sink that answers 410, and one that failed for five days", () => {
    const gone = queuesOf(delivery(1))
    expect(gone.failed(only(gone, 0), failed("gone", "410"), 0, chance)).toEqual({ _tag: "Disable", reason: "gone" })
    const queues = new Queues(8, 0)
    queues.add([delivery(1)])
    expect(queues.failed(only(queues, 5 * day - 1), unavailable, 5 * day - 1, chance)._tag).toBe("Retry")
    const later = 6 * day
    expect(queues.failed(only(queues, later), unavailable, later, chance)).toEqual({
      _tag: "Disable",
      reason: "failing"
    })
  })

  it("do not count the days on which there was nothing to deliver", () => {
    const queues = queuesOf(delivery(1, 1, { attempt: 9 }))
    expect(queues.failed(only(queues, 0), refused, 0, chance)._tag).toBe("GiveUp")
    queues.add([delivery(2)])
    expect(queues.failed(only(queues, 9 * day), refused, 9 * day, chance)._tag).toBe("Retry")
  })

  it("keep held events back, even after the receiver has recovered", () => {
    const held = delivery(4, 4, { dueMillis: 10 * minute, held: "{}" })
    const queues = queuesOf(delivery(1), delivery(2), delivery(3), held)
    for (const each of queues.start(0)) queues.failed(each, unavailable, 0, chance)
    const probe = only(queues, minute)
    queues.succeeded(probe)
    expect(seqs(queues.start(minute))).toEqual([2, 3])
    expect(seqs(queues.start(10 * minute))).toEqual([4])
  })

  it("drop deliveries that are no longer needed, except those under way", () => {
    const queues = queuesOf(delivery(1, 7), delivery(2, 7))
    const first = only(queues, 0)
    queues.remove([first, delivery(2, 7), delivery(9, 9)])
    expect(queues.size).toBe(1)
    queues.succeeded(first)
    expect([queues.size, queues.nextMillis()]).toEqual([0, null])
  })

  it("know the change of a node that is held back, until it is on its way", () => {
    const held = delivery(2, 7, { dueMillis: minute, held: "{}" })
    const queues = queuesOf(delivery(1, 7), held, delivery(3, 7))
    expect([queues.heldOf(held)?.seq, queues.heldOf(delivery(9, 8))]).toEqual([2, null])
    queues.succeeded(only(queues, 0))
    expect(only(queues, minute).seq).toBe(2)
    expect(queues.heldOf(held)).toBe(null)
  })

  it("deliver every event of a node in order, however attempts end", () => {
    const ending = fc.constantFrom("delivered", "unavailable", "refused")
    const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 4 }), ending), { minLength: 200, maxLength: 400 })
    fc.assert(
      fc.property(steps, (steps) => {
        const queues = new Queues(3)
        const ended = new Map<number, Array<number>>()
        let now = 0
        let seq = 0
        const flying: Array<Delivery> = []
        const end = (each: Delivery, how: string) => {
          if (how === "delivered") queues.succeeded(each)
          else {
            const failure = failed(how === "refused" ? "refused" : "unavailable", how)
            const { _tag } = queues.failed(each, failure, now, chance)
            if (_tag === "Disable") throw new Error("nothing here lasts five days")
            if (_tag !== "GiveUp") return
          }
          ended.set(each.node, [...(ended.get(each.node) ?? []), each.seq])
        }
        for (const [node, how] of steps) {
          queues.add([delivery(++seq, node)])
          flying.push(...queues.start(now))
          expect(flying.length).toBeLessThanOrEqual(3)
          expect(new Set(flying.map((each) => each.node)).size).toBe(flying.length)
          const each = flying.shift()
          if (each === undefined) now = Math.min(now + hour, queues.nextMillis() ?? now)
          else end(each, how)
        }
        for (;;) {
          flying.push(...queues.start(now))
          const each = flying.shift()
          if (each !== undefined) end(each, "delivered")
          else if (queues.nextMillis() === null) break
          else now = queues.nextMillis()!
        }
        expect(queues.size).toBe(0)
        expect(Array.from(ended.values()).flat().length).toBe(steps.length)
        for (const list of ended.values()) expect(list).toEqual(list.toSorted((a, b) => a - b))
      }),
      { seed: 11, numRuns: 100 }
    )
  })
})

describe("a delivery that another process left", () => {
  it("is due no later than by the clock of this one", () => {
    expect(dueHere(delivery(1, 1, { dueMillis: 4 * minute }), 0, 0)).toBe(0)
    expect(dueHere(delivery(1, 1, { dueMillis: 4 * minute, held: "{}" }), 0, minute)).toBe(minute)
    expect(dueHere(delivery(1, 1, { dueMillis: 4 * minute, attempt: 1 }), 0, 0)).toBe(5.5 * second)
    expect(dueHere(delivery(1, 1, { dueMillis: 3 * second, attempt: 1 }), 0, 0)).toBe(3 * second)
    expect(dueHere(delivery(1, 1, { dueMillis: 4 * minute, attempt: 10 }), 0, 0)).toBe(0)
  })
})

describe("an account that another process takes over", () => {
  it("has nothing left in the queues, and running attempts end without effect", () => {
    const queues = queuesOf(delivery(1, 7), delivery(2, 7), delivery(3, 8), delivery(4, 9, { account: "b" }))
    const started = queues.start(0)
    expect(seqs(started)).toEqual([1, 3, 4])
    queues.forget("a")
    expect([queues.size, queues.inFlight]).toEqual([3, 3])
    queues.succeeded(started[0]!)
    expect(queues.failed(started[1]!, unavailable, 0, chance)).toEqual({ _tag: "Wait" })
    expect(queues.failed(started[2]!, unavailable, 0, chance)).toMatchObject({ _tag: "Retry" })
    expect([queues.size, queues.inFlight]).toEqual([1, 0])
  })

  it("returns as another process left it, without deliveries that still run here", () => {
    const queues = queuesOf(delivery(1, 7), delivery(2, 7))
    const [first] = queues.start(0)
    queues.forget("a")
    queues.resume(["a"], [delivery(1, 7), delivery(2, 7), delivery(5, 7)])
    expect(queues.size).toBe(3)
    expect(queues.failed(first!, unavailable, 0, chance)).toMatchObject({ _tag: "Retry" })
    const again = only(queues, day)
    queues.succeeded(again)
    expect([again.seq, only(queues, day).seq]).toEqual([1, 2])
  })

  it("is tried again when it comes back with nothing left", () => {
    const queues = queuesOf(delivery(1))
    queues.forget("a")
    queues.resume(["a"], [])
    queues.add([delivery(2)])
    expect(queues.failed(only(queues, 0), unavailable, 0, chance)).toMatchObject({ _tag: "Retry" })
    expect(queues.size).toBe(1)
  })
})
