import { describe, expect, it } from "@effect/vitest"
import type { Image } from "@berthkit/core/domain/Image"
import { DateTime } from "effect"
import { offeredBy } from "../../../src/diff/catalogue/Catalogue.ts"
import { anImage, aPlan, aPlanWith, readAt } from "./reading.ts"
import { watching, watchingFrom } from "./watching.ts"

const plans = ["a", "b", "c", "d", "e", "f", "g", "h"].map((name) => aPlan(name))
const without = (...names: ReadonlyArray<string>) => plans.filter(({ plan }) => !names.includes(plan))

describe("the list of images", () => {
  const offer = (image: string, plan: string, pricePerMonthInr: number | null): Image => ({
    ...anImage(image),
    plan,
    zone: null,
    sku: null,
    available: null,
    specs: {
      vcpus: 1,
      memoryMib: 1024,
      diskGb: 15,
      series: "A",
      pricePerHourInr: pricePerMonthInr === null ? null : pricePerMonthInr / 730,
      pricePerMonthInr,
      minimumBillingInr: null,
      foreignPrice: null,
      committedOptions: []
    },
    extra: {}
  })

  it("comes to each image, and each plan with the price of each of its images, whatever its order", () => {
    const list = [
      offer("a", "small", 800),
      offer("b", "small", 730),
      offer("a", "large", null),
      offer("b", "large", 900),
      offer("a", "one", 5),
      offer("b", "one", 5)
    ]
    for (const each of [list, list.toReversed()]) {
      const { images, plans } = offeredBy(each)
      expect(images.map(({ image }) => image).toSorted()).toEqual(["a", "b"])
      const perMonth = plans.map(({ maxPricePerMonthInr, minPricePerMonthInr, plan, pricePerMonthInr, prices }) => [
        plan,
        [pricePerMonthInr, minPricePerMonthInr, maxPricePerMonthInr],
        prices.map(({ images, pricePerMonthInr }) => [images, pricePerMonthInr])
      ])
      expect(Object.fromEntries(perMonth.map(([plan, ...rest]) => [plan, rest]))).toEqual({
        small: [
          [null, 730, 800],
          [
            [["a"], 800],
            [["b"], 730]
          ]
        ],
        large: [
          [null, null, null],
          [
            [["a"], null],
            [["b"], 900]
          ]
        ],
        one: [[5, 5, 5], [[["a", "b"], 5]]]
      })
    }
  })
})

