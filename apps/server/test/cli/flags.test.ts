import { describe, expect, it } from "@effect/vitest"
import { Option, Redacted, Schema } from "effect"
import { readAccount } from "../../src/cli/flags.ts"
import { readDurationMillis } from "../../src/lifecycle/timeText.ts"
import { readRateLimit, WorldOptions } from "../../src/world/WorldOptions.ts"

const readClock = Schema.decodeUnknownOption(WorldOptions.fields.clock)
const readScenario = Schema.decodeUnknownOption(WorldOptions.fields.scenario)

const table = <A>(read: (text: string) => Option.Option<A>, texts: ReadonlyArray<string>) =>
  texts.map((text) => Option.getOrUndefined(read(text)))
const nothing = (length: number) => Array.from({ length }, () => undefined)

describe("the values of flags", () => {
  it("a duration is short or Effect's, a whole number of milliseconds, at least 0 and at most 10 years", () => {
    expect(
      table(readDurationMillis, [
        "10s",
        "5m",
        "1h",
        "250ms",
        "1d",
        "0s",
        "1h30m",
        "1.5s",
        "10 seconds",
        "1.5 seconds",
        "1 hour"
      ])
    ).toEqual([10_000, 300_000, 3_600_000, 250, 86_400_000, 0, 5_400_000, 1_500, 10_000, 1_500, 3_600_000])
    const wrong = ["", "10", "s", "-1s", "1.5ms", "10 s", "10S", " 10s", "Infinity", "-1 seconds", "1 micros", "99999d"]
    expect(table(readDurationMillis, wrong)).toEqual(nothing(wrong.length))
  })

  it("a rate limit is requests per window, both at least 1", () => {
    expect(table(readRateLimit, ["1200/1h", "1/1ms", "5/10 seconds"])).toEqual([
      { limit: 1200, window: 3_600_000 },
      { limit: 1, window: 1 },
      { limit: 5, window: 10_000 }
    ])
    const wrong = ["", "1200", "/1h", "0/1h", "-1/1h", "1.5/1h", "1200/", "1200/0s", "1200/1h/1h", "01/1h"]
    expect(table(readRateLimit, wrong)).toEqual(nothing(wrong.length))
  })

  it("a clock is real, frozen, or a factor of at least 1", () => {
    expect(table(readClock, ["real", "frozen", "x60", "x1", "x1.5"])).toEqual([
      "real",
      "frozen",
      { times: 60 },
      { times: 1 },
      { times: 1.5 }
    ])
    const wrong = ["", "x", "x0", "x0.5", "x-1", "60", "X60", "x60x", "xInfinity", "x1e3", "Real"]
    expect(table(readClock, wrong)).toEqual(nothing(wrong.length))
  })

  it("a scenario is empty, small, or a fleet of a size there is room for", () => {
    expect(table(readScenario, ["empty", "small", "fleet:0", "fleet:1000000"])).toEqual([
      "empty",
      "small",
      { fleet: 0 },
      { fleet: 1_000_000 }
    ])
    const wrong = ["", "fleet", "fleet:", "fleet:-1", "fleet:1.5", "fleet:5000001", "large"]
    expect(table(readScenario, wrong)).toEqual(nothing(wrong.length))
  })

  it("an account is divided by its first colon, and is of characters that fit into a header", () => {
    const account = Option.getOrThrow(readAccount("key:to:ken"))
    expect([Redacted.value(account.apiKey), Redacted.value(account.accessToken)]).toEqual(["key", "to:ken"])
    const wrong = ["", ":", "key", "key:", ":token", "k ey:token", "key:tok\nen", "kéy:token"]
    expect(table(readAccount, wrong)).toEqual(nothing(wrong.length))
  })
})
