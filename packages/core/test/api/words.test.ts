/** The strings with which a service refuses a request, in every place of the reply, and what they show about a 429. */
import { layer, nodeRecord, ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Result } from "effect"
import { type Expectation, interpret } from "../../src/api/Reply.ts"
import { Nodes } from "../../src/client/Nodes.ts"
import { redactor } from "../../src/client/transport/Redaction.ts"
import { NodeId } from "../../src/domain/Node.ts"
import { inTime } from "../inTime.ts"

const reasonOf = (
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  expectation: Expectation = {}
) => {
  const text = typeof body === "string" ? body : JSON.stringify(body)
  const result = interpret({ status, headers, body: text }, expectation, 0)
  return Result.isFailure(result) ? result.failure : assert.fail("it is no failure")
}

const statuses = [
  400, 401, 402, 403, 404, 405, 408, 409, 412, 413, 415, 418, 422, 423, 429, 431, 500, 501, 502, 503, 504
]

describe("the words of a failure", () => {
  const words = "C-4VCPU is sold out in ncr"
  const bodies: ReadonlyArray<readonly [string, unknown]> = [
    ["message", { message: words }],
    ["title", { title: words, status: 4 }],
    ["detail", { detail: words }],
    ["error", { error: words }],
    ["message beside empty errors", { message: words, errors: {}, data: {} }],
    ["errors, a text", { message: "Precondition Failed", errors: words }],
    ["errors by field", { message: "Precondition Failed", errors: { plan: words } }],
    ["errors by field, in a list", { message: "Bad Request", errors: { plan: [words] } }],
    ["errors by field, in a list of lists", { message: "Bad Request", errors: { plan: [[words]] } }],
    ["errors by field, nested", { message: "Error", errors: { spec: { plan: { message: words, code: 7 } } } }],
    ["errors, a list of texts", { message: "Request failed", errors: [words] }],
    ["errors, a list of objects", { message: "Conflict", errors: [{ field: "plan", message: words }] }],
    ["errors, a list of fields", { message: "Conflict", errors: [{ plan: words }] }],
    ["errors, a list of details", { errors: [{ title: "Conflict", detail: words }] }],
    ["detail, a list", { detail: [{ loc: ["body", "plan"], msg: words }] }],
    ["detail, by field", { detail: { plan: [words] } }],
    ["error, an object", { error: { code: 7, message: words } }],
    ["error beside its description", { error: "invalid", error_description: words }],
    ["the body itself, by field", { plan: [words] }],
    ["the body itself, a list", [words]],
    ["a body that is no JSON", words]
  ]
  for (const [where, body] of bodies) {
    it(`are shown from ${where}, for every status`, () => {
      for (const status of statuses) {
        assert.include(reasonOf(status, body).message, words, String(status))
        assert.include(reasonOf(status, body, {}, { nodeId: NodeId.make(7) }).message, words, String(status))
      }
    })
  }

  it("are shown together, each once, without phrases that say nothing", () => {
    const errors = { plan: ["is sold out", "is for members"], detail: ["Insufficient credits."] }
    const body = { message: "Insufficient credits", code: 412, errors }
    assert.strictEqual(
      reasonOf(412, body).message,
      "A precondition is not met: Insufficient credits; plan: is sold out, is for members."
    )
    assert.strictEqual(
      reasonOf(422, { message: "The field name is not valid.", errors: { name: ["must not be blank."] } }).message,
      "The service refused the request: name: must not be blank."
    )
    assert.strictEqual(
      reasonOf(400, { message: "Error", errors: "Bad" }).message,
      "The service refused the request: Bad."
    )
    assert.strictEqual(
      reasonOf(422, { message: "The name is taken", errors: { name: ["pick another"] } }).message,
      "The service refused the request: The name is taken; name: pick another."
    )
    assert.strictEqual(
      reasonOf(400, { message: "Error", errors: { location: ["Invalid location"], plan: ["Invalid"] } }).message,
      "The service refused the request: location: Invalid location; plan: Invalid."
    )
    assert.strictEqual(
      reasonOf(403, { message: "Forbidden", errors: {} }).message,
      "The account may not do this: Forbidden."
    )
  })

  for (const [where, body, shown] of [
    ["a general message", { message: "Bad request", errors: { plan: ["bad plan"], image: ["no image"] } }],
    ["no message", { errors: { plan: ["bad plan"], image: ["no image"] } }],
    ["texts", { message: "Bad request", errors: { plan: "bad plan", image: "no image" } }],
    ["only general words", { errors: { plan: ["Invalid"], image: ["not valid"] } }, "plan: Invalid; image: not valid"],
    ["a list of fields", { errors: [{ plan: ["bad plan"] }, { image: "no image" }] }],
    [
      "a list of objects",
      {
        errors: [
          { field: "plan", message: "bad plan" },
          { field: "image", message: "no image" }
        ]
      }
    ],
    [
      "other names",
      {
        errors: [
          { param: "plan", msg: "bad plan" },
          { param: "image", detail: "no image" }
        ]
      }
    ],
    [
      "locations",
      {
        detail: [
          { loc: ["body", "plan"], msg: "is required" },
          { loc: ["body", "image"], msg: "is required" }
        ]
      },
      "body.plan: is required; body.image: is required"
    ],
    ["a message that is an object", { message: { plan: ["bad plan"], image: ["no image"] }, errors: {} }],
    ["errors next to an error", { errors: { plan: ["bad plan"] }, error: { image: ["no image"] } }],
    ["a message that repeats one", { message: "bad plan", errors: { plan: ["bad plan"], image: ["no image"] } }],
    [
      "a message with both",
      { message: "plan: bad plan; image: no image", errors: { plan: "bad plan", image: "no image" } }
    ],
    ["repeated texts", { errors: { plan: ["bad plan", "bad plan."], image: [["no image"], "no image"] } }],
    [
      "errors of a nested error",
      { errors: [{ message: "Bad request", errors: { plan: "bad plan", image: "no image" } }] },
      "Bad request; plan: bad plan; image: no image"
    ],
    ["data", { message: "", data: { plan: ["bad plan"], image: ["no image"] }, errors: {} }],
    ["a field in the name of another", { errors: { n: ["no"], plan: ["no"] } }, "n: no; plan: no"],
    ["a field without a text", { errors: { plan: [], image: null, disk: [""] } }, "plan; image; disk"],
    [
      "nested fields",
      {
        errors: {
          disk: { size: ["too small"], type: ["bad type"] },
          plan: { message: "bad plan", errors: { use: "C3" } }
        }
      },
      "disk: size: too small, type: bad type; plan: bad plan, use: C3"
    ]
  ] as ReadonlyArray<readonly [string, object, string?]>) {
    it(`name every field at fault once, from ${where}`, () => {
      const reason = reasonOf(400, body)
      assert.strictEqual(
        reason.message,
        `The service refused the request: ${shown ?? "plan: bad plan; image: no image"}.`
      )
    })
  }

  it("show all of many fields and of many faults", () => {
    const names = Array.from({ length: 40 }, (_, i) => `field_${i}`)
    const many = reasonOf(422, { errors: Object.fromEntries(names.map((name) => [name, ["This field is required."]])) })
    for (const name of names) assert.include(many.message, `${name}: This field is required`)
    const faults = Array.from({ length: 20 }, (_, i) => `fault ${i}`)
    const { message } = reasonOf(422, { errors: { plan: faults } })
    for (const fault of faults) assert.include(message, fault)
  })

  it("leak no credential, in no place and no encoding", () => {
    const key = "key-8f3a/91+c2"
    const redact = redactor({ apiKey: Redacted.make(key), accessToken: Redacted.make("token-77aa31bb") })
    for (const written of [key, encodeURIComponent(key), btoa(key)]) {
      for (const [where, body] of bodies) {
        const text = JSON.stringify(body).replaceAll(words, `no ?apikey=${written}`)
        for (const status of statuses) {
          const reading = { show: redact, maxBodyTokens: 1000 }
          const result = interpret({ status, headers: {}, body: text }, {}, 0, reading)
          assert.isTrue(Result.isFailure(result))
          const shown = Result.isFailure(result) ? `${result.failure.message} ${JSON.stringify(result.failure)}` : ""
          assert.notInclude(shown, written, `${where}, ${status}`)
        }
      }
    }
  })
})

