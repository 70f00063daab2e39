import { InvalidRequest, NodeNotFound, TimedOut, Unreachable } from "@berthkit/core/promise"
import {
  createTestClient,
  failure,
  layer,
  lost,
  nodeRecord,
  ok,
  type Reply,
  type Script,
  scripted
} from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Option, Redacted, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Nodes } from "../src/client/Nodes.ts"
import { version } from "../src/client/options/version.ts"
import { NodeId } from "../src/domain/Node.ts"
import { inTime } from "./inTime.ts"

const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" })

describe("a scripted promise client", () => {
  it("is answered from the script and records the requests without the credentials", async () => {
    const service = scripted([ok(nodeRecord({ id: 7, name: "web" })), ok({}), failure(404, "There is no node 7.")])
    const client = createTestClient(service)
    assert.strictEqual((await client.nodes.get(7)).name, "web")
    await client.nodes.setCommitment(7, "auto_renew", { skuId: 3 })
    assert.instanceOf(await client.nodes.get(7).catch((error: unknown) => error), NodeNotFound)
    const headers = { accept: "application/json", "user-agent": `berth/${version}` }
    assert.deepStrictEqual(service.requests, [
      { method: "GET", path: "/nodes/7/", query: {}, headers, body: undefined },
      {
        method: "POST",
        path: "/update_committed_node_status/",
        query: {},
        headers: { ...headers, "content-type": "application/json" },
        body: { vcn_id: 7, node_status: "auto_renew", committed_plan: 3 }
      },
      { method: "GET", path: "/nodes/7/", query: {}, headers, body: undefined }
    ])
    await client.close()
  })

  it("may be answered by an asynchronous function", async () => {
    const client = createTestClient(async ({ path, query }) => {
      await Promise.resolve()
      return path === "/nodes/" && query["page_no"] === "1" ? ok([nodeRecord({ id: 1 })]) : ok([])
    })
    assert.lengthOf(await Array.fromAsync(client.nodes.list()), 1)
    await client.close()
  })

  it("may be answered by an Effect, which is interrupted when the client gives the request up", async () => {
    let interrupted = 0
    const client = createTestClient(
      ({ method }) =>
        method === "GET"
          ? Effect.succeed(ok(nodeRecord({ id: 7, name: "web" })))
          : Effect.onInterrupt(Effect.never, () => Effect.sync(() => void interrupted++)),
      { maxAttempts: 1 }
    )
    assert.strictEqual((await client.nodes.get(7)).name, "web")
    const error: unknown = await client.nodes.delete(7, { deadline: 20 }).catch((error: unknown) => error)
    assert.instanceOf(error, TimedOut)
    assert.strictEqual(interrupted, 1)
    await client.close()
  })

  it("is not reached where the function rejects, or its Effect fails", async () => {
    for (const script of [() => Promise.reject<Reply>(refused), () => Effect.fail(refused)]) {
      const client = createTestClient(script, { maxAttempts: 1 })
      const error: unknown = await client.nodes.get(7).catch((error: unknown) => error)
      assert.instanceOf(error, Unreachable)
      assert.deepInclude(error, { sent: "no", detail: "connect ECONNREFUSED" })
      await client.close()
    }
  })

  it("refuses a request that the script has no reply for, and names it", async () => {
    const client = createTestClient([])
    const error: unknown = await client.nodes.delete(7).catch((error: unknown) => error)
    assert.instanceOf(error, InvalidRequest)
    assert.include(error.message, "The script has 0 replies, and none for request 1: DELETE /nodes/7/")
    await client.close()
  })

  it("loses the replies that the script marks as lost", async () => {
    const service = scripted([lost, ok(nodeRecord({ id: 7 }))])
    const client = createTestClient(service)
    assert.strictEqual((await client.nodes.get(7)).id, 7)
    assert.lengthOf(service.requests, 2)
    await client.close()
  })
})

/** Credentials of a program in every place in which it could send them. */
const gateway = { "x-api-key": "for-the-gateway", cookie: "sessionid=1", "x-zone": "blue" }

