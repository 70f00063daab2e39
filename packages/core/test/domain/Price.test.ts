import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import type { CommittedOption } from "../../src/domain/Commitment.ts"
import type { Image } from "../../src/domain/Image.ts"
import { shareInr, sumInr, timesInr } from "../../src/domain/Money.ts"
import { fromImages } from "../../src/domain/Plan.ts"
import { priceList, sumOfPrices } from "../../src/domain/Price.ts"

interface Stated {
  readonly plan: string
  readonly image: string
  readonly perHour: number | null
  readonly id?: string
  readonly name?: string
  readonly options?: ReadonlyArray<Pick<CommittedOption, "skuId" | "days" | "priceInr">>
}

const record = ({ id, image, name = image, options = [], perHour, plan }: Stated): Image => ({
  name,
  image,
  plan,
  os: { name: image, version: null, image: id ?? null },
  zone: "ncr",
  sku: null,
  available: null,
  specs: {
    vcpus: 2,
    memoryMib: 4096,
    diskGb: 40,
    series: "A",
    pricePerHourInr: perHour,
    pricePerMonthInr: perHour === null ? null : timesInr(perHour, 730),
    minimumBillingInr: null,
    foreignPrice: null,
    committedOptions: options.map((option) => ({ name: "", message: "", until: "", foreignPrice: null, ...option }))
  },
  extra: {}
})

const ubuntu = record({ plan: "p", image: "Ubuntu", id: "1", perHour: 6.46 })
const windows = record({ plan: "p", image: "Windows", id: "2", name: "Windows Server", perHour: 20.5 })

describe("the price of an order", () => {
  const prices = priceList([ubuntu, windows])
  const hourly = (image: string | number) => prices.ofOrder({ plan: "p", image }).price.pricePerHourInr

  it("is that of plan and image together, by slug, id or name", () => {
    assert.deepStrictEqual(
      ["Ubuntu", "Windows", "Windows Server", "2", 2, 1].map((image) => hourly(image)),
      [6.46, 20.5, 20.5, 20.5, 20.5, 6.46]
    )
  })

  it("is not known of an image that the plan is not listed with", () => {
    assert.isNull(hourly("Debian"))
    assert.isNull(hourly(3))
    assert.isNull(priceList([ubuntu]).ofOrder({ plan: "q", image: "Ubuntu" }).price.maxPricePerHourInr)
  })

  it("is within bounds where records of the same plan and image differ, and not known where one states none", () => {
    const other = record({ plan: "p", image: "Ubuntu", perHour: 9 })
    assert.deepInclude(priceList([other, ubuntu]).ofOrder({ plan: "p", image: "Ubuntu" }).price, {
      pricePerHourInr: null,
      minPricePerHourInr: 6.46,
      maxPricePerHourInr: 9
    })
    const unpriced = record({ plan: "p", image: "Ubuntu", perHour: null })
    const { price } = priceList([ubuntu, unpriced]).ofOrder({ plan: "p", image: "Ubuntu" })
    assert.deepInclude(price, { pricePerHourInr: null, minPricePerHourInr: null, maxPricePerHourInr: null })
  })

  it("of a committed option is that with the image, and not known where it is listed at several", () => {
    const option = (priceInr: number | null) => ({ skuId: 7, days: 30, priceInr })
    const offers = [
      record({ plan: "p", image: "Ubuntu", perHour: 6.46, options: [option(4000)] }),
      record({ plan: "p", image: "Windows", perHour: 20.5, options: [option(13_000), option(13_000)] }),
      record({ plan: "p", image: "Debian", perHour: 6.46, options: [option(4000), option(4100)] })
    ]
    const committed = (image: string) =>
      priceList(offers)
        .ofOrder({ plan: "p", image })
        .committedOptions.map(({ priceInr }) => priceInr)
    assert.deepStrictEqual(["Ubuntu", "Windows", "Debian"].map(committed), [[4000], [13_000], [null]])
    assert.deepStrictEqual(
      fromImages(offers)[0]!.committedOptions.map(({ breakEvenDays, images, priceInr }) => [
        priceInr,
        breakEvenDays,
        images
      ]),
      [
        [4000, 25.8, ["Ubuntu"]],
        [13_000, 26.4, ["Windows"]],
        [null, null, ["Debian"]]
      ]
    )
  })
})

describe("the price of a plan", () => {
  it("is known where all images have the same, and lists which image has which", () => {
    const [plan] = fromImages([ubuntu, windows, record({ plan: "p", image: "Debian", perHour: 6.46 })])
    assert.deepInclude(plan, { pricePerHourInr: null, minPricePerHourInr: 6.46, maxPricePerHourInr: 20.5 })
    assert.deepStrictEqual(
      plan!.prices.map(({ images, pricePerHourInr }) => [images, pricePerHourInr]),
      [
        [["Ubuntu", "Debian"], 6.46],
        [["Windows"], 20.5]
      ]
    )
    assert.strictEqual(fromImages([ubuntu])[0]!.pricePerHourInr, 6.46)
  })
})

