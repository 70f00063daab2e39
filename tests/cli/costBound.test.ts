/** Every command with `--max-cost` compares this limit with everything that an order costs, for every way of billing. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { nodeRecord, ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { invoke } from "./invoke.ts"
import { startAgent } from "./mcp/Agent.ts"
import { serve } from "./ScriptedServer.ts"
import { stateFolder } from "./stateFolder.ts"

const plan = "P-2VCPU-4RAM-40DISK"
const image = "Ubuntu"

interface Prices {
  readonly hour: string
  readonly month: string
  readonly minimum?: string
  /** The price of 30 days. */
  readonly period?: string
}

const offerOf = ({ hour, minimum = "0", month, period }: Prices) => ({
  name: image,
  plan,
  image,
  os: { name: image, version: null, image: "11" },
  zone: { slug_name: "ncr" },
  specs: {
    ram: "4.00",
    cpu: 2,
    disk_space: 40,
    price_per_hour: hour,
    price_per_month: month,
    series: "P",
    minimum_billing_amount: minimum,
    committed_sku:
      period === undefined
        ? []
        : [
            {
              committed_sku_id: 7,
              committed_days: 30,
              committed_sku_price: period,
              committed_sku_name: "",
              committed_node_message: "",
              committed_upto_date: ""
            }
          ]
  }
})

/** A service with one plan at these prices, and each command that creates a node on it within a limit. */
const serviceAt = Effect.fnUntraced(function* (prices: Prices) {
  const changes: Array<string> = []
  const url = yield* serve(({ method, path }) => {
    if (method !== "GET") changes.push(`${method} ${path}`)
    if (path === "/images/") return ok([offerOf(prices)])
    if (path === "/images/saved-images/" || path === "/nodes/") return ok([])
    return ok(nodeRecord({ id: 7, name: "w", plan, status: "running" }))
  })
  const state = yield* stateFolder
  const env = {
    BERTH_API_KEY: "the-key-of-a-test",
    BERTH_ACCESS_TOKEN: "the-token-of-a-test",
    BERTH_BASE_URL: url,
    XDG_STATE_HOME: state,
    XDG_CACHE_HOME: state
  }
  const file = join(state, "fleet.yaml")
  const commitment = prices.period === undefined ? "" : ", commitment: auto_renew 30d"
  writeFileSync(file, `fleet: shop\nnodes:\n  web: { plan: ${plan}, image: ${image}${commitment} }\n`)
  const order = ["--plan", plan, "--image", image]
  const lines = {
    create: ["node", "create", "w", ...order, "--dry-run"],
    run: ["run", ...order, "--dry-run"],
    apply: ["apply", "-f", file, "--dry-run"]
  }
  const within = (which: keyof typeof lines, limit: string) => {
    const [at, rest] = which === "run" ? [lines.run, ["--", "true"]] : [lines[which], []]
    return invoke([...at, "--max-cost", limit, ...rest], { env })
  }
  const proposed = Effect.fnUntraced(function* (limit: string) {
    const agent = yield* startAgent(["--allow", "create", "--max-cost", limit], { env })
    return yield* Effect.promise(() => agent.call("propose", { action: "create", name: "w", plan, image }))
  })
  return { changes, within, proposed }
})

describe("a limit of ₹2 per hour", () => {
  for (const [what, prices, perHour] of [
    ["costs ₹0 per hour and ₹3000 per month", { hour: "0", month: "3000" }, "4.11"],
    ["costs ₹0 per hour and at least ₹5000", { hour: "0", month: "0", minimum: "5000" }, "6.85"],
    ["costs ₹1 per hour and ₹3000 per month", { hour: "1", month: "3000" }, "4.11"]
  ] as const) {
    it.live(`refuses a plan that ${what}, in every command`, () =>
      Effect.gen(function* () {
        const { changes, proposed, within } = yield* serviceAt(prices)
        for (const which of ["create", "run", "apply"] as const) {
          const refused = yield* within(which, "2")
          assert.strictEqual(refused.code, 2, `${which}: ${refused.stderr}`)
          assert.include(refused.stderr, `₹${perHour}`)
          const allowed = yield* within(which, perHour)
          assert.strictEqual(allowed.code, 0, `${which}: ${allowed.stderr}`)
        }
        assert.isTrue((yield* proposed("2")).isError)
        assert.isNotTrue((yield* proposed(perHour)).isError)
        assert.deepStrictEqual(changes, [])
      }).pipe(Effect.scoped)
    )
  }

  it.live("allows a plan whose price per month and minimum charge its price per hour accounts for", () =>
    Effect.gen(function* () {
      for (const hours of [672, 720, 730, 744]) {
        const { within } = yield* serviceAt({ hour: "2", month: String(2 * hours), minimum: "240" })
        for (const which of ["create", "run", "apply"] as const) {
          const allowed = yield* within(which, "2")
          assert.strictEqual(allowed.code, 0, `${which}: ${allowed.stderr}`)
        }
      }
    }).pipe(Effect.scoped)
  )

  it.live("refuses a fleet that buys periods for more than that", () =>
    Effect.gen(function* () {
      const { within } = yield* serviceAt({ hour: "1", month: "730", period: "3600" })
      const refused = yield* within("apply", "2")
      assert.strictEqual(refused.code, 2, refused.stderr)
      assert.include(refused.stderr, "₹5.00 per hour")
      assert.strictEqual((yield* within("apply", "5")).code, 0)
    }).pipe(Effect.scoped)
  )
})
