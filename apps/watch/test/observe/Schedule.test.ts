import { describe, expect, it } from "@effect/vitest"
import { questions } from "../../src/diff/Question.ts"
import { defaultRules } from "../../src/diff/Snapshot.ts"
import { begun, failedAt, listAnswered, nextRead, noReads, type Reads } from "../../src/observe/ReadQueue.ts"
import {
  initialPolling,
  intervalsNow,
  laneOf,
  nextDue,
  type Plan,
  plannedSweepMillis,
  type Polling
} from "../../src/observe/Schedule.ts"
import { beginSweep } from "../../src/observe/Sweep.ts"
import { aNode, nodeId } from "../diff/aNode.ts"
import { byHand } from "../diff/byHand.ts"

const plan: Plan = {
  rules: defaultRules,
  requestsPerHour: 720,
  windowMillis: 3_600_000,
  nowMillis: 0,
  paceMillis: 5000,
  sparingPaceMillis: 5200,
  spare: () => 113,
  doubtsSent: 0,
  sweepMillis: null,
  transitionMillis: null
}
const many = (count: number, from = 1) => Array.from({ length: count }, (_, index) => aNode({ id: from + index }))

/** The polling after two sweeps; the second has just begun. */
const after = (watch: ReturnType<typeof byHand>, over: Partial<Polling> = {}): Polling => ({
  ...initialPolling,
  sweeps: 2,
  sweepBegunMillis: watch.now(),
  pageMillis: watch.now(),
  ...over
})
const due = (watch: ReturnType<typeof byHand>, polling = after(watch), over: Partial<Plan> = {}) => {
  const { dueMillis, ...request } = nextDue(polling, watch.snapshot, { ...plan, nowMillis: watch.now(), ...over })
  return { ...request, inMillis: dueMillis - watch.now() }
}

/** The next read of a single node. */
const read = (
  watch: ReturnType<typeof byHand>,
  polling = after(watch),
  reads: Reads = noReads,
  hasRoomForDoubts = true,
  hasRoomForGuesses = hasRoomForDoubts
) => {
  const nowMillis = watch.now()
  const { transitionMillis } = intervalsNow(polling, watch.snapshot, { ...plan, nowMillis })
  const lane = laneOf(watch.snapshot, polling)
  const next = nextRead(reads, questions(watch.snapshot, defaultRules), watch.snapshot, {
    rules: defaultRules,
    lane,
    nowMillis,
    transitionMillis,
    hasRoomForDoubts,
    hasRoomForGuesses
  })
  return next && { id: Number(next.id), inMillis: next.dueMillis - nowMillis }
}

