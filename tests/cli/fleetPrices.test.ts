/** `berth apply` buys only at the price that it has shown, even if the run takes long. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { alteredService, days, plan } from "./AlteredService.ts"
import { hurriedFolderOf, rowsOf, webs } from "./fleet.ts"
import { movable } from "./invoke.ts"

const committed = webs(1, plan, `, commitment: auto_renew ${days}d`)
const bound = ["--yes", "--max-commitment", "1100", "-o", "json"]

const countOf = (requests: ReadonlyArray<string>, request: string) => requests.filter((each) => each === request).length
const purchase = "POST /update_committed_node_status/"

describe("a commitment whose price rises after it was shown", () => {
  it.live("is not bought for the node that the run has made, and the row has both prices", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      const fleet = yield* hurriedFolderOf(account)
      fleet.write(committed)
      service.onMade = () => (service.optionPrice = "212000")
      const failed = yield* fleet.apply(...bound)
      assert.strictEqual(failed.code, 9, failed.stderr)
      assert.strictEqual(countOf(service.requests, purchase), 0)
      const row = rowsOf(failed).find(({ action }) => action === "commit")!
      assert.strictEqual(row.outcome, "failed")
      assert.include(row.reason, "₹212000.00 now, and ₹1000.00 was shown")
      assert.include(failed.stderr, "Run the same command again")
      // The next run shows the new price, and compares it with the limit.
      const refused = yield* fleet.apply(...bound)
      assert.strictEqual(refused.code, 2, refused.stderr)
      service.optionPrice = "900"
      assert.strictEqual((yield* fleet.apply(...bound)).code, 0)
      assert.strictEqual(countOf(service.requests, purchase), 1)
    }).pipe(Effect.scoped)
  )

  it.live("is not bought for a node of an earlier run either, nor if its price is not known any more", () =>
    Effect.gen(function* () {
      for (const price of ["1000.50", "12 USD"]) {
        const { account, service } = yield* alteredService
        const fleet = yield* hurriedFolderOf(account)
        fleet.write(webs(1))
        yield* fleet.apply("--yes")
        fleet.write(`${committed}  db: { plan: ${plan}, image: Ubuntu-24.04 }\n`)
        service.onMade = () => (service.optionPrice = price)
        const failed = yield* fleet.apply(...bound)
        assert.strictEqual(failed.code, 9, failed.stderr)
        assert.strictEqual(countOf(service.requests, purchase), 0)
      }
    }).pipe(Effect.scoped)
  )

  it.live("costs one more request for all purchases of a run", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      const fleet = yield* hurriedFolderOf(account)
      fleet.write(webs(4, plan, `, commitment: auto_renew ${days}d`))
      const bought = yield* fleet.apply("--yes", "--max-commitment", "4000")
      assert.strictEqual(bought.code, 0, bought.stderr)
      assert.strictEqual(countOf(service.requests, purchase), 4)
      assert.isAtMost(countOf(service.requests, "GET /images/"), 2)
    }).pipe(Effect.scoped)
  )
})

describe("a commitment in another currency", () => {
  it.live("has its price with its own sign in the row of the plan", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      service.currency = "USD"
      const fleet = yield* hurriedFolderOf(account)
      fleet.write(committed)
      const shown = yield* fleet.apply("--dry-run", "-o", "json")
      assert.strictEqual(shown.code, 0, shown.stderr)
      const row = rowsOf(shown).find(({ action }) => action === "commit")
      assert.include(row?.reason, `${days} days for $1000.00; `)
    }).pipe(Effect.scoped)
  )
})

describe("a price that is in another currency than was shown", () => {
  it.live("is not bought at, and the error has both prices: a commitment", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      const fleet = yield* hurriedFolderOf(account)
      fleet.write(webs(1))
      yield* fleet.apply("--yes")
      fleet.write(`${committed}  db: { plan: ${plan}, image: Ubuntu-24.04 }\n`)
      service.onMade = () => (service.currency = "USD")
      const failed = yield* fleet.apply(...bound)
      assert.strictEqual(countOf(service.requests, purchase), 0)
      assert.include(failed.stdout, "is $1000.00 now, and ₹1000.00 was shown", failed.stderr)
    }).pipe(Effect.scoped)
  )

  for (const [was, is] of [
    [undefined, "USD"],
    ["USD", undefined]
  ] as const) {
    const sign = (currency: string | undefined) => (currency === undefined ? "₹" : "$")
    it.live(`is not bought at, and the error has both prices: a node, ${sign(was)} to ${sign(is)}`, () =>
      Effect.gen(function* () {
        const { account, service } = yield* alteredService
        service.currency = was
        const fleet = yield* hurriedFolderOf(account)
        fleet.write(webs(30))
        const { clock, moveOn } = yield* movable
        service.onMade = () => {
          if (service.nodes.length !== 25) return
          service.currency = is
          moveOn(61_000)
        }
        const failed = yield* fleet.apply("--yes", "-o", "json").pipe(Effect.provideService(Clock.Clock, clock))
        assert.lengthOf(service.nodes, 25)
        assert.include(failed.stdout, `is ${sign(is)}1.50 per hour`, failed.stderr)
        assert.include(failed.stdout, `now, and ${sign(was)}1.50 per hour`, failed.stderr)
      }).pipe(Effect.scoped)
    )
  }
})

describe("a create whose price rises while the creates before it go on", () => {
  it.live("is not sent in another currency either", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      service.currency = "USD"
      const fleet = yield* hurriedFolderOf(account)
      fleet.write(webs(30))
      const { clock, moveOn } = yield* movable
      service.onMade = () => {
        if (service.nodes.length !== 25) return
        service.pricePerHour = "999"
        moveOn(61_000)
      }
      const failed = yield* fleet.apply("--yes", "-o", "json").pipe(Effect.provideService(Clock.Clock, clock))
      assert.strictEqual(failed.code, 9, failed.stderr)
      assert.lengthOf(service.nodes, 25)
    }).pipe(Effect.scoped)
  )

  it.live("is not sent, and the next run shows the new price", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      const fleet = yield* hurriedFolderOf(account)
      fleet.write(webs(30))
      const { clock, moveOn } = yield* movable
      service.onMade = () => {
        if (service.nodes.length !== 25) return
        service.pricePerHour = "999"
        moveOn(61_000)
      }
      const failed = yield* fleet
        .apply("--yes", "--max-cost", "50", "-o", "json")
        .pipe(Effect.provideService(Clock.Clock, clock))
      assert.strictEqual(failed.code, 9, failed.stderr)
      assert.lengthOf(service.nodes, 25)
      const rows = rowsOf(failed).filter(({ outcome }) => outcome === "failed")
      assert.lengthOf(rows, 5)
      assert.include(rows[0]!.reason, "₹999.00 per hour now, and ₹1.50 per hour was shown")
      assert.notInclude(fleet.ledgerText(), '"creating"')
      const refused = yield* fleet.apply("--yes", "--max-cost", "50")
      assert.deepStrictEqual([refused.code, service.nodes.length], [2, 25], refused.stderr)
      service.pricePerHour = "1.20"
      assert.strictEqual((yield* fleet.apply("--yes", "--max-cost", "50")).code, 0)
      assert.lengthOf(service.nodes, 30)
    }).pipe(Effect.scoped)
  )

  it.live("is read again at most once a minute", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      const fleet = yield* hurriedFolderOf(account)
      fleet.write(webs(50))
      const { clock, moveOn } = yield* movable
      service.onMade = () => moveOn(2000)
      const made = yield* fleet.apply("--yes").pipe(Effect.provideService(Clock.Clock, clock))
      assert.strictEqual(made.code, 0, made.stderr)
      assert.isAtMost(countOf(service.requests, "GET /images/"), 3)
    }).pipe(Effect.scoped)
  )
})

describe("a row of creates, and a run that ends earlier runs first", () => {
  const order = ["--plan", plan, "--image", "Ubuntu-24.04"]

  /** The result of twelve creates if a price changes after the fourth. */
  const row = Effect.fnUntraced(function* (
    price: "pricePerHour" | "optionPrice",
    to: string,
    flags: ReadonlyArray<string>
  ) {
    const { account, service } = yield* alteredService
    const fleet = yield* hurriedFolderOf(account)
    const { clock, moveOn } = yield* movable
    service.onMade = () => {
      if (service.nodes.length !== 4) return
      service[price] = to
      moveOn(61_000)
    }
    const { code, stderr } = yield* fleet
      .run(["node", "create", "web", "--count", "12", ...order, ...flags, "--yes"])
      .pipe(Effect.provideService(Clock.Clock, clock))
    return { code, stderr, made: service.nodes.length }
  })
  const period = ["--committed-sku", "7", "--max-commitment", "30000"]

  it.live("buys nothing at a higher price than was shown", () =>
    Effect.gen(function* () {
      for (const [{ code, made, stderr }, text] of [
        [yield* row("pricePerHour", "999", []), "₹999.00 per hour now, and ₹1.50 per hour was shown"],
        [yield* row("optionPrice", "212000", period), "₹212000.00 now, and ₹1000.00 was shown"]
      ] as const) {
        assert.strictEqual(code, 9, stderr)
        assert.include(stderr, text)
        // Some creates were under way when the price rose.
        assert.isBelow(made, 8)
      }
    }).pipe(Effect.scoped)
  )

  it.live("continues at a lower price", () =>
    Effect.gen(function* () {
      for (const { code, made, stderr } of [
        yield* row("pricePerHour", "1.20", []),
        yield* row("optionPrice", "900", period)
      ]) {
        assert.deepStrictEqual([code, made], [0, 12], stderr)
      }
    }).pipe(Effect.scoped)
  )

  it.live("is read again at most once a minute", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      const fleet = yield* hurriedFolderOf(account)
      const { clock, moveOn } = yield* movable
      service.onMade = () => moveOn(5000)
      const made = yield* fleet
        .run(["node", "create", "web", "--count", "24", ...order, "--yes"])
        .pipe(Effect.provideService(Clock.Clock, clock))
      assert.strictEqual(made.code, 0, made.stderr)
      assert.isAtMost(countOf(service.requests, "GET /images/"), 3)
    }).pipe(Effect.scoped)
  )

  it.live("makes no node for a run whose price rose while it ended what earlier runs left", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      const fleet = yield* hurriedFolderOf(account)
      const { clock, moveOn } = yield* movable
      const job = (...flags: ReadonlyArray<string>) =>
        fleet
          .run(["run", "--name", "job", ...order, ...flags, "--", "true"])
          .pipe(Effect.provideService(Clock.Clock, clock))
      assert.strictEqual((yield* job("--reuse")).code, 0)
      assert.lengthOf(service.nodes, 1)
      // The paid hour of the kept node is over.
      moveOn(3_700_000)
      service.onDeleted = () => {
        service.pricePerHour = "999"
        moveOn(61_000)
      }
      const refused = yield* job("--max-cost", "2")
      assert.strictEqual(refused.code, 5, refused.stderr)
      assert.include(refused.stderr, "₹999.00")
      assert.isEmpty(service.nodes)
    }).pipe(Effect.scoped)
  )
})
