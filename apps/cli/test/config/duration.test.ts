import { assert, describe, it } from "@effect/vitest"
import { Duration, Option } from "effect"
import { parseDuration } from "../../src/config/duration.ts"

describe("a duration", () => {
  it.each([
    ["90s", 90_000],
    ["5m", 300_000],
    ["1h30m", 5_400_000],
    ["250ms", 250],
    ["1.5s", 1500],
    ["5", undefined],
    ["0s", undefined],
    ["-5s", undefined],
    ["5 m", undefined],
    ["", undefined]
  ])("%s is %s ms", (text, millis) => {
    assert.strictEqual(Option.getOrUndefined(Option.map(parseDuration(text), Duration.toMillis)), millis)
  })
})