describe("a small account", () => {
  it("is swept every 10 s, and every 5 s while a node is in transition", () => {
    const watch = byHand()
    watch.baseline(...many(3))
    expect(due(watch)).toEqual({ _tag: "page", inMillis: 9000 })
    watch.sweep(...many(3), aNode({ id: 9, status: "created" }))
    expect(due(watch)).toEqual({ _tag: "page", inMillis: 4750 })
  })

  it("is swept every 5 s only while the share has room for every 10 s for ever, and less often where it has none for that", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 9, status: "created" }))
    expect(due(watch, after(watch), { sparingPaceMillis: 8181 })).toEqual({ _tag: "page", inMillis: 4750 })
    expect(due(watch, after(watch), { sparingPaceMillis: 8182 })).toEqual({ _tag: "page", inMillis: 9000 })
    expect(due(watch, after(watch), { paceMillis: 20_000, sparingPaceMillis: 21_000 })).toEqual({
      _tag: "page",
      inMillis: 22_000
    })
  })

  it("is swept at an interval that is set while the share has room for that", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 9, status: "created" }))
    const set = { sweepMillis: 3000, transitionMillis: 2000, sparingPaceMillis: 20_000 }
    // The requests that are left for three minutes, in addition to 440 an hour and the 113 for reads of nodes in doubt.
    expect(due(watch, after(watch), { ...set, spare: () => 113 + 180 })).toEqual({ _tag: "page", inMillis: 2000 })
    expect(due(watch, after(watch), { ...set, spare: () => 113 + 28 }).inMillis).toBeCloseTo(3960, -2)
    expect(due(watch, after(watch), { ...set, spare: () => 113 })).toEqual({ _tag: "page", inMillis: 9000 })
  })

  it("is not swept more often for a node that is stuck", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 9, status: "created" }))
    watch.pass(1_800_001)
    watch.sweep(aNode({ id: 9, status: "created" }))
    expect(due(watch)).toEqual({ _tag: "page", inMillis: 9000 })
  })

  it("is swept more often from half of the time on that the quickest of such nodes took", () => {
    const watch = byHand()
    watch.baseline()
    for (let id = 1; id <= 20; id++) {
      const createdAtMillis = watch.pass(1000)
      watch.finds(aNode({ id, status: "created", createdAtMillis }))
      watch.pass(id === 7 ? 90_000 : 120_000)
      watch.finds(aNode({ id, createdAtMillis }))
    }
    const slow = aNode({ id: 21, status: "created", createdAtMillis: watch.pass(1000) })
    watch.finds(slow)
    expect(due(watch)).toEqual({ _tag: "page", inMillis: 9000 })
    watch.pass(44_999)
    expect(due(watch)).toEqual({ _tag: "page", inMillis: 9000 })
    watch.pass(1)
    expect(due(watch)).toEqual({ _tag: "page", inMillis: 4750 })
  })

  it("is asked for a failed page again as soon as the pause is over", () => {
    const watch = byHand()
    watch.baseline(...many(3))
    const failed = { sweep: beginSweep(3), quietUntilMillis: watch.now() + 700 }
    expect(due(watch, after(watch, failed))).toEqual({ _tag: "page", inMillis: 700 })
  })

  it("is swept at the interval that is set", () => {
    const watch = byHand()
    watch.baseline(...many(3))
    expect(due(watch, after(watch), { sweepMillis: 60_000 })).toEqual({ _tag: "page", inMillis: 60_000 })
  })
})

describe("a small account whose list moved while it was read", () => {
  it("is swept as often as before, although that sweep took more requests", () => {
    const watch = byHand()
    watch.baseline(...many(30))
    const sweep = watch.begin()
    sweep.page(...many(30))
    sweep.end(0, 6)
    expect(due(watch)).toEqual({ _tag: "page", inMillis: 9000 })
  })
})

describe("the first sweep", () => {
  it("takes as long as planned for the pages that it has read so far", () => {
    const watch = byHand()
    const plannedFor = (pages: number, nodes: number) =>
      plannedSweepMillis(
        {
          ...initialPolling,
          sweep: { ...beginSweep(1), requests: pages, listed: new Set(many(nodes).map(({ id }) => id)) }
        },
        watch.snapshot,
        plan
      )
    expect(plannedFor(1, 100)).toBe(9000)
    expect(plannedFor(60, 5200)).toBe(600_000)
    watch.sweep(...many(3))
    expect(plannedFor(60, 5200)).toBe(9000)
  })
})

