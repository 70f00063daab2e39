import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { decide, type Decision, fullBudget, refilled, type Situation } from "../../../src/client/call/Retry.ts"
import { maxAllowedAttempts as maxAttempts } from "../../../src/client/options/OptionCheck.ts"
import {
  CircuitOpen,
  Conflict,
  type ErrorReason,
  InvalidRequest,
  NodeNotFound,
  RateLimited,
  ServiceFault,
  ServiceUnavailable,
  TimedOut,
  UnexpectedResponse,
  Unreachable,
  WouldExceedDeadline
} from "../../../src/domain/ErrorReason.ts"
import { NodeId } from "../../../src/domain/Node.ts"

const throttled = (retryAfterMillis: number | null = null) => new RateLimited({ retryAfterMillis })
const unavailable = (retryAfterMillis: number | null = null) =>
  new ServiceUnavailable({ status: 503, detail: "", retryAfterMillis })
const fault = new ServiceFault({ status: 500, detail: "", retryAfterMillis: null })
const unreachable = (sent: "no" | "maybe" | "yes") => new Unreachable({ sent, detail: "" })
const timedOut = (limit: "attempt" | "deadline", sent: "no" | "maybe" | "yes") =>
  new TimedOut({ limit, afterMillis: 15_000, sent })

/** The first failure of a call that may be sent again, with a full budget; `over` overrides it. */
const decided = (over: Partial<Situation> = {}) =>
  decide({
    reason: unavailable(),
    repeatable: "idempotent",
    attempts: 1,
    maxAttempts,
    budget: fullBudget,
    leftMillis: 60_000,
    draw: 0.5,
    ...over
  })

const transient: ReadonlyArray<ErrorReason> = [
  unreachable("no"),
  unreachable("maybe"),
  unreachable("yes"),
  timedOut("attempt", "maybe"),
  timedOut("attempt", "yes"),
  unavailable(),
  fault,
  throttled()
]
const lasting: ReadonlyArray<ErrorReason> = [
  timedOut("deadline", "maybe"),
  new WouldExceedDeadline({ predictedMillis: 2, leftMillis: 1, heldBack: null }),
  new CircuitOpen({ retryAfterMillis: 1 }),
  new NodeNotFound({ nodeId: NodeId.make(7) }),
  new Conflict({ detail: "" }),
  new InvalidRequest({ status: 400, detail: "", fields: {} }),
  new UnexpectedResponse({ status: 200, path: "", expected: "", excerpt: "" })
]

const named = (reason: ErrorReason) => JSON.stringify(reason)

describe("a failed attempt that may be sent twice", () => {
  it("is followed by another when its failure is transient", () => {
    for (const reason of transient) assert.strictEqual(decided({ reason })._tag, "Again", named(reason))
  })

  it("is the last when its failure is permanent, or ends the call", () => {
    for (const reason of lasting) assert.strictEqual(decided({ reason })._tag, "GiveUp", named(reason))
  })

  it("is the last when the caller retries by itself", () => {
    for (const reason of transient) assert.strictEqual(decided({ reason, repeatable: "never" })._tag, "GiveUp")
  })

  it("is the last when it is the eighth, or that of a lower maximum", () => {
    assert.strictEqual(maxAttempts, 8)
    for (const attempts of [1, 2, 7]) assert.strictEqual(decided({ attempts })._tag, "Again")
    for (const attempts of [8, 9]) assert.strictEqual(decided({ attempts })._tag, "GiveUp")
    assert.strictEqual(decided({ attempts: 2, maxAttempts: 3 })._tag, "Again")
    assert.strictEqual(decided({ attempts: 3, maxAttempts: 3 })._tag, "GiveUp")
  })
})

describe("a failed attempt of a create", () => {
  it("is followed by another only where it was certainly not processed", () => {
    const again = transient.filter((reason) => decided({ reason, repeatable: "once" })._tag === "Again")
    assert.deepStrictEqual(again.map(named), [unreachable("no")].map(named))
    const notSent = timedOut("attempt", "no")
    assert.strictEqual(decided({ reason: notSent, repeatable: "once" })._tag, "Again")
  })
})

