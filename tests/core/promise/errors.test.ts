import * as Berth from "@berthkit/core/promise"
import { type Client, type ClientOptions, createClient } from "@berthkit/core/promise"
import { assert, describe, it } from "@effect/vitest"
import * as Reasons from "@berthkit/core/domain/ErrorReason"
import vectors from "@berthkit/testing/vectors/failures.json" with { type: "json" }
import { accessToken, apiKey, bareService, mockService, rejection } from "./Service.ts"

const spec = { name: "web", plan: "C-4VCPU-16RAM-100DISK", image: "Ubuntu-22.04" }

// A deadline that is long enough for every attempt, but too short for the reconciliation of a create that may have made a node.
const short = { deadline: 3000 }

const operations: Record<string, (client: Client) => Promise<unknown>> = {
  "nodes.get": (client) => client.nodes.get(7, short),
  "nodes.list": (client) => Array.fromAsync(client.nodes.list(short)),
  "nodes.create": (client) => client.nodes.create(spec, short),
  "nodes.delete": (client) => client.nodes.delete(7, short)
}

/** The exported class of that name. */
const classOf = (tag: string) => (Berth as unknown as Record<string, new () => Berth.BerthError>)[tag]!

describe("a failure", () => {
  for (const { body, expect, headers, name, operation, status } of vectors) {
    it(`${name} rejects with ${expect.reason}`, async () => {
      await using service = await bareService((request, response) => {
        // The lists before and after a create show an account without nodes.
        const listing = operation === "nodes.create" && request.method === "GET"
        if (listing) response.end(`{"message":"Success","code":200,"data":[],"errors":{}}`)
        else response.writeHead(status, headers).end(body)
      })
      const error = await rejection(operations[operation]!(service.client))
      if (expect.reason !== error._tag) {
        // This create may have made a node, and its reconciliation takes longer than the deadline.
        assert.strictEqual(operation, "nodes.create")
        assert.strictEqual(error._tag, "OutcomeUnknown")
      }
      assert.instanceOf(error, classOf(error._tag))
      assert.instanceOf(error, Error)
      assert.isTrue(Berth.isBerthError(error))
      assert.strictEqual(error.name, error._tag)
      assert.strictEqual(error.operation, operation)
      assert.match(error.message, /^[A-Z].*\.$/s)
      assert.match(error.hint, /^[A-Z].*\.$/s)
      assert.strictEqual(typeof error.retryable, "boolean")
      for (const attempt of error.attempts) assert.strictEqual(attempt.status, status)
    })
  }

  it("of every reason has its own class", () => {
    const tags = Object.keys(Reasons).filter((name) => /^[A-Z]/.test(name))
    assert.lengthOf(tags, 18)
    for (const tag of tags) {
      assert.strictEqual(classOf(tag).name, tag)
      assert.isTrue(classOf(tag).prototype instanceof Berth.BerthError, tag)
    }
  })

  it("carries the fields of its reason and the ledger, as plain values", async () => {
    await using service = await mockService()
    const error = await rejection(service.client.nodes.get(7))
    assert.instanceOf(error, Berth.NodeNotFound)
    assert.strictEqual(error.nodeId, 7)
    assert.lengthOf(error.attempts, 1)
    const [attempt] = error.attempts
    assert.strictEqual(attempt!.outcome, "NodeNotFound")
    assert.instanceOf(attempt!.allowance?.resetAt, Date)
    assert.deepInclude(JSON.parse(JSON.stringify(error)), {
      _tag: "NodeNotFound",
      operation: "nodes.get",
      nodeId: 7,
      message: error.message,
      hint: error.hint
    })
  })

  it("is distinguished from anything else that is thrown", () => {
    for (const other of [new Error("other"), { _tag: "NodeNotFound" }, null, undefined, "NodeNotFound"]) {
      assert.isFalse(Berth.isBerthError(other))
    }
  })

  it("has the reply that the call failed with, its id for the service's support, and no credential in either", async () => {
    await using service = await bareService((_, response) => {
      response.writeHead(409, { "x-request-id": "r-7", "x-echo": apiKey, "set-cookie": "session=1" })
      response.end(JSON.stringify({ message: `locked by ${accessToken}`, code: 409, data: {}, errors: {} }))
    })
    const replies: Array<Berth.RawReply> = []
    const error = await rejection(service.client.nodes.get(7, { onReply: (reply) => replies.push(reply) }))
    assert.instanceOf(error, Berth.Conflict)
    assert.strictEqual(error.status, 409)
    assert.strictEqual(error.requestId, "r-7")
    assert.deepInclude(error.response, {
      status: 409,
      body: '{"message":"locked by <redacted>","code":409,"data":{},"errors":{}}'
    })
    assert.include(error.response!.headers, { "x-request-id": "r-7", "x-echo": "<redacted>" })
    assert.notProperty(error.response!.headers, "set-cookie")
    assert.deepStrictEqual(replies, [error.response!])
    assert.deepInclude(JSON.parse(JSON.stringify(error)), { status: 409, requestId: "r-7", response: error.response })
  })

  it("keeps a status of its own, and has none where there was no reply or nothing was sent", async () => {
    await using service = await bareService((_, response) => response.writeHead(501).end())
    const { nodes } = service.client
    const fault = await rejection(nodes.get(7, { deadline: 3000 }))
    assert.instanceOf(fault, Berth.ServiceFault)
    assert.deepStrictEqual([fault.status, fault.response?.status, fault.requestId], [501, 501, null])
    const none = { status: null, requestId: null, response: null }
    assert.deepInclude(await rejection(nodes.get(0)), none)
    assert.deepInclude(await rejection(nodes.get(7, { deadline: -1 })), none)
    assert.deepInclude(await rejection(nodes.get(7, { signal: AbortSignal.abort() })), none)
  })

  it("comes after as many attempts as the client may make", async () => {
    let requests = 0
    await using service = await bareService((_, response) => (requests++, response.writeHead(503).end()), {
      maxAttempts: 2
    })
    const error = await rejection(service.client.nodes.get(7))
    assert.lengthOf(error.attempts, 2)
    assert.strictEqual(requests, 2)
  })

  it("has a stack that leads to the caller", async () => {
    await using service = await mockService()
    const whoCalled = async () => {
      await service.client.nodes.get(7)
    }
    const error = await rejection(whoCalled())
    assert.match(error.stack!, /whoCalled/)
  })

  it("of a port without a listener is `Unreachable`, and nothing was sent", async () => {
    const { baseUrl, [Symbol.asyncDispose]: stop } = await bareService(() => {})
    await stop()
    const client = createClient({ baseUrl, apiKey, accessToken, ...short })
    const error = await rejection(client.nodes.get(7))
    assert.instanceOf(error, Berth.Unreachable)
    assert.strictEqual(error.sent, "no")
    await client.close()
  })

  it("of the `fetch` itself is typed too", async () => {
    const broken: Array<unknown> = [
      () => {
        throw new Error("no network here")
      },
      () => Promise.reject(undefined),
      () => undefined,
      () => Promise.resolve({})
    ]
    for (const fetch of broken) {
      const client = createClient({
        baseUrl: "http://berth.test",
        apiKey,
        accessToken,
        fetch: fetch as typeof globalThis.fetch,
        ...short,
        deadline: "200 millis"
      })
      assert.isNotEmpty((await rejection(client.nodes.get(7))).message)
      await client.close()
    }
  })
})

