import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../src/testing.ts"
import { errorsOf } from "../http/service.ts"
import { control } from "./plane.ts"

const long = "x".repeat(256)
const longer = "x".repeat(1_025)
const headers = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-${n}`, "*"]))

layer(TestServer.layer())("a text or a list that is too long is refused by its field", (it) => {
  it.effect.each<readonly [string, string, unknown, string]>([
    ["POST", "/worlds", { nodes: [{ name: long }] }, "nodes.0.name"],
    ["POST", "/worlds", { nodes: [{ name: "web", plan: long }] }, "nodes.0.plan"],
    ["POST", "/worlds", { nodes: [{ name: "web", image: long }] }, "nodes.0.image"],
    ["POST", "/worlds", { lives: [{ nodes: long }] }, "lives.0.nodes"],
    ["POST", "/worlds", { provisioning: "1h".repeat(51) }, "provisioning"],
    ["POST", "/default/saved-images", { name: "golden", plan: long }, "plan"],
    ["POST", "/default/saved-images", { name: "golden", image: long }, "image"],
    ["PUT", "/default/faults", [{ fault: "hang", scope: { node: long } }], "0.scope.node"],
    ["PUT", "/default/faults", [{ fault: "hang", scope: { header: { "x-a": longer } } }], "0.scope.header.x-a"],
    ["PUT", "/default/faults", [{ fault: "hang", scope: { header: headers(33) } }], "0.scope.header"],
    ["PUT", "/default/faults", [{ fault: "hang", from: "1s".repeat(51) }], "0.from"],
    ["POST", "/default/requests/verify", { expected: [{ method: long }] }, "expected.0.method"]
  ])("%s %s %j", ([method, path, body, field]) =>
    Effect.gen(function* () {
      expect(Object.keys(errorsOf(yield* control(method, path, body), 422))).toEqual([field])
    })
  )

  it.effect("of a snapshot, too", () =>
    Effect.gen(function* () {
      const { id } = yield* (yield* TestServer).makeWorld({ nodes: [{ name: "web" }], lives: [{ nodes: "web" }] })
      const snapshot = (yield* control("GET", `/${id}/snapshot`)).json
      const { lifecycle, nodes } = snapshot.settings
      const withSettings = (change: object) => ({ ...snapshot, settings: { ...snapshot.settings, ...change } })
      for (const [body, field] of [
        [withSettings({ nodes: [{ ...nodes[0], plan: long }] }), "settings.nodes.0.plan"],
        [
          withSettings({ lifecycle: { ...lifecycle, byName: [{ ...lifecycle.byName[0], pattern: long }] } }),
          "settings.lifecycle.byName.0.pattern"
        ],
        [{ ...snapshot, nodes: [{ ...snapshot.nodes[0], name: longer }] }, "nodes.0.name"]
      ] as const) {
        expect(Object.keys(errorsOf(yield* control("PUT", `/${id}/snapshot`, body), 422))).toEqual([field])
      }
    })
  )

  it.effect("and of a hundred unknown plans all are named, the first ones with similar plans", () =>
    Effect.gen(function* () {
      const nodes = Array.from({ length: 100 }, (_, n) => ({ name: `n${n}`, plan: "C-4VCPU-16RAM-100DSIK" }))
      const errors = errorsOf(yield* control("POST", "/worlds", { nodes }), 422)
      expect(Object.keys(errors).length).toBe(100)
      expect(errors["nodes.0.plan"]).toEqual([
        "There is no plan C-4VCPU-16RAM-100DSIK; did you mean C-4VCPU-16RAM-100DISK?"
      ])
      expect(errors["nodes.99.plan"]).toEqual([
        "There is no plan C-4VCPU-16RAM-100DSIK: the image list of this world has them."
      ])
    })
  )
})
