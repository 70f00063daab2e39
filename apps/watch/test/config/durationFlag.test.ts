import { expect, it } from "@effect/vitest"
import { Option } from "effect"
import { parseDuration } from "../../src/config/durationFlag.ts"

it.each([
  ["500ms", 500],
  ["30s", 30_000],
  ["1.5s", 1500],
  ["5m", 300_000],
  ["24h", 86_400_000]
])("%s is %i milliseconds", (text, millis) => {
  expect(parseDuration(text, 0)).toEqual(Option.some(millis))
})

it.each(["", "30", "s", "-1s", "1 s", "1d", "1e3s", "25h", "99ms"])("%j is no duration from 100ms to 24h", (text) => {
  expect(parseDuration(text, 100)).toEqual(Option.none())
})
