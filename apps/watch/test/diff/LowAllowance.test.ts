import { describe, expect, it } from "@effect/vitest"
import { DateTime } from "effect"
import { afterAllowance, type AllowanceRead, neverLow } from "../../src/diff/LowAllowance.ts"

const minute = 60_000
const hour = 60 * minute

/** An allowance of 1200 an hour, of which the daemon uses 440, and half an hour until it refills. */
const read = (over: Partial<AllowanceRead>): AllowanceRead => ({
  limit: 1200,
  remaining: 800,
  resetMillis: 30 * minute,
  ownPerHour: 440,
  ownLeft: 280,
  atMillis: 0,
  ...over
})

/** The facts that these reads prove, one after the other. */
const reports = (...reads: ReadonlyArray<Partial<AllowanceRead>>) => {
  let known = neverLow
  return reads.map((each) => {
    const next = afterAllowance(known, read(each))
    known = next.known
    return next.facts.length
  })
}

describe("the allowance", () => {
  it("is low when a tenth of it is left", () => {
    expect(reports({ remaining: 121, ownPerHour: 0 })).toEqual([0])
    expect(afterAllowance(neverLow, read({ remaining: 120, ownPerHour: 0 })).facts).toEqual([
      {
        identity: { nodeId: null, incarnation: null, life: null, version: "1" },
        atMillis: 0,
        type: "berth.allowance.low",
        data: { limit: 1200, remaining: 120, resetsAt: DateTime.makeUnsafe(30 * minute) }
      }
    ])
    expect(reports({ remaining: 120, resetMillis: null })).toEqual([1])
  })

  it("is low when the daemon itself would use it up before it refills", () => {
    expect(reports({ remaining: 220 })).toEqual([0])
    expect(reports({ remaining: 219 })).toEqual([1])
    // The daemon does not send requests for which its share has no room.
    expect(reports({ remaining: 219, ownLeft: 200 })).toEqual([0])
    expect(reports({ remaining: 700, resetMillis: 2 * hour })).toEqual([1])
  })

  it("is reported once in a window, however it goes up and down", () => {
    expect(
      reports(
        { remaining: 100 },
        { remaining: 90, atMillis: minute },
        { remaining: 1200, atMillis: 2 * minute },
        { remaining: 50, atMillis: 3 * minute },
        { remaining: 40, atMillis: 31 * minute, resetMillis: 90 * minute }
      )
    ).toEqual([1, 0, 0, 0, 0])
  })

  it("is reported again in a later window, once it has been well above the limit", () => {
    const later = { resetMillis: 90 * minute, ownPerHour: 0 }
    expect(
      reports(
        { remaining: 100 },
        { ...later, remaining: 240, atMillis: 31 * minute },
        { ...later, remaining: 100, atMillis: 32 * minute },
        { ...later, remaining: 241, atMillis: 33 * minute },
        { ...later, remaining: 100, atMillis: 34 * minute }
      )
    ).toEqual([1, 0, 0, 0, 1])
  })

  it("is not waited for longer than a day, whatever reset is reported", () => {
    const { known } = afterAllowance(neverLow, read({ remaining: 0, resetMillis: 1e15 }))
    expect(known).toEqual({ times: 1, untilMillis: 24 * hour })
  })
})