describe("money", () => {
  it("adds up without an error, in any order and number", () => {
    assert.strictEqual(sumInr([0.1, 0.2]), 0.3)
    assert.strictEqual(sumInr(Array.from({ length: 1000 }, () => 0.0049)), 4.9)
    assert.strictEqual(timesInr(6.46, 730), 4715.8)
  })

  it("that is divided is rounded up to the paisa, so that a limit is not passed", () => {
    assert.strictEqual(shareInr(7.2, 720), 0.01)
    assert.strictEqual(shareInr(0.001, 720), 0.01)
    assert.strictEqual(shareInr(4651.2, 720), 6.46)
    assert.strictEqual(shareInr(4651.3, 720), 6.47)
  })
})

describe("over any catalogue", () => {
  const amount = fc.option(fc.constantFrom(0, 0.1, 0.2, 6.46, 12.92, 20.5, 1_000_000_000), { freq: 4 })
  const stated = fc.record({
    plan: fc.constantFrom("p", "q"),
    image: fc.constantFrom("Ubuntu", "Windows", "Debian"),
    perHour: amount
  })
  const catalogue = fc.array(stated, { maxLength: 12 })

  /** Nodes, each with the record by which the service bills it. This can be any record with the node's plan and image. */
  const billed = catalogue.chain((list) =>
    fc.record({
      list: fc.constant(list),
      bills: fc.array(fc.record({ by: fc.nat(Math.max(0, list.length - 1)), isImageKnown: fc.boolean() }), {
        maxLength: list.length === 0 ? 0 : 10
      })
    })
  )

  it("what is shown, summed and limited holds for whichever record the service bills by", () => {
    fc.assert(
      fc.property(billed, ({ bills, list }) => {
        const prices = priceList(list.map(record))
        const each = bills.map(({ by, isImageKnown }) => {
          const { image, plan } = list[by]!
          const { price } = isImageKnown ? prices.ofOrder({ plan, image }) : prices.ofNode({ plan, image: null })
          return { price, truth: list[by]!.perHour }
        })
        for (const { price, truth } of each) {
          if (truth === null) assert.deepStrictEqual([price.pricePerHourInr, price.maxPricePerHourInr], [null, null])
          if (price.pricePerHourInr !== null) assert.strictEqual(price.pricePerHourInr, truth)
          if (price.maxPricePerHourInr !== null) assert.isAtMost(truth!, price.maxPricePerHourInr)
        }
        const total = sumOfPrices(each.map(({ price }) => price))
        const truth = sumInr(each.map((one) => one.truth ?? 0))
        if (total.pricePerHourInr !== null) assert.strictEqual(total.pricePerHourInr, truth)
        if (total.maxPricePerHourInr !== null) assert.isAtMost(truth, total.maxPricePerHourInr)
        if (total.minPricePerHourInr !== null) assert.isAtLeast(truth, total.minPricePerHourInr)
        if (each.some((one) => one.truth === null)) assert.isNull(total.pricePerHourInr)
      }),
      { seed: 20_261_123, numRuns: 500 }
    )
  })

  it("nothing depends on the order or the repetition of the records", () => {
    const shuffled = catalogue.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray([...list, ...list], { minLength: 2 * list.length }))
    )
    fc.assert(
      fc.property(shuffled, ([list, other]) => {
        const [prices, again] = [list, other].map((one) => priceList(one.map(record)))
        for (const { image, plan } of list) {
          assert.deepStrictEqual(prices!.ofOrder({ plan, image }).price, again!.ofOrder({ plan, image }).price)
          assert.deepStrictEqual(
            prices!.ofNode({ plan, image: null }).price,
            again!.ofNode({ plan, image: null }).price
          )
        }
      }),
      { seed: 20_261_124, numRuns: 300 }
    )
  })
})

describe("the price of a plan in another currency", () => {
  const foreign = (perHour: number): Image => {
    const image = record({ plan: "p", image: "Ubuntu", perHour: null })
    return { ...image, specs: { ...image.specs, foreignPrice: { currency: "USD", perHour, perMonth: null } } }
  }

  it("is that of all its records, and never one in rupees", () => {
    const [plan] = fromImages([foreign(0.04), foreign(0.04)])
    assert.deepInclude(plan, {
      foreignPrice: { currency: "USD", perHour: 0.04, perMonth: null },
      pricePerHourInr: null
    })
  })

  for (const [what, other] of [
    ["differ", foreign(0.05)],
    ["are in rupees", ubuntu]
  ] as const) {
    it(`is not known where others ${what}`, () => {
      for (const records of [
        [foreign(0.04), other],
        [other, foreign(0.04)]
      ]) {
        const [plan] = fromImages(records)
        assert.deepInclude(plan, { foreignPrice: null, pricePerHourInr: null, minPricePerHourInr: null })
      }
    })
  }
})
