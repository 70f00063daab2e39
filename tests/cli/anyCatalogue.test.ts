/**
 * Tests money with random catalogues. The test's service may bill a node by any record of its plan and image, in any spelling. Every amount
 * that `berth` shows, adds up or limits must be right for each of these records, and exact if nothing is in doubt.
 */
import { nodeRecord, ok, type Reply, type Request } from "@berthkit/core/testing"
import { isSoak } from "@berthkit/testing/chance"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { invoke } from "./invoke.ts"
import { serve } from "./ScriptedServer.ts"
import { stateFolder } from "./stateFolder.ts"

/** A price as written, and the billed rupees; null if the text does not determine them. */
interface Spelled {
  readonly wire: unknown
  readonly inr: number | null
}

const price: fc.Arbitrary<Spelled> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom<Spelled>(
      { wire: "6.46", inr: 6.46 },
      { wire: 6.46, inr: 6.46 },
      { wire: " Rs. 6.46 ", inr: 6.46 },
      { wire: "₹20.50", inr: 20.5 },
      { wire: "20.50 INR", inr: 20.5 },
      { wire: "0.0049", inr: 0.0049 },
      { wire: "0", inr: 0 },
      { wire: "1,234.50", inr: 1234.5 },
      { wire: "4000", inr: 4000 }
    )
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom<unknown>(
        null,
        undefined,
        "",
        "12,92",
        "5k",
        "6.46 USD",
        "1.2 lakh",
        "-1",
        -1,
        "6.46/day",
        {},
        [6],
        true
      )
      .map((wire) => ({ wire, inr: null }))
  }
)

const plans = ["p", "q"] as const
const images = ["Ubuntu", "Windows"] as const
const idOf = (image: string): string => (image === "Ubuntu" ? "11" : "12")
const nameOf = (image: string): string => `${image} (name)`

const skuId = 7
const option = fc.record({ days: fc.constantFrom(30, 30, 30, 90), price })

/** Which part of a record is unreadable. */
const hidden = fc.oneof(
  { weight: 12, arbitrary: fc.constant("nothing" as const) },
  { weight: 1, arbitrary: fc.constantFrom("plan", "image", "both", "all") }
)

const offer = fc.record({
  plan: fc.constantFrom(...plans),
  image: fc.constantFrom(...images),
  price,
  options: fc.array(option, { maxLength: 2 }),
  hidden
})
type Offer = typeof offer extends fc.Arbitrary<infer A> ? A : never

/** The record of an offer in the image list. */
const wireOf = ({ hidden, image, options, plan, price }: Offer): unknown =>
  hidden === "all"
    ? "no record"
    : {
        name: nameOf(image),
        plan: hidden === "plan" || hidden === "both" ? null : plan,
        image: hidden === "image" || hidden === "both" ? { name: image } : image,
        os: { name: image, version: null, image: idOf(image) },
        zone: { slug_name: "ncr" },
        specs: {
          price_per_hour: price.wire,
          price_per_month: price.inr === null ? price.wire : String(Math.round(price.inr * 730_000_000) / 1_000_000),
          committed_sku: options.map(({ days, price }) => ({
            committed_sku_id: skuId,
            committed_days: days,
            committed_sku_price: price.wire
          }))
        }
      }

/** A node that existed before: the offer by which it is billed, and what its record says. */
const before = fc.record({
  by: fc.nat(9),
  imageIsListed: fc.boolean(),
  record: fc.oneof(
    { weight: 12, arbitrary: fc.constant("readable" as const) },
    { weight: 1, arbitrary: fc.constantFrom("bad date", "no name", "twin") }
  )
})

const order = fc.record({
  plan: fc.constantFrom(...plans),
  image: fc.constantFrom(...images),
  by: fc.constantFrom((image: string) => image, idOf, nameOf),
  committed: fc.boolean(),
  count: fc.integer({ min: 1, max: 3 }),
  limit: fc.constantFrom(0, 5, 6.46, 7, 20.5, 61.5, 5000, 1_000_000),
  force: fc.boolean()
})
type Order = typeof order extends fc.Arbitrary<infer A> ? A : never

const scenario = fc.record({
  offers: fc.array(offer, { minLength: 1, maxLength: 5 }),
  before: fc.array(before, { maxLength: 3 }),
  order
})
type Scenario = typeof scenario extends fc.Arbitrary<infer A> ? A : never

