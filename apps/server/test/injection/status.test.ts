import { describe, expect, it, layer } from "@effect/vitest"
import vectors from "@berthkit/testing/vectors/failures.json" with { type: "json" }
import { Effect, Result } from "effect"
import type { Fault } from "../../src/injection/catalogue.ts"
import { readFaultFlag, readFaults } from "../../src/injection/readFaults.ts"
import { TestServer } from "../../src/testing.ts"
import { control } from "../control/plane.ts"
import { callAs, errorsOf, send } from "../http/service.ts"

type StatusFault = Extract<Fault, { fault: "status" }>

/** The reply to a list while a fault is armed. Redirects are not followed. */
const replyUnder = Effect.fnUntraced(function* (fault: Omit<StatusFault, "fault">, method = "GET") {
  const world = yield* (yield* TestServer).makeWorld()
  yield* world.arm([{ fault: "status", ...fault }])
  return yield* callAs(world, method, "/nodes/")
})

layer(TestServer.layer())("a status of one's own", (it) => {
  for (const { body, headers, name, status } of vectors) {
    it.effect(`plays a reply that a client may meet: ${name}`, () =>
      Effect.gen(function* () {
        const own = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined))
        const reply = yield* replyUnder({ status, headers: own, ...(body === "" ? { envelope: false } : { body }) })
        expect([reply.status, reply.text]).toEqual([status, body])
        for (const [header, value] of Object.entries(own))
          expect([header, reply.headers.get(header)]).toEqual([header, value])
      })
    )
  }

  it.effect("has the message and the errors of the envelope", () =>
    Effect.gen(function* () {
      const errors = { node: ["Node 7 is locked."], name: "taken" }
      const { json, status } = yield* replyUnder({ status: 409, message: "Node 7 is locked.", errors })
      expect([status, json]).toEqual([409, { message: "Node 7 is locked.", code: 409, data: {}, errors }])
      const part = yield* replyUnder({ status: 412, message: "Insufficient credits" })
      expect(part.json).toEqual({
        message: "Insufficient credits",
        code: 412,
        data: {},
        errors: { detail: ["Insufficient credits"] }
      })
      const success = yield* replyUnder({ status: 200, errors: { detail: "all is not well" } })
      expect(success.json).toEqual({ message: "Success", code: 200, data: {}, errors: { detail: "all is not well" } })
    })
  )

  it.effect("has a body of up to 32 levels, which a snapshot of its world takes along", () =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld()
      const path = `/worlds/${world.id}`
      const arm = (levels: number) =>
        control("PUT", `${path}/faults`, [
          { fault: "status", body: JSON.parse("[".repeat(levels) + "]".repeat(levels)) }
        ])
      expect(Object.keys(errorsOf(yield* arm(33), 422))).toEqual(["0.body"])
      expect((yield* arm(32)).status).toBe(200)
      const { json } = yield* control("GET", `${path}/snapshot`)
      expect((yield* control("PUT", `${path}/snapshot`, json)).status).toBe(200)
    })
  )

  it.effect("has any JSON as its body, or a text as it is", () =>
    Effect.gen(function* () {
      for (const body of [{ detail: "no" }, [], 7, true, null] as const) {
        const reply = yield* replyUnder({ status: 400, body })
        expect([reply.json, reply.headers.get("content-type")]).toEqual([body, "application/json"])
      }
      const text = yield* replyUnder({ status: 400, body: '{"detail":' })
      expect([text.text, text.headers.get("content-type")]).toEqual(['{"detail":', "text/plain"])
    })
  )

  it.effect("has its own headers, which override those of every reply, and the other headers", () =>
    Effect.gen(function* () {
      const { headers } = yield* replyUnder({
        status: 429,
        headers: { Date: "Fri, 20 Nov 2026 10:00:00 GMT", "RateLimit-Reset": "soon", "X-Request-Id": "a b" },
        retryAfter: 17
      })
      expect(
        ["date", "ratelimit-reset", "x-request-id", "retry-after", "ratelimit-limit"].map((name) => headers.get(name))
      ).toEqual(["Fri, 20 Nov 2026 10:00:00 GMT", "soon", "a b", "17", "1200"])
    })
  )

  it.effect("answers HEAD with its headers and no body", () =>
    Effect.gen(function* () {
      const reply = yield* replyUnder({ status: 503, body: "later", headers: { "x-a": "b" } }, "HEAD")
      expect([reply.status, reply.text, reply.headers.get("x-a")]).toEqual([503, "", "b"])
    })
  )

  for (const [fault, field] of [
    [{ headers: { "content-length": "1" } }, "headers.content-length"],
    [{ headers: { "Transfer-Encoding": "chunked" } }, "headers.Transfer-Encoding"],
    [{ headers: { connection: "close" } }, "headers.connection"],
    [{ headers: { "x-a": "b\r\nset-cookie: c=d" } }, "headers.x-a"],
    [{ headers: { "x-a\r\nx-b": "c" } }, "headers.x-a\r\nx-b"],
    [{ headers: { "": "c" } }, "headers."],
    [{ headers: { "x a": "c" } }, "headers.x a"],
    [{ headers: { "x-a": "é" } }, "headers.x-a"],
    [{ headers: { "x-a": 1 } }, "headers.x-a"],
    [{ headers: { "x-a": "1", "X-A": "2" } }, "headers.x-a"],
    [{ headers: { "x-a": "a".repeat(8_192) } }, "headers"],
    [{ headers: Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`x-${index}`, ""])) }, "headers"],
    [{ headers: { "Retry-After": "1" }, retryAfter: 1 }, "headers.Retry-After"],
    [{ message: "a".repeat(1_001) }, "message"],
    [{ errors: { name: 1 } }, "errors.name"],
    [{ errors: { name: [1] } }, "errors.name.0"],
    [{ body: "a".repeat(65_537) }, "body"],
    [{ body: ["é".repeat(33_000)] }, "body"],
    [{ body: {}, message: "x" }, "body"],
    [{ body: {}, envelope: false }, "body"],
    [{ envelope: false, message: "x" }, "message"],
    [{ envelope: false, errors: {} }, "errors"],
    [{ status: 204, body: "x" }, "body"],
    [{ status: 304, message: "x" }, "message"]
  ] as const) {
    it.effect(`is refused by its field: ${JSON.stringify(fault).slice(0, 80)}`, () =>
      Effect.gen(function* () {
        const reply = yield* control("PUT", "/worlds/default/faults", [{ fault: "status", ...fault }])
        expect([reply.status, Object.keys(reply.json.errors)[0]]).toEqual([422, `0.${field}`])
      })
    )
  }

  it.effect("is refused by its field, whatever its name: __proto__, constructor", () =>
    Effect.gen(function* () {
      for (const name of ["__proto__", "constructor", "toString"]) {
        const faults = `[{"fault":"status","headers":{"${name}":1},"errors":{"${name}":1}}]`
        const { json, status } = yield* Effect.flatMap(TestServer, ({ baseUrl }) =>
          send(`${baseUrl}/_mock/worlds/default/faults`, {
            method: "PUT",
            body: faults,
            headers: { "content-type": "application/json" }
          })
        )
        expect([name, status, Object.keys(json.errors)]).toEqual([name, 422, [`0.errors.${name}`, `0.headers.${name}`]])
      }
    })
  )
})

