import { describe, expect, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { type Fault, kindByName } from "../../src/injection/catalogue.ts"
import { TestServer, type TestWorld } from "../../src/testing.ts"
import { bytesOf } from "../../src/transport/replyBytes.ts"
import type { Outcome } from "../http/service.ts"
import { ask, create, get, list } from "./client.ts"

const firstNode = Effect.fnUntraced(function* (world: TestWorld) {
  const [node] = yield* Effect.orDie(world.control.nodes.list({ params: { world: world.id }, query: {} }))
  return yield* get(world, node!.id)
})
const head = (world: TestWorld) => ask(world, "HEAD", "/nodes/")

const asks = {
  "the list": list,
  "its head": head,
  "a page past its end": (world: TestWorld) => list(world, { page_no: "7" }),
  "a node": firstNode,
  "the images": (world: TestWorld) => ask(world, "GET", "/images/")
}

/** Faults that leave a reply as it is, and the request that gets it. */
const harmless: ReadonlyArray<readonly [Fault, keyof typeof asks]> = [
  [{ fault: "headers-missing", headers: ["x-none", "constructor", "__proto__", "location"] }, "the list"],
  [{ fault: "wrong-content-type", value: "application/json" }, "the list"],
  [{ fault: "date-skew", by: "0s" }, "the list"],
  [{ fault: "date-skew", by: "250ms" }, "the list"],
  [{ fault: "latency", delay: "0s" }, "the list"],
  [{ fault: "slow-body", chunk: 1_000_000 }, "the list"],
  [{ fault: "slow-body", pause: "0s" }, "the list"],
  [{ fault: "malformed-json" }, "its head"],
  [{ fault: "list-stale", age: "0s" }, "the list"],
  [{ fault: "list-stale", age: "10 seconds" }, "the list"],
  [{ fault: "list-shifts" }, "the list"],
  [{ fault: "list-shifts", by: 0 }, "the list"],
  [{ fault: "get-lags", age: "0s" }, "a node"],
  [{ fault: "status-unknown", value: "running" }, "a node"],
  [{ fault: "empty-list" }, "a page past its end"],
  ...["constructor", "__proto__", "toString", "nope"].flatMap((field) =>
    (["the list", "a node", "the images"] as const).flatMap((asked) => [
      [{ fault: "field-missing", field }, asked] as const,
      [{ fault: "field-type-changed", field }, asked] as const
    ])
  ),
  [{ fault: "window-changes", limit: 1200 }, "the list"]
]

const worldWith = Effect.fnUntraced(function* (faults: ReadonlyArray<Fault>) {
  const world = yield* (yield* TestServer).makeWorld({ scenario: "small" })
  yield* world.arm(faults)
  return world
})

/** How often each armed fault has fired, and the faults that the journal has of the latest request. */
const counts = Effect.fnUntraced(function* (world: TestWorld) {
  const armed = yield* Effect.orDie(world.control.faults.read({ params: { world: world.id } }))
  return [armed.map(({ fired }) => fired), (yield* world.journal).at(-1)!.faults]
})

const shown = ({ headers, status, text }: Outcome) => ({
  status,
  text,
  headers: [...headers].filter(([name]) => name !== "ratelimit-remaining")
})

layer(TestServer.layer())("a fault that leaves a reply as it is has not fired", (it) => {
  for (const [fault, asked] of harmless) {
    it.effect(`${JSON.stringify(fault)} at ${asked}`, () =>
      Effect.gen(function* () {
        const world = yield* worldWith([])
        const honest = shown(yield* asks[asked](world))
        yield* world.arm([fault])
        expect(shown(yield* asks[asked](world))).toEqual(honest)
        expect(yield* counts(world)).toEqual([[0], []])
      })
    )
  }

  it.effect("and keeps its times for one that it changes", () =>
    Effect.gen(function* () {
      const world = yield* worldWith([
        { fault: "list-stale", times: 1 },
        { fault: "stuck-provisioning" },
        { fault: "stuck-provisioning" }
      ])
      yield* list(world)
      yield* create(world)
      // The second fault acted, so the third has nothing left to do.
      expect(yield* counts(world)).toEqual([[0, 1, 0], ["stuck-provisioning"]])
      expect((yield* list(world)).json.data.length).toBe(5)
      expect((yield* counts(world))[0]).toEqual([1, 1, 0])
    })
  )

  it.effect("a list that has come round to its beginning moves on at the next request", () =>
    Effect.gen(function* () {
      const world = yield* worldWith([{ fault: "list-shifts" }])
      const first = Effect.map(list(world), ({ json }) => json.data[0].id)
      const ids = yield* Effect.forEach([1, 2, 3, 4, 5, 6, 7], () => first)
      expect(new Set(ids.slice(0, 5)).size).toBe(5)
      expect(ids.slice(5)).toEqual(ids.slice(0, 2))
      expect((yield* counts(world))[0]).toEqual([5])
    })
  )
})

describe("malformed-json", () => {
  const formOf = (method: string) => {
    const firing = { fault: { fault: "malformed-json" }, seen: 1, chance: () => 0 }
    return kindByName.get("malformed-json")!.steps(firing, { request: { method }, world: undefined } as never).form!
  }

  it("copies no body that it need not change: they may be long, and a hundred may be armed", () => {
    const reply = HttpServerResponse.jsonUnsafe([1, 2])
    const broken = formOf("GET")(reply)!
    expect(new TextDecoder().decode(bytesOf(broken))).toBe("[1,2,")
    expect(formOf("GET")(broken)).toBeUndefined()
    expect(formOf("HEAD")(reply)).toBeUndefined()
  })
})

layer(TestServer.layer())("headers-missing takes away what the body gives a reply", (it) => {
  const missing = ["content-type", "content-length"] as const

  for (const headers of [...missing, missing]) {
    it.effect(`${headers}, whatever other faults do to the reply after it`, () =>
      Effect.gen(function* () {
        const world = yield* worldWith([])
        const honest = yield* list(world)
        const others: ReadonlyArray<Fault> = [{ fault: "date-skew" }, { fault: "headers-garbage" }]
        for (const after of [[], others]) {
          yield* world.arm([{ fault: "headers-missing", headers }, ...after])
          const reply = yield* list(world)
          expect(missing.filter((name) => reply.headers.has(name))).toEqual(
            missing.filter((name) => !headers.includes(name))
          )
          expect(reply.text).toBe(honest.text)
          expect((yield* counts(world))[0]).toEqual([1, ...after.map(() => 1)])
        }
        yield* world.arm([{ fault: "headers-missing", headers }, { fault: "malformed-json" }])
        const broken = yield* list(world)
        expect(missing.filter((name) => broken.headers.has(name))).toEqual(
          missing.filter((name) => !headers.includes(name))
        )
        expect(broken.text).toBe(`${honest.text.slice(0, -1)},`)
        yield* world.arm([{ fault: "headers-missing", headers }, { fault: "truncated-body" }])
        expect((yield* list(world)).failure).toBeDefined()
        expect((yield* counts(world))[0]).toEqual([1, 1])
      })
    )
  }

  it.effect("also where there is no body, and of the reply to HEAD", () =>
    Effect.gen(function* () {
      const world = yield* worldWith([{ fault: "headers-missing", headers: "content-type" }])
      const [node] = (yield* list(world)).json.data
      const gone = yield* ask(world, "DELETE", `/nodes/${node.id}/`)
      const shown = yield* head(world)
      expect([gone, shown].map(({ headers, status }) => [status, headers.get("content-type")])).toEqual([
        [204, null],
        [200, null]
      ])
      expect((yield* counts(world))[0]).toEqual([3])
    })
  )
})
