import { assert, describe, it } from "@effect/vitest"
import { allowanceFrom } from "../../src/api/AllowanceHeaders.ts"
import { retryAfterMillis } from "../../src/api/RetryAfter.ts"

const now = Date.UTC(2026, 0, 1)
const headers = (reset: string) => ({
  date: new Date(now).toUTCString(),
  "ratelimit-limit": "1200",
  "ratelimit-remaining": "0",
  "ratelimit-reset": reset
})

describe("the instant at which the allowance refills", () => {
  it.each([
    ["in seconds since the epoch", String(now / 1000 + 90)],
    ["in milliseconds since the epoch", String(now + 90_000)],
    ["in seconds from now", "90"]
  ])("is read %s", (_, reset) => {
    assert.strictEqual(allowanceFrom(headers(reset), now)?.resetAt?.epochMilliseconds, now + 90_000)
    assert.strictEqual(retryAfterMillis(headers(reset), now), 90_000)
  })
})