/** An amount in millionths of a rupee, which add up without rounding errors. */
const micros = (inr: number): number => Math.round(inr * 1_000_000)

/** The cost per hour of a committed period, rounded up to the paisa. */
const shareOf = (inr: number, days: number): number => Math.ceil(micros(inr) / (10_000 * 24 * days)) / 100

/** The possible costs per hour of the ordered node; null if any cost is possible. */
const hourlyTruths = ({ offers }: Scenario, { committed, image, plan }: Order): ReadonlyArray<number | null> => {
  const ofOrder = offers.filter((each) => each.plan === plan && each.image === image)
  const truths = committed
    ? ofOrder.flatMap(({ options }) =>
        options.map(({ days, price }) => (price.inr === null ? null : shareOf(price.inr, days)))
      )
    : ofOrder.map(({ price }) => price.inr)
  return truths.length === 0 ? [null] : truths
}

interface Priced {
  readonly pricePerHourInr: number | null
  readonly minPricePerHourInr: number | null
  readonly maxPricePerHourInr: number | null
}

/** Checks that the shown amounts are right for each of these possible costs. */
const holds = (shown: Priced, truths: ReadonlyArray<number | null>, what: string) => {
  const { maxPricePerHourInr: max, minPricePerHourInr: min, pricePerHourInr: exact } = shown
  for (const truth of truths) {
    if (exact !== null) assert.strictEqual(exact, truth, what)
    if (max !== null) assert.isTrue(truth !== null && truth <= max, `${what}: ${truth} is at most ${max}`)
    if (min !== null && truth !== null) assert.isAtLeast(truth, min, what)
  }
}

/** Checks that the shown bounds are exactly the lowest and highest possible cost, if all possible costs are known. */
const isSharp = (shown: Priced, truths: ReadonlyArray<number | null>, what: string) => {
  const known = truths.filter((truth) => truth !== null)
  if (known.length < truths.length) return
  assert.deepStrictEqual(
    [shown.minPricePerHourInr, shown.maxPricePerHourInr],
    [Math.min(...known), Math.max(...known)],
    what
  )
}

/** A service with these offers and nodes, and the nodes that it has made. */
const serviceOf = ({ before, offers }: Scenario) => {
  const rows = before.flatMap(({ by, imageIsListed, record }, index): ReadonlyArray<Record<string, unknown>> => {
    const { image, plan } = offers[by % offers.length]!
    const node = nodeRecord({ id: index + 1, plan, ...(imageIsListed && { image }) })
    switch (record) {
      case "bad date":
        return [{ ...node, created_at: "yesterday" }]
      case "no name":
        return [{ ...node, name: null }]
      case "twin":
        return [node, { ...node, name: "twin" }]
      default:
        return [node]
    }
  })
  const made: Array<Record<string, unknown>> = []
  const answer = ({ body, method, path, query }: Request): Reply => {
    if (path === "/images/") return ok(offers.map(wireOf))
    if (path === "/nodes/" && method === "POST") {
      const { image, name, plan } = body as Order & { readonly name: string }
      const node = {
        ...nodeRecord({ id: 1001 + made.length, name, plan, image }),
        created_at: new Date().toISOString()
      }
      made.push(node)
      return { ...ok(node), status: 202 }
    }
    const all = [...rows, ...made]
    const [page, size] = [Number(query["page_no"] ?? 1), Number(query["per_page"] ?? 20)]
    if (path === "/nodes/") return ok(all.slice((page - 1) * size, page * size))
    return ok(all.find(({ id }) => path === `/nodes/${id}/`) ?? {})
  }
  return { answer, made }
}

const sumMicros = (amounts: ReadonlyArray<number>): number => amounts.reduce((sum, inr) => sum + micros(inr), 0)

/** The amounts if all are known; otherwise none. */
const allKnown = (amounts: ReadonlyArray<number | null>): ReadonlyArray<number> | undefined => {
  const known = amounts.filter((amount) => amount !== null)
  return known.length === amounts.length ? known : undefined
}

