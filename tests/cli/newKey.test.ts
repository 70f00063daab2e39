/**
 * For berth, a new API key is another account, but it has the same nodes. Berth must use what it knows about these nodes under the new key,
 * too.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { lost, nodeRecord, ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { hurried, invoke } from "./invoke.ts"
import { serve } from "./ScriptedServer.ts"
import { stateFolder } from "./stateFolder.ts"

const [plan, image] = ["C-2VCPU-8RAM-50DISK", "Ubuntu-22.04"]

const account = Effect.gen(function* () {
  const sent: Array<string> = []
  const nodes = [nodeRecord({ id: 7, name: "web", plan, image })]
  const url = yield* serve(({ body, method, path }) => {
    if (path === "/images/") {
      const os = { name: "Ubuntu", version: null, image: "11" }
      const specs = { price_per_hour: "6.46", price_per_month: null, min_billing_amount: null }
      const sku = { committed_sku_id: 278, committed_days: 30, committed_sku_price: "1000" }
      const texts = { committed_sku_name: "", committed_node_message: "", committed_upto_date: "" }
      const committed_sku = [{ ...sku, ...texts }]
      return ok([{ name: "Ubuntu", plan, image, os, zone: { slug_name: "ncr" }, specs: { ...specs, committed_sku } }])
    }
    if (path.startsWith("/images/")) return ok([])
    if (method !== "GET") sent.push(`${method} ${path}`)
    if (path === "/update_committed_node_status/") return lost
    if (method === "POST") {
      const node = nodeRecord({
        id: 8,
        name: (body as { readonly name: string }).name,
        plan,
        image,
        created_at: new Date().toISOString()
      })
      nodes.push(node)
      return ok(node)
    }
    if (path === "/nodes/") return ok(nodes)
    return ok(nodes.find(({ id }) => path === `/nodes/${id}/`) ?? {})
  })
  const state = yield* stateFolder
  const berth = (key: string, ...args: ReadonlyArray<string>) =>
    hurried(
      invoke(args, {
        env: { BERTH_BASE_URL: url, BERTH_API_KEY: key, BERTH_ACCESS_TOKEN: "token", XDG_STATE_HOME: state }
      })
    )
  return { berth, sent, state }
})

describe("under a new API key", () => {
  it.live("a purchase that got no reply is not sent again", () =>
    Effect.gen(function* () {
      const { berth, sent } = yield* account
      const set = ["commitment", "set", "7", "auto_renew", "--sku", "278", "--yes", "--max-commitment", "99999"]
      for (const key of ["old", "old", "new"]) {
        const { code, stderr } = yield* berth(key, ...set, "--deadline", "5s")
        assert.strictEqual(code, 8, stderr)
      }
      assert.lengthOf(sent, 1)
    }).pipe(Effect.scoped)
  )

  it.live("a node that a run holds is not adopted", () =>
    Effect.gen(function* () {
      const { berth, state } = yield* account
      const ran = yield* berth("old", "run", "--plan", plan, "--image", image, "--reuse", "--yes", "--", "true")
      assert.strictEqual(ran.code, 0, ran.stderr)
      const file = join(state, "fleet.yaml")
      writeFileSync(file, `fleet: shop\nnodes:\n  db: { plan: ${plan}, image: ${image}, protect: true }\n`)
      const { code, stderr } = yield* berth("new", "fleet", "adopt", "8", "--as", "db-1", "-f", file)
      assert.strictEqual(code, 5, stderr)
      assert.include(stderr, "is leased to a berth run")
    }).pipe(Effect.scoped)
  )
})
