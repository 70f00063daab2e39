/** When a leased node should be deleted. */
import { Option, Schema } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { chargedSoFar, kept, Lease, newLease, paidMillisLeft, standingOf, takenOver } from "../../src/leases/Lease.ts"

const minute = 60_000
const hour = 60 * minute

const at = (bootMillis: number, wallMillis = bootMillis) => ({ wallMillis, bootMillis, bootClock: "boot" })
const owner = { machine: "boot", namespace: "pids", pid: 7, startTime: "9" }
const order = { key: "run-1", name: "run-a", plan: "P", image: "I", order: "digest", ttlMillis: 20 * minute }
const lease = newLease(order, owner, at(0))
const parse = Schema.decodeUnknownOption(Schema.fromJsonString(Lease))

describe("the lease of a run", () => {
  it("is held while its process lives, and where that is not known", () => {
    expect(standingOf(lease, true, at(minute))).toBe("held")
    expect(standingOf(lease, undefined, at(minute))).toBe("held")
  })

  it("is due as soon as its process has ended", () => {
    expect(standingOf(lease, false, at(1))).toBe("due")
  })

  it("is due when its time is over, whoever holds it", () => {
    expect(standingOf(lease, true, at(20 * minute - 1))).toBe("held")
    expect(standingOf(lease, true, at(20 * minute))).toBe("due")
    expect(standingOf(lease, undefined, at(20 * minute))).toBe("due")
  })

  it("does not end by a step of the wall clock", () => {
    expect(standingOf(lease, true, at(minute, 100 * hour))).toBe("held")
  })

  it.each([undefined, true])(
    "is held on another boot until its time is over even if one wall clock is 15 minutes ahead: alive %s",
    (alive) => {
      const elsewhere = (wallMillis: number, bootClock: string | null) => ({ wallMillis, bootMillis: hour, bootClock })
      for (const clock of ["another boot", null]) {
        expect(standingOf(lease, alive, elsewhere(35 * minute - 1, clock))).toBe("held")
        expect(standingOf(lease, alive, elsewhere(35 * minute, clock))).toBe("due")
        expect(standingOf(lease, false, elsewhere(0, clock))).toBe("due")
      }
    }
  )

  it("is read as it was written", () => {
    expect(parse(JSON.stringify(lease))).toEqual(Option.some(lease))
  })

  it.each(["", "{", "null", "{}", JSON.stringify({ ...lease, version: 2 }), JSON.stringify({ ...lease, key: "../x" })])(
    "is none where the record is %s",
    (text) => expect(Option.isNone(parse(text))).toBe(true)
  )
})

describe("a kept node", () => {
  it("is due once its delete may have been sent", () => {
    expect(standingOf({ ...kept(lease, at(minute)), isEnding: true }, true, at(minute))).toBe("due")
  })

  const waiting = kept(lease, at(5 * minute))

  it("waits until the hour that is paid for is over, though its process has ended", () => {
    expect(standingOf(waiting, false, at(hour - 1))).toBe("kept")
    expect(standingOf(waiting, false, at(hour))).toBe("due")
  })

  it("is due earlier with --within, if its hour ends soon", () => {
    expect(standingOf(waiting, false, at(50 * minute - 1), 10 * minute)).toBe("kept")
    expect(standingOf(waiting, false, at(50 * minute), 10 * minute)).toBe("due")
  })

  it("that was used in its second hour waits until that is over", () => {
    expect(standingOf(kept(lease, at(hour + 1)), false, at(2 * hour - 1))).toBe("kept")
  })

  it("is held by the run that takes it, for the time of that run", () => {
    const taken = takenOver(waiting, 90 * minute, { ...owner, pid: 8 }, at(30 * minute))
    expect(standingOf(taken, true, at(110 * minute))).toBe("held")
    expect(standingOf(taken, false, at(31 * minute))).toBe("due")
  })

  it("never has more than an hour left, nor none at the moment it is let go", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100 * hour }), (used) => {
        const left = paidMillisLeft(kept(lease, at(used)), at(used))
        expect(left).toBeGreaterThanOrEqual(0)
        expect(left).toBeLessThanOrEqual(hour)
        expect((used + left) % hour).toBe(0)
      })
    )
  })
})

describe("what is charged for a node", () => {
  const priced = { ...lease, price: { perHourInr: 5, minimumInr: 12 } }

  it.each([
    [1, 12, true],
    [2 * hour, 12, true],
    [2 * hour + 1, 15, false]
  ])("after %i ms is ₹%i", (used, amountInr, isMinimum) => {
    expect(chargedSoFar(priced, at(used))).toEqual({ amountInr, isMinimum })
  })

  it("is not known without a price", () => expect(chargedSoFar(lease, at(hour))).toBeUndefined())
})