describe("a 429", () => {
  const left = { "ratelimit-limit": "1200", "ratelimit-remaining": "1100", "ratelimit-reset": "60" }
  const spent = { ...left, "ratelimit-remaining": "0" }
  for (const body of [
    { message: "Node quota reached" },
    { message: "Too Many Requests", errors: { detail: ["You have reached the limit of 10 nodes"] } },
    { message: "Too Many Requests", errors: { node: "quota exceeded" } },
    { error: { message: "Maximum number of instances exceeded" } },
    { detail: "No more than 4 servers allowed for this account" }
  ]) {
    it(`that says ${JSON.stringify(body)} is about a quota`, () => {
      for (const headers of [left, {}]) {
        const reason = reasonOf(429, body, headers)
        assert.strictEqual(reason._tag, "InvalidRequest")
        assert.notInclude(reason.message, "rate limit")
        assert.strictEqual(reason.retry, "never")
        assert.isFalse(reason.retryable)
      }
    })
    it(`with evidence of the rate limit is about that, also with ${JSON.stringify(body)}`, () => {
      for (const headers of [spent, { ...left, "retry-after": "5" }]) {
        const reason = reasonOf(429, body, headers)
        assert.strictEqual(reason._tag, "RateLimited")
        assert.match(reason.message, /quota|limit of 10|Maximum|No more/)
      }
    })
  }
  for (const words of [
    "slow down",
    "Too Many Requests",
    "Rate limit exceeded",
    "API quota exceeded",
    "Limit of requests per minute for this node exceeded",
    "Request throttled on server 4: limit reached",
    "quota exceeded for 1200 calls per hour"
  ]) {
    it(`that says ${words} is about the rate limit`, () => {
      for (const headers of [left, spent, {}]) {
        assert.strictEqual(reasonOf(429, { message: words }, headers)._tag, "RateLimited")
      }
    })
  }

  it.effect("about a quota is sent once, holds up no other call, and a create looks once for its node", () =>
    Effect.gen(function* () {
      const requests: Array<string> = []
      const service = layer(({ method, path }) => {
        requests.push(`${method} ${path}`)
        const quota = { message: "Node quota reached", code: 429, data: {}, errors: {} }
        return method === "POST" ? { status: 429, headers: left, body: JSON.stringify(quota) } : ok([], left)
      })
      yield* Effect.gen(function* () {
        const nodes = yield* Nodes
        const error = yield* inTime(
          Effect.flip(nodes.create({ name: "web", plan: "C-4VCPU-16RAM-100DISK", image: "x" }))
        )
        assert.strictEqual(error.message, "The service refused the request: Node quota reached.")
        assert.strictEqual(error.reason._tag, "InvalidRequest")
        assert.strictEqual(requests.filter((request) => request.startsWith("POST")).length, 1)
        assert.deepStrictEqual(requests.at(-1), "GET /nodes/")
        // This call does not wait, so no virtual time has to pass.
        assert.deepStrictEqual(yield* nodes.listPage(), [])
      }).pipe(Effect.provide(service))
    })
  )

  it.effect("about a quota names a new node of its name and does not take it", () =>
    Effect.gen(function* () {
      let made = false
      const node = nodeRecord({ id: 8, name: "web", created_at: "2026-01-01T00:00:00Z", image: "x" })
      const service = layer(({ method }) => {
        if (method !== "POST") return ok(made ? [node] : [], { date: "Thu, 01 Jan 2026 00:00:00 GMT" })
        made = true
        const quota = { message: "Node quota reached", code: 429, data: {}, errors: {} }
        return { status: 429, headers: left, body: JSON.stringify(quota) }
      })
      const spec = { name: "web", plan: "C-4VCPU-16RAM-100DISK", image: "x" }
      const creating = Effect.flip(Nodes.use((nodes) => nodes.create(spec)))
      const { reason } = yield* Effect.provide(inTime(creating), service)
      assert.deepInclude(reason, { _tag: "OutcomeUnknown", because: "InvalidRequest", candidates: [NodeId.make(8)] })
    })
  )
})