describe("the wait before the next attempt", () => {
  const base = (reason: ErrorReason) => (reason._tag === "RateLimited" ? 1000 : 100)

  it("is drawn from half the base to all of it, doubled with every attempt up to 20 s, ten times longer when throttled", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...transient),
        fc.integer({ min: 1, max: 7 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (reason, attempts, draw) => {
          const decision = decided({ reason, attempts, draw })
          if (decision._tag !== "Again") return assert.fail(decision._tag)
          const whole = Math.min(20_000, base(reason) * 2 ** (attempts - 1))
          assert.approximately(decision.delayMillis, (whole * (1 + draw)) / 2, 1e-9)
        }
      )
    )
  })

  it("adds up to more than 5 s over the attempts of a call, for any jitter, so that a service can restart", () => {
    for (const reason of transient) {
      let total = 0
      for (let attempts = 1; attempts < maxAttempts; attempts++) {
        const decision = decided({ reason, attempts, draw: 0 })
        total += decision._tag === "Again" ? decision.delayMillis : assert.fail(decision._tag)
      }
      assert.isAbove(total, 5000)
      assert.isBelow(total, 60_000, "the default deadline holds them")
    }
  })

  it("is the one that the service asks for where that is longer, for any jitter", () => {
    for (const reason of [unavailable(30_000), throttled(30_000)]) {
      assert.deepInclude(decided({ reason, draw: 0 }), { _tag: "Again", delayMillis: 30_000 })
    }
    assert.deepInclude(decided({ reason: throttled(1), draw: 0.5 }), { delayMillis: 750 })
    assert.deepInclude(decided({ reason: throttled(0), draw: 0.5 }), { delayMillis: 750 })
  })

  it("does not happen when the service asks for more than 120 s, for any deadline", () => {
    const leftMillis = 3_600_000
    assert.deepInclude(decided({ reason: throttled(120_000), leftMillis }), { _tag: "Again", delayMillis: 120_000 })
    assert.strictEqual(decided({ reason: throttled(120_001), leftMillis })._tag, "GiveUp")
    assert.strictEqual(decided({ reason: unavailable(120_001), leftMillis })._tag, "GiveUp")
  })

  it("does not begin when the deadline comes first", () => {
    assert.strictEqual(decided({ reason: throttled(30_000), leftMillis: 30_001 })._tag, "Again")
    assert.strictEqual(decided({ reason: throttled(30_000), leftMillis: 30_000 })._tag, "GiveUp")
    assert.strictEqual(decided({ leftMillis: 76, draw: 0.5 })._tag, "Again")
    assert.strictEqual(decided({ leftMillis: 75, draw: 0.5 })._tag, "GiveUp")
    assert.strictEqual(decided({ leftMillis: 75, draw: 0.5, budget: 0 })._tag, "GiveUp")
  })
})

describe("the budget of retries", () => {
  it("is 500 tokens, of which a retry costs 14, and 5 when throttled", () => {
    assert.strictEqual(fullBudget, 500)
    for (const reason of transient) {
      const cost = reason._tag === "RateLimited" ? 5 : 14
      assert.deepInclude(decided({ reason }), { _tag: "Again", cost })
    }
  })

  it("refills with time: twenty transient retries a second, up to the whole", () => {
    assert.approximately(refilled(0, 1000), 20 * 14, 1e-9)
    assert.approximately(refilled(-140, 500), 0, 1e-9)
    assert.strictEqual(refilled(400, 1000), fullBudget)
  })

  it("when empty makes a retry wait for its turn, and not fail", () => {
    const { delayMillis: first } = decided({ budget: 0 }) as Extract<Decision, { readonly _tag: "Again" }>
    assert.approximately(first, 75, 1e-9, "its own pause is longer")
    const { delayMillis: hundredth } = decided({ budget: -14 * 99 }) as Extract<Decision, { readonly _tag: "Again" }>
    assert.approximately(hundredth, 5000, 1e-9)
  })

  it("when empty spreads the calls that the service asks to come back at one instant", () => {
    assert.deepInclude(decided({ reason: unavailable(7000), budget: 14 }), { _tag: "Again", delayMillis: 7000 })
    const { delayMillis } = decided({ reason: unavailable(7000), budget: -14 }) as Extract<
      Decision,
      { readonly _tag: "Again" }
    >
    assert.approximately(delayMillis, 7100, 1e-9)
  })

  it("makes the caller wait and then fail if its turn comes after the deadline", () => {
    assert.deepStrictEqual(decided({ budget: -14 * 1999, attempts: 2, leftMillis: 60_000 }), {
      _tag: "GiveUpAfter",
      delayMillis: 150
    })
  })
})
