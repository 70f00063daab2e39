import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import { allowanceFrom } from "../../src/api/AllowanceHeaders.ts"
import { unreadable } from "../../src/api/fields/Field.ts"
import { priceInr } from "../../src/api/fields/Price.ts"
import { retryAfterMillis } from "../../src/api/RetryAfter.ts"

describe("a price", () => {
  for (const [wire, rupees] of [
    [3.5, 3.5],
    ["3467.50", 3467.5],
    ["1,234.50", 1234.5],
    ["1,23,456", 123_456],
    ["₹ 12", 12],
    ["Rs. 3.5/Hr", 3.5]
  ] as const) {
    it(`${wire} is ${rupees} rupees`, () => assert.strictEqual(priceInr(wire), rupees))
  }
  for (const wire of ["1e5", "1.234,56", "12-15", "1 234.50", "0x10", "-5", "free", "", null, {}]) {
    it(`${JSON.stringify(wire)} is unreadable, not some other price`, () =>
      assert.strictEqual(priceInr(wire), unreadable))
  }
})

describe("the allowance in the headers", () => {
  const headers = { "ratelimit-limit": "1200", "ratelimit-remaining": "7" }
  const now = 1_790_000_000_000
  const resetAt = (reset: string) => {
    const allowance = allowanceFrom({ ...headers, "ratelimit-reset": reset }, now)
    return allowance?.resetAt === null || allowance === null ? null : DateTime.toEpochMillis(allowance.resetAt)
  }

  it("resets at an epoch, or below 10⁹ so many seconds from now", () => {
    assert.strictEqual(resetAt("1790000060"), now + 60_000)
    assert.strictEqual(resetAt("60"), now + 60_000)
    assert.isNull(resetAt("soon"))
  })
  it("is nothing without its numbers", () => assert.isNull(allowanceFrom({ "ratelimit-limit": "1200" }, now)))
})

describe("Retry-After", () => {
  it("in fractions of a second is never cut short", () =>
    assert.strictEqual(retryAfterMillis({ "retry-after": "0.5" }, 0), 1000))
  it("as a date is counted on the service's clock", () => {
    const headers = { date: "Fri, 20 Nov 2026 10:00:00 GMT", "retry-after": "Fri, 20 Nov 2026 10:00:30 GMT" }
    assert.strictEqual(retryAfterMillis(headers, 0), 30_000)
  })
})