describe("a reply with several outcomes to a change", () => {
  const change = { nodeId: NodeId.make(7), emptyAllowed: true }
  const errors = { message: "Multi-Status", errors: { node: ["is locked"] } }
  const bodies: ReadonlyArray<readonly [string, number, unknown]> = [
    ["without a body", 207, ""],
    ["with errors", 207, { ...errors, code: 207, data: {} }],
    ["with a code of failure", 207, { ...errors, code: 422 }],
    ["with a list of outcomes", 207, [{ id: 7, status: 423 }]],
    ["with outcomes in its data", 207, { message: "Success", code: 207, data: [{ code: 404 }], errors: {} }],
    ["with its code in the body alone", 200, { ...errors, code: 207, data: {} }]
  ]
  for (const [what, status, body] of bodies) {
    it(`leaves open whether it was carried out: ${what}`, () => {
      const reason = reasonOf(status, body, {}, change)
      assert.strictEqual(reason.mayBeProcessed, true)
      assert.notStrictEqual(reason.exit, "rejected")
    })
  }

  it("is a create with an open outcome, unless the record shows the node", () => {
    assert.isTrue(reasonOf(207, { ...errors, code: 412, data: {} }).mayBeProcessed)
    const node = { message: "Multi-Status", code: 207, data: nodeRecord({ id: 8 }), errors: { tag: ["is unknown"] } }
    assert.isTrue(Result.isSuccess(interpret({ status: 207, headers: {}, body: JSON.stringify(node) }, {}, 0)))
  })
})
