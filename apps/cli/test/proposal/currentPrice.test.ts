import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ensurePeriodNotAbove } from "../../src/proposal/currentPrice.ts"

const rupees = { priceInr: 1000, foreignPrice: null }
const dollars = { priceInr: null, foreignPrice: { currency: "USD", amount: 12 } }
const unknown = { priceInr: null, foreignPrice: null }

describe("the price of a committed period", () => {
  for (const [shown, now, message] of [
    [rupees, dollars, "The price is $12.00 now, and ₹1000.00 was shown: nothing was bought."],
    [dollars, rupees, "The price is ₹1000.00 now, and $12.00 was shown: nothing was bought."],
    [dollars, unknown, "The price is not known now, and $12.00 was shown: nothing was bought."],
    [rupees, unknown, "The price is not known now, and ₹1000.00 was shown: nothing was bought."]
  ] as const) {
    it.effect(`is not paid if it is another one: ${message}`, () =>
      Effect.gen(function* () {
        const failure = yield* Effect.flip(ensurePeriodNotAbove("The price", shown, now))
        assert.strictEqual(failure.message, message)
      })
    )
  }

  it.effect("is paid if it is the same or lower", () =>
    Effect.all([
      ensurePeriodNotAbove("The price", rupees, { ...rupees, priceInr: 900 }),
      ensurePeriodNotAbove("The price", dollars, dollars)
    ])
  )
})