describe("a client", () => {
  const good: ClientOptions = { baseUrl: "https://service.test", apiKey: "k", accessToken: "t" }
  const bad: ReadonlyArray<readonly [option: string, options: unknown]> = [
    ["options", undefined],
    ["options", "https://service.test"],
    ["baseUrl", { ...good, baseUrl: undefined }],
    ["baseUrl", { ...good, baseUrl: "service.test" }],
    ["baseUrl", { ...good, baseUrl: "ftp://service.test" }],
    ["baseUrl", { ...good, baseUrl: "https://service.test/elsewhere" }],
    ["baseUrl", { ...good, baseUrl: "http://:p@service.test" }],
    ["baseUrl", { ...good, baseUrl: "https://service.test/#fragment" }],
    ["baseUrl", { ...good, baseUrl: 7 }],
    ["options", []],
    ["apiKey", { ...good, apiKey: undefined }],
    ["apiKey", { ...good, apiKey: "" }],
    ["apiKey", { ...good, apiKey: "with\nnewline" }],
    ["apiKey", { ...good, apiKey: 7 }],
    ["accessToken", { ...good, accessToken: "" }],
    ["deadline", { ...good, deadline: 0 }],
    ["deadline", { ...good, deadline: Number.NaN }],
    ["deadline", { ...good, deadline: "soon" }],
    ["deadline", { ...good, deadline: {} }],
    ["attemptTimeout", { ...good, attemptTimeout: -1 }],
    ["lane", { ...good, lane: "fast" }],
    ["fetch", { ...good, fetch: {} }],
    ["onAttempt", { ...good, onAttempt: "log" }],
    ["maxAttempts", { ...good, maxAttempts: 0 }],
    ["maxAttempts", { ...good, maxAttempts: 9 }],
    ["maxAttempts", { ...good, maxAttempts: "2" }],
    ["headers", { ...good, headers: "x-team: web" }],
    ["headers", { ...good, headers: { authorization: "Basic 7" } }],
    ["headers", { ...good, headers: { "x team": "web" } }],
    ["headers", { ...good, headers: { "x-team": "web\nx-other: 1" } }],
    ["userAgent", { ...good, userAgent: 7 }],
    ["userAgent", { ...good, userAgent: "" }],
    ["maxBodyBytes", { ...good, maxBodyBytes: 0 }],
    ["maxBodyTokens", { ...good, maxBodyTokens: 1.5 }],
    ["apikey", { ...good, apikey: "k" }]
  ]
  for (const [option, options] of bad) {
    it(`is not made with ${JSON.stringify(options)}: ${option} is named`, () => {
      let error: unknown
      try {
        createClient(options as ClientOptions)
      } catch (thrown) {
        error = thrown
      }
      assert.instanceOf(error, Berth.InvalidOption)
      assert.strictEqual(error.option, option)
      assert.strictEqual(error.operation, "createClient")
      assert.include(error.message, option)
    })
  }
})

