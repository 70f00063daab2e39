import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../src/testing.ts"
import { control } from "../control/plane.ts"
import { errorsOf } from "../http/service.ts"

layer(TestServer.layer({ scenario: "small" }))("what was expected of a field is stated in plain words", (it) => {
  it.effect.each<readonly [string, string, unknown, string, string]>([
    ["POST", "/worlds", 5, "detail", "Expected an object."],
    ["POST", "/default/clock", null, "detail", "Expected an object."],
    ["PATCH", "/default/nodes/97898", [], "detail", "Expected an object."],
    ["PUT", "/default/snapshot", "text", "detail", "Expected an object."],
    ["POST", "/default/requests/verify", { expected: [5] }, "expected.0", "Expected an object."],
    ["POST", "/worlds", { auth: "none" }, "auth", 'Expected "strict", "key-only" or "off".'],
    ["POST", "/worlds", { nodes: [{ name: "a", image: {} }] }, "nodes.0.image", "Expected a string or a number."],
    ["POST", "/worlds", { nodes: [{ name: " " }] }, "nodes.0.name", "Expected a name that is not blank."],
    ["POST", "/default/saved-images", { name: "" }, "name", "Expected a name that is not blank."],
    [
      "PATCH",
      "/default/nodes/97898",
      { status: true },
      "status",
      'Expected "created", "running", "power-off", "terminate" or null.'
    ],
    [
      "PUT",
      "/default/faults",
      [{ fault: "wrong-content-type", value: "ü" }],
      "0.value",
      "Expected 1 to 255 visible ASCII characters or spaces."
    ]
  ])("%s %s %j", ([method, path, body, field, sentence]) =>
    Effect.gen(function* () {
      expect(errorsOf(yield* control(method, path, body), 422)).toEqual({ [field]: [sentence] })
    })
  )
})