describe("the catalogue", () => {
  it("is known with the prices that two of the first reads showed, and keeps those that one leaves out", () => {
    const watch = watching()
    watch.read(0, [aPlan("a", 100), aPlan("b", 100)])
    watch.read(10, [aPlan("a", 700), aPlan("b", null)])
    watch.read(20, [aPlan("a", 100), aPlan("b", null)])
    expect(watch.known().isBaseline).toBe(false)
    watch.read(30, [aPlan("a", 100), aPlan("b", 100)])
    expect(watch.known().isBaseline).toBe(true)
    expect([...watch.read(40, [aPlan("a", 100), aPlan("b", 100)]), ...watch.read(60, [aPlan("a", 100)])]).toEqual([])
    expect(watch.known().plans.map(({ item }) => item.pricePerMonthInr)).toEqual([100, 100])
  })

  it("is known silently at first, all of it that any of the first reads showed", () => {
    const watch = watching()
    expect(watch.read(0, without("a", "b", "c", "d"))).toEqual([])
    expect(watch.read(10, plans)).toEqual([])
    expect(watch.known().isBaseline).toBe(false)
    expect(watch.read(20, without("a"))).toEqual([])
    expect(watch.known().isBaseline).toBe(true)
    expect(watch.read(30, plans)).toEqual([])
    expect(watch.read(60, plans)).toEqual([])
  })

  it("reports an addition once two reads ten minutes apart have shown it", () => {
    const watch = watchingFrom(plans)
    const more = [...plans, aPlan("new", 900)]
    const images = [anImage("Ubuntu-24.04"), anImage("Debian-13")]
    expect(watch.read(40, more, images)).toEqual([])
    expect(watch.read(49, more, images)).toEqual([])
    const facts = watch.take(readAt(50, more, images))
    expect(facts).toMatchObject([
      { type: "berth.image.added", subject: "images/Debian-13", data: { before: null, after: { image: "Debian-13" } } },
      { type: "berth.plan.added", subject: "plans/new", data: { before: null, after: { pricePerMonthInr: 900 } } }
    ])
    expect(facts[0]!.data.observedBetween.map(DateTime.toEpochMillis)).toEqual([600_000, 2_400_000])
    expect(facts[0]!.data).not.toHaveProperty("afterGap")
    expect(watch.read(60, more, images)).toEqual([])
  })

  it("states with a new price what it comes to in a month for the nodes that have the plan", () => {
    const watch = watchingFrom([aPlan("a", 730), ...without("a")], (plan) =>
      Array.from({ length: plan === "a" ? 12 : 0 }, () => null)
    )
    const dearer = [aPlan("a", 803.5), ...without("a")]
    expect(watch.read(40, dearer)).toEqual([])
    expect(watch.take(readAt(50, dearer))).toMatchObject([
      {
        type: "berth.plan.price_changed",
        data: {
          before: { pricePerMonthInr: 730 },
          after: { pricePerMonthInr: 803.5 },
          nodes: 12,
          differencePerMonthInr: 882
        }
      }
    ])
  })

  it("reports a price that changes with one image alone, and what it comes to for the nodes that have that image", () => {
    const images = [anImage("Ubuntu"), anImage("Windows")]
    for (const [nodes, difference] of [
      [["Windows", "Ubuntu", "Windows"], 200],
      [["Ubuntu"], 0],
      [["Windows", null], null]
    ] as const) {
      const before = aPlanWith("a", { Ubuntu: 700, Windows: 1500 })
      const watch = watchingFrom([before, ...without("a")], (plan) => (plan === "a" ? nodes : []))
      const dearer = [aPlanWith("a", { Windows: 1600, Ubuntu: 700 }), ...without("a")]
      expect(watch.read(40, dearer, images)).toEqual([])
      expect(
        watch.take(readAt(60, dearer, images)).filter(({ type }) => type === "berth.plan.price_changed")
      ).toMatchObject([
        {
          data: {
            before: { pricePerMonthInr: null, minPricePerMonthInr: 700, maxPricePerMonthInr: 1500 },
            after: { pricePerMonthInr: null, minPricePerMonthInr: 700, maxPricePerMonthInr: 1600 },
            differencePerMonthInr: difference
          }
        }
      ])
    }
  })

  it("reports no price for an image that a plan gets, or loses for a while", () => {
    const watch = watchingFrom([aPlanWith("a", { Ubuntu: 700 }), ...without("a")])
    for (const [minutes, byImage] of [
      [40, { Ubuntu: 700, Windows: 1500 }],
      [60, { Windows: 1500 }],
      [80, { Ubuntu: 700 }],
      [100, { Ubuntu: 700, Windows: 1500 }]
    ] as const) {
      expect(watch.read(minutes, [aPlanWith("a", byImage), ...without("a")])).toEqual([])
    }
    watch.read(120, [aPlanWith("a", { Ubuntu: 700, Windows: 1600 }), ...without("a")])
    expect(watch.read(140, [aPlanWith("a", { Ubuntu: 700, Windows: 1600 }), ...without("a")])).toEqual([
      "plan.price_changed plans/a"
    ])
  })

  it("counts the nodes that keep a plan that is removed", () => {
    const watch = watchingFrom(plans, (plan) => Array.from({ length: plan === "b" ? 3 : 0 }, () => null))
    watch.read(40, without("b"))
    expect(watch.take(readAt(50, without("b")))).toMatchObject([
      { type: "berth.plan.removed", subject: "plans/b", data: { before: { plan: "b" }, after: null, nodes: 3 } }
    ])
  })

  it("learns a price that was not stated before, and forgets none that is not stated for a while", () => {
    const watch = watchingFrom([aPlan("a", null), ...without("a")])
    for (const [minutes, price] of [
      [20, 500],
      [30, 500],
      [40, null],
      [60, null]
    ] as const) {
      expect(watch.read(minutes, [aPlan("a", price), ...without("a")])).toEqual([])
    }
    watch.read(80, [aPlan("a", 600), ...without("a")])
    expect(watch.read(90, [aPlan("a", 600), ...without("a")])).toEqual(["plan.price_changed plans/a"])
  })

  it("knows no price in rupees any more once it is in another currency", () => {
    const watch = watchingFrom(plans)
    const dollars = { plan: "a", currency: "USD", perHour: 0.5, perMonth: null }
    const abroad = { ...readAt(40, [aPlan("a", null), ...without("a")]), foreignPrices: [dollars] }
    expect(watch.take(abroad)).toEqual([])
    const priceOf = (plan: string) =>
      watch.known().plans.find(({ item }) => item.plan === plan)!.item.maxPricePerMonthInr
    expect([priceOf("a"), priceOf("b")]).toEqual([null, 730])
    watch.restart()
    expect(watch.known().foreignPrices).toEqual([dollars])
  })

  it("removes no entry because of one reply without it, and starts over after a reply with it", () => {
    const watch = watchingFrom(plans)
    watch.read(40, without("a"))
    watch.read(50, plans)
    expect(watch.read(60, without("a"))).toEqual([])
    expect(watch.read(69, without("a"))).toEqual([])
    expect(watch.read(71, without("a"))).toEqual(["plan.removed plans/a"])
  })

  it("is not believed while it is empty, in images or in plans, however long", () => {
    const watch = watchingFrom(plans)
    for (let minutes = 40; minutes < 5000; minutes += 30) {
      expect(watch.read(minutes, [], minutes % 60 === 40 ? [] : undefined)).toEqual([])
      expect(watch.read(minutes + 5, plans, [])).toEqual([])
    }
  })

  it("is not believed while it lacks much, before it has stayed so for a day", () => {
    const watch = watchingFrom(plans)
    const short = without("a", "b", "c")
    for (let minutes = 40; minutes < 40 + 24 * 60; minutes += 30) expect(watch.read(minutes, short)).toEqual([])
    expect(watch.read(40 + 24 * 60, short)).toEqual([
      "plan.removed plans/a",
      "plan.removed plans/b",
      "plan.removed plans/c"
    ])
  })

  it("keeps in doubt what it lacked with much else, when some of that is back", () => {
    const watch = watchingFrom(plans)
    watch.read(40, without("a", "b", "c"))
    for (let minutes = 50; minutes < 40 + 24 * 60; minutes += 30) expect(watch.read(minutes, without("a"))).toEqual([])
    expect(watch.read(41 + 24 * 60, without("a"))).toEqual(["plan.removed plans/a"])
  })

  it("brings back what was removed only when an hour of reads shows it, under another id", () => {
    const watch = watchingFrom(plans)
    watch.read(40, without("a"))
    const [removed] = watch.take(readAt(50, without("a")))
    expect(watch.read(60, plans)).toEqual([])
    expect(watch.read(119, plans)).toEqual([])
    const [added] = watch.take(readAt(120, plans))
    expect(added).toMatchObject({ type: "berth.plan.added", subject: "plans/a" })
    expect([removed!.identity.version, added!.identity.version]).toEqual(["plans/a 1", "plans/a 2"])
  })

  it("marks what changed while no process watched, and repeats nothing after a restart", () => {
    const watch = watchingFrom(plans)
    watch.read(40, without("a"))
    watch.read(50, without("a"))
    watch.restart()
    expect(watch.read(500, without("a", "b"))).toEqual([])
    const [fact, ...more] = watch.take(readAt(510, without("a", "b")))
    expect(more).toEqual([])
    expect(fact).toMatchObject({ subject: "plans/b", data: { afterGap: true } })
    expect(fact!.data.observedBetween.map(DateTime.toEpochMillis)).toEqual([50 * 60_000, 500 * 60_000])
    watch.read(540, without("a", "b", "c"))
    expect(watch.take(readAt(550, without("a", "b", "c")))[0]!.data).not.toHaveProperty("afterGap")
  })

  it("marks what changed while no read succeeded for hours", () => {
    const watch = watchingFrom(plans)
    watch.read(200, without("a"))
    expect(watch.take(readAt(210, without("a")))).toMatchObject([{ data: { afterGap: true } }])
  })

  it("is read every half an hour, and after ten minutes while a change is in doubt", () => {
    const watch = watching()
    watch.read(0, plans)
    expect(watch.nextMillis()).toBe(600_000)
    watch.read(10, plans)
    expect(watch.nextMillis()).toBe(1_800_000)
    watch.read(40, without("a"))
    expect(watch.nextMillis()).toBe(600_000)
    watch.read(50, without("a"))
    expect(watch.nextMillis()).toBe(1_800_000)
    watch.read(80, without("a", "b", "c", "d"))
    expect(watch.nextMillis()).toBe(1_800_000)
  })
})