const play = Effect.fnUntraced(function* (scenario: Scenario) {
  const { before, offers, order } = scenario
  const { answer, made } = serviceOf(scenario)
  const state = yield* stateFolder
  const env = {
    BERTH_API_KEY: "the-key-of-a-test",
    BERTH_ACCESS_TOKEN: "the-token-of-a-test",
    BERTH_BASE_URL: yield* serve(answer),
    XDG_STATE_HOME: state,
    XDG_CACHE_HOME: state
  }
  const berth = (...args: ReadonlyArray<string>) => invoke(args, { env })
  const isWhole = before.every(({ record }) => record === "readable")
  const isReadable = offers.every(({ hidden }) => hidden === "nothing")
  const truths = hourlyTruths(scenario, order)
  const ofOrder = offers.filter(({ image, plan }) => plan === order.plan && image === order.image)
  // If one SKU has several prices or lengths, no price can be shown.
  const terms = new Set(ofOrder.flatMap(({ options }) => options.map(({ days, price }) => `${days} ${price.inr}`)))
  const isClear = isReadable && (!order.committed || terms.size === 1)

  const { count, force, limit } = order
  const create = ["node", "create", "web", "--plan", order.plan, "--image", order.by(order.image)].concat(
    order.committed ? ["--committed-sku", String(skuId)] : [],
    count > 1 ? ["--count", String(count)] : [],
    force ? ["--force"] : []
  )
  const dry = yield* berth(...create, "--dry-run", "-o", "json")
  const shown: ReadonlyArray<Priced> = dry.code === 0 ? [JSON.parse(dry.stdout)].flat() : []
  for (const each of shown) {
    holds(each, truths, "the proposal")
    if (isClear) isSharp(each, truths, "the proposal")
  }

  const limited = yield* berth(...create, "--max-cost", String(limit), "--yes", "-o", "json")
  const highest = allKnown(truths)
  const isWithin = highest !== undefined && count * Math.max(...highest.map(micros)) <= micros(limit)
  if (made.length > 0) assert.isTrue(isWithin, `made for ${truths.join(", ")} an hour`)
  // A create has to distinguish its node from older nodes, which is impossible if their records are not readable.
  if (isClear && isWithin && isWhole) assert.deepStrictEqual([limited.code, made.length], [0, count], limited.stderr)

  // The possible costs of each node: by any offer of its plan and image, or by the commitment with which the node was created.
  const isTwin = (index: number) => before[index]!.record === "twin"
  const truthsOfNodes = before.map(({ by }) => {
    const { image, plan } = offers[by % offers.length]!
    return offers.filter((each) => each.plan === plan && each.image === image).map(({ price }) => price.inr)
  })
  const costs = yield* berth("cost", "-o", "json")
  if (costs.code !== 0) return assert.isEmpty(made, costs.stderr)
  const rows: ReadonlyArray<Priced & { readonly id: number | null; readonly unreadable: number }> = JSON.parse(
    costs.stdout
  )
  for (const row of rows) {
    if (row.unreadable > 0) assert.isNull(row.pricePerHourInr)
    else if (row.id! > 1000) holds(row, truths, `node ${row.id}`)
    else if (!isTwin(row.id! - 1)) holds(row, truthsOfNodes[row.id! - 1]!, `node ${row.id}`)
    if (
      isReadable &&
      row.unreadable === 0 &&
      row.id! <= 1000 &&
      before[row.id! - 1]!.imageIsListed &&
      !isTwin(row.id! - 1)
    )
      isSharp(row, truthsOfNodes[row.id! - 1]!, `node ${row.id}`)
  }

  const exact = allKnown(rows.map(({ pricePerHourInr }) => pricePerHourInr))
  if (!isWhole) assert.isUndefined(exact, "a sum that lacks a node is none")
  const [total = ""] = /^\d+ nodes?: .*$/m.exec((yield* berth("cost")).stderr) ?? []
  const [, text] = /: ₹([\d.]+) per hour/.exec(total) ?? []
  if (exact === undefined || rows.length === 0) assert.isUndefined(text, total)
  else assert.strictEqual(micros(Number(text)), sumMicros(exact), total)

  const planned = yield* berth("plan", "list", "-o", "json")
  for (const { plan, ...price } of JSON.parse(planned.stdout) as ReadonlyArray<Priced & { readonly plan: string }>) {
    const read = offers.filter((each) => each.hidden === "nothing" && each.plan === plan).map(({ price }) => price.inr)
    holds(price, read, `plan ${plan}`)
    isSharp(price, read, `plan ${plan}`)
  }
})

describe("over any catalogue", () => {
  it("what is shown, summed and limited is that of the node that is made", () =>
    fc.assert(
      fc.asyncProperty(scenario, (each) => Effect.runPromise(Effect.scoped(play(each)))),
      { numRuns: isSoak ? 40 : 20 }
    ))
})