describe("a status after --fault", () => {
  it.each([
    [
      "status:status=409:message=Node 7 is locked, alas:errors=node=locked",
      { status: 409, message: "Node 7 is locked, alas", errors: { node: "locked" } }
    ],
    [
      "status:errors=name=blank:errors=name=too long, too:errors=plan=no stock",
      { errors: { name: ["blank", "too long, too"], plan: "no stock" } }
    ],
    [
      "status:status=302:headers=location=https://portal.invalid/login?next=a:headers=x-a=b,c",
      { status: 302, headers: { location: "https://portal.invalid/login?next=a", "x-a": "b,c" } }
    ],
    ['status:status=403:body={"detail":"no","codes":[1,2]}', { status: 403, body: { detail: "no", codes: [1, 2] } }],
    ['status:body={"a:b=c":1,"d":[":e=f"]}:times=2', { body: { "a:b=c": 1, d: [":e=f"] }, times: 2 }],
    ["status:body={oops:times=2", { body: "{oops", times: 2 }],
    ["status:body=slow down, please", { body: "slow down, please" }],
    ["status:message=404", { message: "404" }]
  ])("%s", (text, options) => {
    const fault = { fault: "status", ...options }
    expect(Result.getOrThrow(readFaultFlag(text))).toEqual(fault)
    expect(Result.getOrThrow(readFaults([fault]))).toEqual([fault])
  })

  it("is refused in a sentence", () => {
    expect(Result.getOrThrow(Result.flip(readFaultFlag("status:headers=content-length=1")))).toBe(
      "headers.content-length: Expected another header: the server itself sets this one, which decides where a reply ends."
    )
    expect(Result.getOrThrow(Result.flip(readFaultFlag("status:headers=x-a=1:headers=x-a=2")))).toContain(
      "headers.x-a:"
    )
  })
})
