import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { durationText, parseDurationMillis } from "@berthkit/terminal/duration"

describe("a duration", () => {
  it.each([
    ["0s", 0],
    ["250ms", 250],
    ["1.5s", 1500],
    ["1.005s", 1005],
    ["90s", 90_000],
    ["5m", 300_000],
    ["1h30m", 5_400_000],
    ["24h", 86_400_000],
    ["1d12h", 129_600_000]
  ])("%s is %i ms", (text, millis) => {
    assert.deepStrictEqual(parseDurationMillis(text), Option.some(millis))
  })

  it.each(["", "5", "s", "-5s", "5 m", "1e3s", "1w", "1.s", "m5", "1mss"])("%j is none", (text) => {
    assert.deepStrictEqual(parseDurationMillis(text), Option.none())
  })

  it.each([
    [0, "0ms"],
    [100, "100ms"],
    [1500, "1500ms"],
    [90_000, "90s"],
    [86_400_000, "1d"]
  ])("of %i ms is written %s", (millis, text) => {
    assert.strictEqual(durationText(millis), text)
  })
})