describe("a scripted layer", () => {
  it.effect("provides the services of the client, whose waits run on the test's clock", () => {
    const service = scripted([failure(503, "Later.", {}, { "retry-after": "20" }), ok([nodeRecord({ id: 1 })]), ok([])])
    return Effect.gen(function* () {
      const nodes = yield* inTime(Stream.runCollect(Stream.unwrap(Nodes.useSync((nodes) => nodes.list()))))
      assert.deepStrictEqual(
        Array.from(nodes, ({ name }) => name),
        ["node-1"]
      )
      assert.lengthOf(service.requests, 3)
    }).pipe(Effect.provide(layer(service)))
  })

  it.effect("fails with the reasons of the client", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Nodes.use((nodes) => nodes.get(NodeId.make(7))))
      assert.strictEqual(error.reason._tag, "NodeNotFound")
    }).pipe(Effect.provide(layer([failure(404, "There is no node 7.")])))
  )

  it.effect("records the requests without the credentials", () => {
    const service = scripted([failure(422, "No."), failure(422, "No.")])
    const account = { apiKey: Redacted.make("a-secret-key"), accessToken: Redacted.make("a-secret-token") }
    return Effect.gen(function* () {
      yield* Effect.flip(Nodes.use((nodes) => nodes.setCommitment(NodeId.make(7), "auto_renew")))
      yield* Effect.flip(Nodes.use((nodes) => nodes.listPage({ page: 2 })))
      const [commitment, page] = service.requests
      assert.deepInclude(commitment, {
        method: "POST",
        path: "/update_committed_node_status/",
        query: {},
        body: { vcn_id: 7, node_status: "auto_renew" }
      })
      assert.deepInclude(page, {
        method: "GET",
        path: "/nodes/",
        query: { page_no: "2", per_page: "100" },
        body: undefined
      })
      assert.deepStrictEqual(page?.headers, {
        accept: "application/json",
        "user-agent": "inventory/1.0",
        "x-zone": "blue"
      })
      assert.notMatch(JSON.stringify(service.requests), /secret|gateway|session/)
    }).pipe(Effect.provide(layer(service, { credentials: account, headers: gateway, userAgent: "inventory/1.0" })))
  })

  it.effect("may be answered by an Effect on the test's clock", () =>
    Effect.gen(function* () {
      const call = yield* Effect.forkChild(Nodes.use((nodes) => nodes.get(NodeId.make(7))))
      yield* TestClock.adjust("9999 millis")
      assert.isUndefined(call.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(call)).id, 7)
    }).pipe(Effect.provide(layer(() => Effect.delay(Effect.succeed(ok(nodeRecord({ id: 7 }))), "10 seconds"))))
  )

  it.effect("interrupts the Effect when the call ends", () => {
    let interrupted = 0
    const silent = Effect.onInterrupt(Effect.never, () => Effect.sync(() => void interrupted++))
    return Effect.gen(function* () {
      const answered = yield* Effect.timeoutOption(
        Nodes.use((nodes) => nodes.get(NodeId.make(7))),
        "1 second"
      ).pipe(inTime)
      assert.isTrue(Option.isNone(answered))
      assert.strictEqual(interrupted, 1)
    }).pipe(Effect.provide(layer(() => silent)))
  })

  for (const [how, script] of [
    ["the Effect fails", () => Effect.fail(refused)],
    ["the Promise rejects", () => Promise.reject<Reply>(refused)]
  ] as ReadonlyArray<readonly [string, Script]>) {
    it.effect(`is not reached where ${how}`, () =>
      Effect.gen(function* () {
        const { reason } = yield* Effect.flip(Nodes.use((nodes) => nodes.get(NodeId.make(7), { retry: false })))
        assert.deepInclude(reason, { _tag: "Unreachable", sent: "no", detail: "connect ECONNREFUSED" })
      }).pipe(Effect.provide(layer(script)))
    )
  }

  it.effect("ends the call at once where the function throws, such as a failed assertion", () => {
    const service = scripted(() => {
      throw new Error("asserted")
    })
    return Effect.gen(function* () {
      const exit = yield* Effect.exit(Nodes.use((nodes) => nodes.get(NodeId.make(7))))
      assert.isTrue(Exit.hasDies(exit))
      assert.lengthOf(service.requests, 1)
    }).pipe(Effect.provide(layer(service)))
  })
})