describe("an account of several pages", () => {
  const fleet = many(250)
  const swept = (...over: ReadonlyArray<ReturnType<typeof aNode>>) => {
    const watch = byHand()
    const nodes = [...fleet.filter(({ id }) => over.every((other) => other.id !== id)), ...over]
    watch.baseline(...nodes)
    // A snapshot as after a sweep with this many requests.
    const sweep = watch.begin()
    sweep.page(...nodes)
    sweep.page()
    sweep.page()
    sweep.end(0, 3)
    return watch
  }
  /** How long until the next single read of a node is due; null if none is. */
  const readIn = (watch: ReturnType<typeof byHand>, firstId = 211) => {
    return read(watch, after(watch, { end: { offset: 250, lastId: 250, firstId } }))
  }

  it("has a node that is created read every minute, unless the page with the end of the list shows it", () => {
    expect(readIn(swept(aNode({ id: 100, status: "created" })))).toEqual({ id: 100, inMillis: 57_000 })
    expect(readIn(swept(aNode({ id: 230, status: "created" })))).toBeNull()
    expect(readIn(swept(aNode({ id: 230, status: "created" })), Infinity)).toEqual({ id: 230, inMillis: 57_000 })
  })

  it("has one that is created read five times less often once it is stuck", () => {
    const watch = swept(aNode({ id: 100, status: "created" }))
    watch.pass(1_800_001)
    watch.finds(aNode({ id: 100, status: "created" }))
    expect(readIn(watch)).toEqual({ id: 100, inMillis: 285_000 })
  })

  it("has one that terminates read only when it may be stuck, once", () => {
    const terminating = aNode({ id: 100, status: "terminate" })
    const watch = swept(terminating)
    expect(readIn(watch)).toEqual({ id: 100, inMillis: 1_800_000 })
    watch.pass(1_800_001)
    expect(readIn(watch)?.inMillis).toBeLessThanOrEqual(0)
    expect(watch.finds(terminating)).toMatchObject([{ type: "berth.node.stuck" }])
    expect(readIn(watch)).toBeNull()
  })

  it("is swept again at once, a page at a time, after a sweep that was read at once", () => {
    const watch = swept()
    expect(due(watch)).toEqual({ _tag: "page", inMillis: 24_000 })
  })

  it("is swept as often as is set only as far as everything that is promised leaves room", () => {
    const intervals = (over: Partial<Plan>) => {
      const watch = swept()
      return intervalsNow(after(watch), watch.snapshot, { ...plan, nowMillis: watch.now(), ...over })
    }
    const all = intervals({})
    expect(all.sweepMillis).toBeCloseTo(48_000)
    for (const sweepMillis of [200, 5000, 40_000, 48_000]) {
      const without = intervals({ sweepMillis })
      expect(without).toMatchObject({ ...all, sweepMillis: expect.closeTo(48_000) })
      const with20 = intervals({ sweepMillis, spare: () => 113 + 20 })
      expect(with20).toMatchObject({ tailMillis: all.tailMillis, perHour: all.perHour })
      expect(with20.sweepMillis).toBeCloseTo(Math.max(sweepMillis, (2 * 3_600_000) / (150 + 400)))
    }
    const read = intervals({ sweepMillis: 200, spare: () => 113 + 20 - 60, doubtsSent: 60 })
    expect(read.sweepMillis).toBeCloseTo((2 * 3_600_000) / (150 + 400))
    expect(intervals({ sweepMillis: 96_000 }).perHour).toBeCloseTo(all.perHour - 75)
  })

  it("keeps all its intervals while a node that terminated is missing, however long ago that was", () => {
    const watch = swept(aNode({ id: 100, status: "terminate" }))
    watch.pass(3_600_000)
    const tailMillis = () => {
      const pace = { nowMillis: watch.now(), paceMillis: 3_600_000 / 550 }
      return intervalsNow(after(watch), watch.snapshot, { ...plan, ...pace }).tailMillis
    }
    expect(tailMillis()).toBeGreaterThan(9500)
    const sweep = watch.begin()
    sweep.page(...fleet.filter(({ id }) => id !== 100))
    sweep.end(0, 3)
    expect(tailMillis()).toBeCloseTo(9000)
  })

  it("keeps all its intervals while nodes terminate or are on the page with the end of the list", () => {
    const over = [10, 60, 110, 160].map((id) => aNode({ id, status: "terminate" }))
    const watch = swept(...over, aNode({ id: 240, status: "created" }))
    const polling = after(watch, { end: { offset: 250, lastId: 250, firstId: 211 }, endMillis: watch.now() })
    expect(due(watch, polling)).toEqual({ _tag: "end", inMillis: 9000 })
  })
})

describe("before the baseline", () => {
  it("the second sweep follows the first at once, and the nodes that it lacked are read", () => {
    const watch = byHand()
    watch.sweep(...many(3))
    expect(due(watch, after(watch, { sweeps: 1 }))).toEqual({ _tag: "page", inMillis: 0 })
    watch.sweep(...many(2))
    expect(read(watch)).toMatchObject({ id: 3 })
  })
})

