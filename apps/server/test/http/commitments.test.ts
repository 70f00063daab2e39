import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../src/testing.ts"
import { call, create, dataOf, errorsOf } from "./service.ts"

layer(TestServer.layer())("commitments over HTTP", (it) => {
  it.effect("a commitment is set with the bearer token, or with the three cookies and their header (A6)", () =>
    Effect.gen(function* () {
      const { id } = yield* create("web")
      const images = dataOf(yield* call("GET", "/images/"))
      const plan = "C-4VCPU-16RAM-100DISK"
      const committed = images.find((image: any) => image.plan === plan).specs.committed_sku
      const skuId = committed[0].committed_sku_id
      const set = (body: object, options: object = {}) =>
        call("POST", "/update_committed_node_status/", { body: { vcn_id: id, ...body }, ...options })
      expect(dataOf(yield* set({ node_status: "auto_renew", committed_plan: skuId }))).toEqual({
        vcn_id: id,
        node_status: "auto_renew",
        committed_plan: skuId
      })
      const cookie = "csrftoken=abc; sessionid=def; role=admin"
      const session = { token: null, headers: { cookie, "x-csrftoken": "abc" } }
      expect(dataOf(yield* set({ node_status: "auto_terminate", committed_plan: 0 }, session))).toEqual({
        vcn_id: id,
        node_status: "auto_terminate",
        committed_plan: skuId
      })
      const refused = [
        { token: null, headers: { cookie } },
        { token: null, headers: { cookie, "x-csrftoken": "other" } },
        { token: null, headers: { cookie: "csrftoken=abc; sessionid=def", "x-csrftoken": "abc" } },
        { ...session, key: null },
        { ...session, key: "other" }
      ]
      for (const options of refused) errorsOf(yield* set({ node_status: "hourly_billing" }, options), 401)
      errorsOf(yield* call("GET", "/nodes/", session), 401)
    })
  )

  it.effect("a commitment with faults names them: 422 for fields, 404 for the node", () =>
    Effect.gen(function* () {
      const { id } = yield* create("web")
      const errors = (body: object, status: number) =>
        Effect.map(call("POST", "/update_committed_node_status/", { body }), (reply) =>
          Object.keys(errorsOf(reply, status)).sort()
        )
      expect(yield* errors({}, 422)).toEqual(["node_status", "vcn_id"])
      expect(yield* errors({ vcn_id: "x", node_status: "forever", committed_plan: 1.5 }, 422)).toEqual([
        "committed_plan",
        "node_status",
        "vcn_id"
      ])
      for (const none of [{}, { committed_plan: null }, { committed_plan: 0 }]) {
        expect(yield* errors({ vcn_id: id, node_status: "auto_renew", ...none }, 422)).toEqual(["committed_plan"])
      }
      expect(yield* errors({ vcn_id: 999_999_999, node_status: "auto_renew" }, 404)).toEqual(["detail"])
    })
  )
})