describe("a call", () => {
  const client = createClient({
    baseUrl: "https://service.test",
    apiKey,
    accessToken,
    fetch: () => assert.fail("sent")
  })
  const circular: Array<unknown> = []
  circular.push(circular)
  const listening = () => {}
  const calls: ReadonlyArray<readonly [tag: string, named: string, call: () => Promise<unknown>]> = [
    ["InvalidOption", "deadline", () => client.nodes.get(7, { deadline: -1 })],
    ["InvalidOption", "lane", () => client.nodes.get(7, { lane: "fast" as never })],
    ["InvalidOption", "signal", () => client.nodes.get(7, { signal: {} as never })],
    ["InvalidOption", "signal", () => client.nodes.get(7, { signal: new EventTarget() as never })],
    [
      "InvalidOption",
      "signal",
      () =>
        client.nodes.get(7, {
          signal: { aborted: false, addEventListener: listening, removeEventListener: listening } as never
        })
    ],
    ["InvalidOption", "timeout", () => client.nodes.get(7, { timeout: 1 } as never)],
    ["InvalidOption", "timeout", () => client.nodes.awaitStatus(7, "running", { timeout: "later" as never })],
    ["InvalidOption", "skuId", () => client.nodes.setCommitment(7, "auto_renew", { skuId: "1" as never })],
    ["InvalidOption", "options", () => client.nodes.get(7, 5 as never)],
    ["InvalidOption", "options", () => client.nodes.get(7, [] as never)]
  ]
  for (const [tag, named, call] of calls) {
    it(`that cannot be meant is refused before it is sent: ${String(call).slice(6).replace(/\s+/g, " ")}`, async () => {
      const error = await rejection(call())
      assert.strictEqual(error._tag, tag)
      assert.include(error.message, named)
    })
  }

  const statuses = '"creating", "created", "running", "power-off", "terminate"'
  const wrong: ReadonlyArray<readonly [fields: Record<string, string>, call: () => Promise<unknown>]> = [
    [{ id: "expected a value greater than or equal to 1" }, () => client.nodes.get(0)],
    [{ id: "expected an integer" }, () => client.nodes.get(1.5)],
    [{ id: "expected a number" }, () => client.nodes.get("7" as never)],
    [{ id: "expected a number" }, () => client.nodes.delete(undefined as never)],
    [{ id: "expected a number or a list" }, () => client.nodes.awaitDeleted("7" as never)],
    [{ "id[1]": "expected a number" }, () => client.nodes.awaitDeleted([7, "8"] as never)],
    [{ spec: "expected an object" }, () => client.nodes.create(undefined as never)],
    [{ name: "it is needed", plan: "it is needed", image: "it is needed" }, () => client.nodes.create({} as never)],
    [{ name: "expected a text, but it is empty" }, () => client.nodes.create({ ...spec, name: "" })],
    [{ name: "expected a text, but it is empty" }, () => client.nodes.create({ ...spec, name: "  \t" })],
    [
      { name: "expected a value with a length of at most 255" },
      () => client.nodes.create({ ...spec, name: "n".repeat(256) })
    ],
    [{ plan: "expected a text, but it is empty" }, () => client.nodes.create({ ...spec, plan: " " })],
    [{ image: "expected a text, but it is empty" }, () => client.nodes.create({ ...spec, image: "" })],
    [{ image: "expected a text or a number" }, () => client.nodes.create({ ...spec, image: null as never })],
    [{ region: 'expected "ncr"' }, () => client.nodes.create({ ...spec, region: "us" as never })],
    [{ ssh_keys: "there is no such field" }, () => client.nodes.create({ ...spec, ssh_keys: ["k"] } as never)],
    [{ tags: "expected a list" }, () => client.nodes.create({ ...spec, tags: "a" as never })],
    [{ "tags[1]": "expected a text" }, () => client.nodes.create({ ...spec, tags: ["a", 1] as never })],
    [{ backups: "expected true or false" }, () => client.nodes.create({ ...spec, backups: 1 as never })],
    [
      { setting: 'expected one of "auto_renew", "auto_terminate", "hourly_billing"' },
      () => client.nodes.setCommitment(7, "never" as never)
    ],
    [{ wanted: `expected one of ${statuses}` }, () => client.nodes.awaitStatus(7, "Running" as never)],
    [{ filter: "expected an object" }, () => client.images.list("x" as never)],
    [{ cpu: "there is no such field" }, () => client.images.list({ cpu: 4 } as never)],
    [
      { method: 'expected one of "GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"' },
      () => client.raw.request({ method: "get", path: "/" } as never)
    ],
    [{ request: "expected an object" }, () => client.raw.request(undefined as never)],
    [
      { "query.a": "expected a text" },
      () => client.raw.request({ method: "GET", path: "/", query: { a: 1 as never } })
    ],
    ...[circular, () => 1, Symbol("s"), 1n].map(
      (body) =>
        [
          { body: "expected what can be written as JSON" },
          () => client.raw.request({ method: "POST", path: "/", body })
        ] as const
    ),
    [
      { body: "expected no body, because a GET has none" },
      () => client.raw.request({ method: "GET", path: "/nodes/", body: { a: 1 } })
    ],
    ...["/nodes/?page_no=2", "/nodes/#top"].map(
      (path) =>
        [
          { path: "expected a path below /myaccount/api/v1, without a query or a fragment" },
          () => client.raw.request({ method: "GET", path })
        ] as const
    ),
    ...["../../x", "/%2e%2E/x", "..\\..\\x", "/myaccount/api/v1/../v2/nodes/"].map(
      (path) =>
        [
          { path: "expected a path without backslashes and control characters, and without . or .. as a part" },
          () => client.raw.request({ method: "GET", path })
        ] as const
    )
  ]
  for (const [fields, call] of wrong) {
    it(`is rejected before it is sent, with the reason: ${JSON.stringify(fields)}`, async () => {
      const error = await rejection(call())
      assert.instanceOf(error, Berth.InvalidRequest)
      assert.deepStrictEqual(
        error.fields,
        Object.fromEntries(Object.entries(fields).map(([field, message]) => [field, [message]]))
      )
      const sentence = Object.entries(fields).map(([field, message]) => `${field}: ${message}`)
      assert.strictEqual(error.message, `The request cannot be sent: ${sentence.join("; ")}.`)
      assert.strictEqual(error.status, null)
      assert.deepStrictEqual(error.attempts, [])
    })
  }

  it("to list throws at once when its options cannot be meant", () => {
    assert.throws(() => client.nodes.list({ deadline: -1 }), Berth.InvalidOption)
    assert.throws(() => client.nodes.list({ exact: "no" as never }), Berth.InvalidOption, /exact/)
    assert.throws(() => client.nodes.list({ maxNodes: "9" as never }), Berth.InvalidOption, /maxNodes/)
  })
})