describe("suspects", () => {
  it("are read at once, again after the grace, and then wait for a sweep", () => {
    const watch = byHand()
    watch.baseline(...many(10))
    watch.sweep(...many(9))
    expect(read(watch)).toEqual({ id: 10, inMillis: -Infinity })
    watch.misses(10)
    expect(read(watch)).toEqual({ id: 10, inMillis: 60_000 })
    watch.pass(60_000)
    watch.misses(10)
    expect(read(watch)).toBeNull()
    expect(due(watch, after(watch), { sweepMillis: 600_000 })).toEqual({ _tag: "page", inMillis: 2000 })
  })

  it("never hold up a sweep, however many there are", () => {
    const watch = byHand()
    watch.baseline(...many(50))
    watch.sweep()
    expect(read(watch)).toMatchObject({ inMillis: -Infinity })
    expect(due(watch)).toEqual({ _tag: "page", inMillis: 9000 })
  })

  it("are not read while the share has room for the list alone", () => {
    const watch = byHand()
    watch.baseline(...many(10))
    watch.sweep(...many(9))
    expect(read(watch, after(watch), noReads, false)).toBeNull()
  })

  it("are read the last time before others are read first, and those that one list alone lacks come last", () => {
    const watch = byHand()
    watch.baseline(...many(100))
    watch.sweep(...many(98))
    watch.sweep(...many(97))
    watch.misses(100)
    watch.pass(60_000)
    expect(read(watch)).toMatchObject({ id: 100 })
    watch.misses(100)
    expect(read(watch)).toMatchObject({ id: 99 })
    watch.misses(99)
    expect(read(watch)).toMatchObject({ id: 98 })
    expect(read(watch, after(watch), noReads, true, false)?.inMillis).toBeGreaterThan(0)
  })

  it("are read before those whose last read failed, which wait longer from failure to failure", () => {
    const watch = byHand()
    watch.baseline(...many(10))
    watch.sweep(...many(8))
    const lost = { isUnreadable: false, retryAfterMillis: null }
    const once = listAnswered(failedAt(noReads, nodeId(9), watch.now(), lost))
    expect(read(watch, after(watch), once)).toMatchObject({ id: 10 })
    watch.pass(2000)
    expect(read(watch, after(watch), once)).toMatchObject({ id: 10 })
    watch.misses(10)
    expect(read(watch, after(watch), once)).toMatchObject({ id: 9 })
    const twice = listAnswered(failedAt(once, nodeId(9), watch.now(), lost))
    expect(read(watch, after(watch), twice)).toEqual({ id: 9, inMillis: 2000 })
    const asked = listAnswered(failedAt(twice, nodeId(9), watch.now(), { ...lost, retryAfterMillis: 30_000 }))
    expect(read(watch, after(watch), asked)).toEqual({ id: 9, inMillis: 30_000 })
  })

  it("are not read after two reads that failed before the list is answered again", () => {
    const watch = byHand()
    watch.baseline(...many(10))
    watch.sweep(...many(7))
    const lost = { isUnreadable: false, retryAfterMillis: null }
    const one = failedAt(noReads, nodeId(8), watch.now(), lost)
    expect(read(watch, after(watch), begun(noReads, nodeId(9)))).toMatchObject({ id: 8 })
    expect(read(watch, after(watch), begun(one, nodeId(9)))).toBeNull()
    const two = failedAt(one, nodeId(9), watch.now(), lost)
    expect(read(watch, after(watch), two)).toBeNull()
    expect(read(watch, after(watch), listAnswered(two))).toMatchObject({ id: 10 })
  })

  it("cost two reads each, however many nodes are gone at once", () => {
    const watch = byHand()
    const terminating = many(1000).map((node) => ({ ...node, status: "terminate" as const }))
    watch.baseline(...terminating)
    let reads = 0
    for (let sweeps = 0; sweeps < 4; sweeps++) {
      watch.sweep()
      watch.pass(5000)
      for (let request = read(watch); request !== null && request.inMillis <= 0; request = read(watch)) {
        reads++
        watch.misses(request.id)
      }
    }
    expect(watch.snapshot.nodes.size).toBe(0)
    expect(reads).toBe(2000)
  })

  it("that reads show and lists lack are read less and less often", () => {
    const watch = byHand()
    watch.baseline(...many(10))
    let reads = 0
    for (let seconds = 0; seconds < 3600; seconds += 10) {
      watch.pass(10_000)
      watch.sweep(...many(9))
      const request = read(watch)
      if (request !== null && request.inMillis <= 0) {
        reads++
        watch.finds(aNode({ id: 10 }))
      }
    }
    expect(reads).toBeGreaterThan(10)
    expect(reads).toBeLessThan(25)
  })
})
