import { layer, ok, type Reply } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Clock, Duration, Effect, Exit, Fiber, Layer, Logger, Option, Redacted, Result, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { Allowance } from "../../src/client/Allowance.ts"
import { type Ledger, LedgerBegun } from "../../src/client/call/Attempt.ts"
import * as Berth from "../../src/client/Berth.ts"
import { Images } from "../../src/client/Images.ts"
import type { Listed, ListedPage } from "../../src/client/listing/Listed.ts"
import { Nodes } from "../../src/client/Nodes.ts"
import { Plans } from "../../src/client/Plans.ts"
import { RawApi } from "../../src/client/RawApi.ts"
import type { BerthError } from "../../src/domain/BerthError.ts"
import { NodeId } from "../../src/domain/Node.ts"
import { accessToken, apiKey, oddCredentials } from "../oddCredentials.ts"
import { signedRequests } from "../signedRequests.ts"
import { inTime } from "../inTime.ts"

const id = NodeId.make(7)
const record = (over: Record<string, unknown> = {}) => ({
  id: 7,
  name: "web",
  created_at: "2026-03-01T10:20:30Z",
  status: "running",
  ...over
})

/** No reply, because a call of the system failed with this code. */
const noReply = (code: string, syscall = "read") =>
  Effect.fail(new Cause.UnknownError(Object.assign(new Error(`${syscall} ${code}`), { code, syscall }), "fetch failed"))

/** A client that always gets this reply. */
const answered = (reply: Reply) => layer(() => reply)

describe("a request", () => {
  const clientOf = (transport: ReturnType<typeof signedRequests>) =>
    Layer.provide(Berth.layer({ baseUrl: "https://service.test", credentials: oddCredentials }), transport)

  it.effect("goes to the documented address with the key in the query and the token as bearer", () => {
    const seen: Array<string> = []
    const transport = signedRequests([ok(record())], ({ headers, method }, url) => {
      seen.push(`${method} ${url.origin}${url.pathname}`, url.searchParams.get("apikey")!)
      seen.push(headers["authorization"]!)
    })
    return Effect.gen(function* () {
      yield* Nodes.use((nodes) => nodes.get(id))
      assert.deepStrictEqual(seen, [
        "GET https://service.test/myaccount/api/v1/nodes/7/",
        apiKey,
        `Bearer ${accessToken}`
      ])
    }).pipe(Effect.provide(clientOf(transport)))
  })

  it.effect("of a create carries only the fields of the spec, under the wire's names", () => {
    let sent: unknown
    const client = layer(({ body, method }) => {
      // The list is read before the create; the account has no nodes.
      if (method === "GET") return ok([])
      sent = body
      return { ...ok(record({ status: "Create" })), status: 202 }
    })
    return Effect.gen(function* () {
      const created = yield* Nodes.use((nodes) =>
        nodes.create({ name: "web", plan: "P", image: "I", sshKeys: ["k"], savedImageTemplateId: 9, publicIp: false })
      )
      assert.strictEqual(created.outcome, "created")
      assert.strictEqual(created.node.status, "creating")
      assert.deepStrictEqual(sent, {
        name: "web",
        region: "ncr",
        plan: "P",
        image: "I",
        ssh_keys: ["k"],
        is_saved_image: true,
        saved_image_template_id: 9,
        default_public_ip: false
      })
    }).pipe(Effect.provide(client))
  })

  it.effect("of the raw interface reaches any path and returns the whole reply", () => {
    let seen = ""
    const transport = signedRequests([ok([], { "x-zone": "b" })], (_, url) => void (seen = url.pathname + url.search))
    return Effect.gen(function* () {
      const reply = yield* RawApi.use((raw) => raw.request({ method: "GET", path: "volumes/", query: [["a", "b"]] }))
      assert.deepStrictEqual([reply.status, reply.headers["x-zone"], reply.body], [200, "b", ok([]).body])
      assert.match(seen, /^\/myaccount\/api\/v1\/volumes\/\?a=b&apikey=/)
    }).pipe(Effect.provide(clientOf(transport)))
  })
})

describe("success", () => {
  for (const reply of [
    { status: 204 },
    ok({}),
    { status: 200, body: `{"message":"Success","code":200,"data":null,"errors":{}}` },
    { status: 202, body: "" }
  ]) {
    it.effect(
      `of a delete and of a commitment may be ${reply.status} with ${JSON.stringify(reply.body ?? "no body")}`,
      () =>
        Effect.gen(function* () {
          yield* Nodes.use((nodes) => nodes.delete(id))
          yield* Nodes.use((nodes) => nodes.setCommitment(id, "hourly_billing"))
        }).pipe(Effect.provide(answered(reply)))
    )
  }

  it.effect("of a get may come without the envelope", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Nodes.use((nodes) => nodes.get(id))).name, "web")
    }).pipe(Effect.provide(answered({ status: 200, body: JSON.stringify(record()) })))
  )

  it.effect("of the saved images may stand under `images`, with the plan under `size`", () =>
    Effect.gen(function* () {
      const plans = yield* Plans.use((plans) => plans.list())
      assert.deepStrictEqual(
        plans.map(({ images, memoryMib, plan, pricePerHourInr }) => ({ images, memoryMib, plan, pricePerHourInr })),
        [{ plan: "A-1VCPU-2RAM-30DISK", images: ["one", "two"], memoryMib: 2048, pricePerHourInr: 3.5 }]
      )
    }).pipe(
      Effect.provide(
        answered({
          status: 200,
          body: JSON.stringify({
            message: "Success",
            code: 200,
            errors: {},
            images: ["one", "two"].map((image) => ({
              name: image,
              image,
              size: "A-1VCPU-2RAM-30DISK",
              specs: { ram: "2.00", price_per_hour: "3.5" }
            }))
          })
        })
      )
    )
  )
})

/** A service with nodes 1 to `total`, and at most `largest` a page. */
const paged = (total: number, largest: number, requests: Array<number>) =>
  layer(({ query }) => {
    const page = Number(query["page_no"] ?? 1)
    const size = Math.min(largest, Number(query["per_page"]))
    requests.push(page)
    const ids = Array.from({ length: total }, (_, i) => i + 1).slice((page - 1) * size, page * size)
    return ok(ids.map((id) => record({ id })))
  })

const listed = Nodes.use((nodes) => Stream.runCollect(nodes.list()))

describe("the list of nodes", () => {
  for (const [total, largest, requests] of [
    [0, 100, 2],
    [1, 100, 2],
    [100, 100, 2],
    [250, 100, 3],
    [300, 100, 4],
    [45, 20, 3],
    [10_000, 100, 114]
  ] as const) {
    it.effect(`has all ${total} nodes after ${requests} requests where a page holds at most ${largest}`, () => {
      const seen: Array<number> = []
      return Effect.gen(function* () {
        const nodes = yield* listed
        assert.deepStrictEqual(
          nodes.map(({ id }) => id as number),
          Array.from({ length: total }, (_, i) => i + 1)
        )
        assert.strictEqual(seen.length, requests)
      }).pipe(Effect.provide(paged(total, largest, seen)))
    })
  }

  for (const [way, first, order] of [
    ["newest first", 1, (ids: Array<number>) => ids.toReversed()],
    ["by its names", 1, (ids: Array<number>) => ids.toSorted((a, b) => (`${a}` < `${b}` ? -1 : 1))],
    ["in order, its pages counted from 0", 0, (ids: Array<number>) => ids]
  ] as const) {
    it.effect(`has all nodes of a service that lists them ${way}, and is not called complete`, () => {
      const ids = order(Array.from({ length: 250 }, (_, i) => i + 1))
      let complete: unknown
      return Effect.gen(function* () {
        const onEnd = (listed: Listed) => Effect.sync(() => void (complete = listed.complete))
        const nodes = yield* Nodes.use((nodes) => Stream.runCollect(nodes.list({ onEnd })))
        assert.sameMembers(
          nodes.map(({ id }) => Number(id)),
          ids
        )
        assert.isFalse(complete)
      }).pipe(
        Effect.provide(
          layer(({ query }) => {
            const page = Number(query["page_no"] ?? first) - first
            const size = Number(query["per_page"])
            return ok(ids.slice(page * size, (page + 1) * size).map((id) => record({ id })))
          })
        )
      )
    })
  }

  it.effect("ends when the service returns the same page for any request, and emits an id once", () => {
    let requests = 0
    const page = [1, 2, 2, 3].map((id) => record({ id }))
    return Effect.gen(function* () {
      assert.deepStrictEqual(
        (yield* listed).map(({ id }) => Number(id)),
        [1, 2, 3]
      )
      assert.isBelow(requests, 10)
    }).pipe(Effect.provide(layer(() => (requests++, ok(page)))))
  })

  it.effect("requests no page that is not pulled", () => {
    const seen: Array<number> = []
    return Effect.gen(function* () {
      yield* Nodes.use((nodes) => Stream.runDrain(Stream.take(nodes.list(), 50)))
      assert.deepStrictEqual(seen, [1])
    }).pipe(Effect.provide(paged(1000, 100, seen)))
  })
})

describe("a page with a record that cannot be read", () => {
  const records = [record(), { name: "nameless" }, record({ id: 9, name: {} }), "text"]

  it.effect("is a page of the other nodes, and keeps every place as a page of records", () =>
    Effect.gen(function* () {
      const nodes = yield* Nodes
      assert.deepStrictEqual(
        (yield* nodes.listPage()).map((node) => node.id),
        [id]
      )
      const { records: page } = yield* nodes.readPage()
      assert.deepStrictEqual(
        page.map((record) => ("_tag" in record ? [record.id, record.name, record.field] : record.id)),
        [id, [null, "nameless", "id"], [NodeId.make(9), null, "name"], [null, null, ""]]
      )
    }).pipe(Effect.provide(layer(() => ok(records))))
  )

  it.effect("is reported by a page as by a list: to onEnd each time, and once as a warning", () =>
    Effect.gen(function* () {
      const warnings: Array<string> = []
      const logger = Logger.make(({ message }) => void warnings.push(String(message)))
      const seen: Array<unknown> = []
      const onEnd = ({ unreadable }: ListedPage) =>
        Effect.sync(() => void seen.push(unreadable.map(({ field, id, name }) => [id, name, field])))
      yield* Effect.gen(function* () {
        const nodes = yield* Nodes
        yield* nodes.listPage({ onEnd })
        yield* nodes.listPage({ onEnd })
        yield* Stream.runDrain(nodes.list())
      }).pipe(
        Effect.provide(
          Layer.merge(
            layer(() => ok(records)),
            Logger.layer([logger])
          )
        )
      )
      const unreadable = [
        [null, "nameless", "id"],
        [9, null, "name"],
        [null, null, ""]
      ]
      assert.deepStrictEqual(seen, [unreadable, unreadable])
      assert.strictEqual(warnings.length, 1)
      assert.match(warnings[0]!, /^The list has a record that cannot be read: .*, and 2 more\.$/)
    })
  )

  it.effect("costs a list that record alone, which it reports and is not complete without", () =>
    Effect.gen(function* () {
      // Each page has broken records, some of them at its beginning or end.
      const broken = new Set([1, 57, 100, 101, 250])
      const all = Array.from({ length: 250 }, (_, i) =>
        broken.has(i + 1) ? { id: i + 1, name: null } : record({ id: i + 1, name: `n${i + 1}` })
      )
      const paged = layer(({ query }) => {
        const [page, size] = [Number(query["page_no"] ?? 1), Number(query["per_page"])]
        return ok(all.slice((page - 1) * size, page * size))
      })
      let listed: Listed | undefined
      const onEnd = (end: Listed) => Effect.sync(() => void (listed = end))
      const nodes = yield* Nodes.use((nodes) => Stream.runCollect(nodes.list({ onEnd }))).pipe(Effect.provide(paged))
      assert.deepStrictEqual(
        nodes.map((node) => Number(node.id)),
        all.flatMap(({ id }) => (broken.has(id) ? [] : [id]))
      )
      assert.deepStrictEqual(
        listed?.unreadable.map(({ field, id, name }) => [Number(id), name, field]),
        Array.from(broken, (each) => [each, null, "name"])
      )
      assert.deepInclude(listed, { nodes: 245, complete: false, readToEnd: true })
    })
  )

  it.effect("and has no id is in its place on every page that has it", () =>
    Effect.gen(function* () {
      const all = [record({ id: 1, name: "a" }), record({ id: 2, name: "b" }), null]
      const paged = layer(({ query }) => {
        const [page, size] = [Number(query["page_no"] ?? 1), Number(query["per_page"])]
        return ok(all.slice((page - 1) * size, page * size))
      })
      let listed: Listed | undefined
      const list = Nodes.use((nodes) =>
        Stream.runDrain(nodes.list({ onEnd: (end) => Effect.sync(() => void (listed = end)) }))
      )
      yield* Effect.provide(list, paged)
      assert.deepInclude(listed, { nodes: 2, requests: 2, readToEnd: true })
    })
  )

  it.effect("does not hide that the list was not read to its end", () =>
    Effect.gen(function* () {
      const page = Array.from({ length: 100 }, (_, i) =>
        i === 7 ? { id: i + 1, name: null } : record({ id: i + 1, name: `n${i + 1}` })
      )
      let listed: Listed | undefined
      const list = Nodes.use((nodes) =>
        Stream.runDrain(nodes.list({ onEnd: (end) => Effect.sync(() => void (listed = end)) }))
      )
      // The service always returns the first page.
      yield* Effect.provide(
        list,
        layer(() => ok(page))
      )
      assert.deepInclude(listed, { nodes: 99, complete: false, readToEnd: false })
    })
  )

  it.effect("that is all there is makes no empty account: the list fails, and ends", () =>
    Effect.gen(function* () {
      for (const data of [[null], ["x", "y"], [{ id: 1, name: null }], Array.from({ length: 100 }, () => ({}))]) {
        let asked = 0
        const same = layer(() => {
          asked++
          return ok(data)
        })
        const nodes = yield* Effect.provide(Nodes, same)
        for (const list of [Stream.runCollect(nodes.list()), nodes.listPage()]) {
          const { reason } = yield* Effect.flip(Effect.asVoid(list as Effect.Effect<unknown, BerthError>))
          assert.strictEqual(reason._tag, "UnexpectedResponse")
        }
        assert.isAtMost(asked, 14)
      }
    })
  )

  it.effect("is also the second of two nodes with one id", () =>
    Effect.gen(function* () {
      const twins = [record({ name: "a" }), record({ name: "b" }), record({ name: "a" }), record({ id: 9, name: "c" })]
      const { records: page } = yield* Nodes.use((nodes) => nodes.readPage()).pipe(
        Effect.provide(layer(() => ok(twins)))
      )
      assert.deepStrictEqual(
        page.map((record) => ("_tag" in record ? [record.id, record.name, record.field] : record.name)),
        ["a", [id, "b", "id"], "a", "c"]
      )
    })
  )
})

describe("time", () => {
  it.effect("an attempt without a reply ends after its own limit, and another follows where it may", () =>
    Effect.gen(function* () {
      const error = yield* inTime(Effect.flip(Nodes.use((nodes) => nodes.get(id, { deadline: "40 seconds" }))))
      assert.strictEqual(error.attempts[0]?.durationMillis, 15_000)
      assert.deepStrictEqual(
        error.attempts.map(({ outcome }) => outcome),
        ["TimedOut", "TimedOut", "interrupted"]
      )
    }).pipe(Effect.provide(layer(() => Effect.never)))
  )

  it.effect("a call ends at its deadline, and the attempt on the wire is interrupted", () => {
    let interrupted = false
    const client = layer(() => Effect.onInterrupt(Effect.never, () => Effect.sync(() => (interrupted = true))))
    return Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(Effect.flip(Nodes.use((nodes) => nodes.get(id, { deadline: "2 seconds" }))))
      yield* TestClock.adjust("2 seconds")
      const error = yield* Fiber.join(fiber)
      assert.strictEqual(error.reason._tag, "TimedOut")
      if (error.reason._tag === "TimedOut") {
        assert.strictEqual(error.reason.limit, "deadline")
        assert.strictEqual(error.reason.sent, "maybe")
      }
      assert.deepStrictEqual(
        error.attempts.map(({ durationMillis, outcome }) => [durationMillis, outcome]),
        [[2000, "interrupted"]]
      )
      assert.isTrue(interrupted)
    }).pipe(Effect.provide(client))
  })

  it.effect("a call that waits for its turn ends at its deadline, and nothing was sent", () =>
    Effect.gen(function* () {
      // While the allowance is unknown, one request goes first and the others wait for its reply.
      const first = yield* Effect.forkChild(Nodes.use((nodes) => nodes.get(id)))
      yield* Effect.yieldNow
      const second = yield* Effect.forkChild(
        Effect.flip(Nodes.use((nodes) => nodes.get(id, { deadline: "2 seconds" })))
      )
      yield* TestClock.adjust("1999 millis")
      assert.isUndefined(second.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      const { attempts, reason } = yield* Fiber.join(second)
      assert.isEmpty(attempts)
      assert.strictEqual(reason._tag, "TimedOut")
      if (reason._tag === "TimedOut") {
        assert.deepStrictEqual([reason.limit, reason.afterMillis, reason.sent], ["deadline", 2000, "no"])
      }
      yield* Fiber.interrupt(first)
    }).pipe(Effect.provide(layer(() => Effect.never)))
  )

  it.effect("a call ends at its deadline during `onReply`", () =>
    Effect.gen(function* () {
      const error = yield* inTime(
        Effect.flip(Nodes.use((nodes) => nodes.get(id, { deadline: "2 seconds", onReply: () => Effect.never })))
      )
      assert.deepStrictEqual([error.reason._tag, error.attempts.map(({ outcome }) => outcome)], ["TimedOut", ["ok"]])
    }).pipe(Effect.provide(answered(ok(record()))))
  )

  it.effect("a call that was certainly not sent reports so, after any wait for another attempt", () => {
    let requests = 0
    return Effect.gen(function* () {
      const refused = yield* Effect.forkChild(
        Effect.flip(Nodes.use((nodes) => nodes.get(id, { deadline: "3 seconds" })))
      )
      yield* Effect.yieldNow
      // While the allowance is unknown, requests go one at a time, and this one never ends.
      const endless = yield* Effect.forkChild(Nodes.use((nodes) => nodes.get(id)))
      yield* TestClock.adjust("3 seconds")
      const { attempts, reason } = yield* Fiber.join(refused)
      assert.deepStrictEqual(
        attempts.map(({ outcome }) => outcome),
        ["Unreachable"]
      )
      assert.strictEqual(reason._tag, "TimedOut")
      if (reason._tag === "TimedOut") assert.strictEqual(reason.sent, "no")
      yield* Fiber.interrupt(endless)
    }).pipe(Effect.provide(layer(() => (requests++ === 0 ? noReply("ECONNREFUSED", "connect") : Effect.never))))
  })

  it.effect("a defect in the transport ends its call, and delays no other", () => {
    let requests = 0
    return Effect.gen(function* () {
      const get = Nodes.use((nodes) => nodes.get(id))
      assert.isTrue(Exit.hasDies(yield* Effect.exit(get)))
      assert.strictEqual((yield* get).id, id)
    }).pipe(Effect.provide(layer(() => (requests++ === 0 ? Effect.die(new Error("broken")) : ok(record())))))
  })

  it.live("an interruption at any moment leaves nothing under way, and an attempt that was sent in the ledger", () => {
    let requests = 0
    return Effect.gen(function* () {
      const { current } = yield* Allowance
      // A fiber yields after about 2000 operations, at any place in its code. This many operations before the call move the yield through
      // the call.
      for (let operations = 980; operations < 1030; operations++) {
        let ledger: Ledger | undefined
        requests = 0
        const call = Effect.gen(function* () {
          for (let i = 0; i < operations; i++) yield* Effect.suspend(() => Effect.void)
          yield* Nodes.use((nodes) => nodes.get(id))
        }).pipe(Effect.provideService(LedgerBegun, (begun) => void (ledger = begun)))
        const fiber = yield* Effect.forkChild(call, { startImmediately: true })
        yield* Fiber.interrupt(fiber)
        assert.strictEqual((yield* current).underWay, 0, `after ${operations} operations`)
        assert.isAtLeast(ledger?.attempts.length ?? 0, requests, `after ${operations} operations`)
      }
    }).pipe(Effect.provide(layer(() => (requests++, ok(record())))))
  })

  it.effect("a call without a deadline waits for its turn as long as it takes", () =>
    Effect.gen(function* () {
      const get = Nodes.use((nodes) => nodes.get(id, { deadline: Duration.infinity }))
      const fibers = yield* Effect.forEach([1, 2], () => Effect.forkChild(get))
      yield* TestClock.adjust("2 hours")
      for (const fiber of fibers) assert.strictEqual((yield* Fiber.join(fiber)).id, id)
    }).pipe(
      Effect.provide(
        layer(() =>
          Effect.map(Clock.currentTimeMillis, (now) =>
            ok(record(), {
              date: new Date(now).toUTCString(),
              "ratelimit-limit": "1200",
              "ratelimit-remaining": "0",
              "ratelimit-reset": "3600"
            })
          )
        )
      )
    )
  )

  it.effect("a wait polls the node until it runs, and reports what it observed", () => {
    const statuses = ["created", "created", "running"]
    const seen: Array<unknown> = []
    return Effect.gen(function* () {
      const node = yield* inTime(
        Nodes.use((nodes) =>
          nodes.awaitStatus(id, "running", {
            onObserved: (node) => Effect.sync(() => seen.push(Option.getOrThrow(node).status))
          })
        )
      )
      assert.strictEqual(node.status, "running")
      assert.deepStrictEqual(seen, ["created", "created", "running"])
    }).pipe(Effect.provide(layer(() => ok(record({ status: statuses.shift() })))))
  })

  it.effect("a wait fails at once on a status from which the wanted one cannot come", () =>
    Effect.gen(function* () {
      const error = yield* inTime(Effect.flip(Nodes.use((nodes) => nodes.awaitStatus(id, "running"))))
      assert.strictEqual(error.reason._tag, "StatusNotReached")
      if (error.reason._tag === "StatusNotReached") assert.isTrue(error.reason.impossible)
    }).pipe(Effect.provide(answered(ok(record({ status: "terminate" })))))
  )

  it.effect("a wait that times out carries the last status", () =>
    Effect.gen(function* () {
      const { reason } = yield* inTime(
        Effect.flip(Nodes.use((nodes) => nodes.awaitStatus(id, "running", { timeout: "30 seconds" })))
      )
      assert.strictEqual(reason._tag, "StatusNotReached")
      if (reason._tag === "StatusNotReached") {
        assert.strictEqual(reason.last, "created")
        assert.closeTo(reason.waitedMillis, 30_000, 1)
        assert.isNull(reason.failure)
      }
    }).pipe(Effect.provide(answered(ok(record({ status: "created" })))))
  )

  it.effect("a wait outlasts transient failures, and ends when the node is gone", () => {
    const replies: Array<Reply> = [ok(record()), { status: 503 }, { status: 502 }, { status: 404 }]
    return Effect.gen(function* () {
      yield* inTime(Nodes.use((nodes) => nodes.awaitDeleted(id)))
      assert.isEmpty(replies)
    }).pipe(Effect.provide(layer(() => replies.shift()!)))
  })
})

describe("a list whose envelope counts the nodes", () => {
  for (const [total, requests] of [
    [{ total_count: 1, total_page_number: 1 }, 1],
    // A count that fits one page may be the count of that page only.
    [{ total_count: 1 }, 2],
    [{ total_page_number: 1 }, 2],
    [{ total_count: 1, total_page_number: 2 }, 2],
    [{ total_count: 0, total_page_number: 1 }, 2],
    [{ total_count: "?", total_page_number: 1 }, 2]
  ] as const) {
    it.effect(`${JSON.stringify(total)} takes ${requests} request${requests > 1 ? "s" : ""}`, () => {
      let asked = 0
      const page = () => ({
        status: 200,
        body: JSON.stringify({ code: 200, ...total, data: asked++ ? [] : [record()] })
      })
      return Effect.gen(function* () {
        assert.lengthOf(yield* Nodes.use((nodes) => Stream.runCollect(nodes.list())), 1)
        assert.strictEqual(asked, requests)
      }).pipe(Effect.provide(layer(page)))
    })
  }
})

describe("a caller that retries by itself", () => {
  it.effect("gets one attempt", () =>
    Effect.gen(function* () {
      const { attempts } = yield* Effect.flip(Nodes.use((nodes) => nodes.get(id, { retry: false })))
      assert.strictEqual(attempts.length, 1)
    }).pipe(Effect.provide(answered({ status: 503 })))
  )
})

describe("a failure inside a success", () => {
  for (const [body, reason] of [
    [`{"code":200,"status_code":404,"data":{}}`, "NodeNotFound"],
    [`{"message":"Node is locked","errors":{"detail":["Node is locked"]}}`, "InvalidRequest"],
    [`{"detail":"Not allowed"}`, "InvalidRequest"],
    [`{"message":"x","errors":"locked"}`, "InvalidRequest"],
    [`{"errors":["locked"]}`, "InvalidRequest"],
    [`{"error":"boom"}`, "InvalidRequest"],
    [`{"error":{"message":"boom"}}`, "InvalidRequest"],
    [`{"error":true}`, "InvalidRequest"],
    [`{"success":false}`, "InvalidRequest"],
    [`{"success":false,"message":"Node is locked"}`, "InvalidRequest"],
    [`{"ok":false}`, "InvalidRequest"],
    [`{"status":"error","message":"boom"}`, "InvalidRequest"],
    [`{"status":"Failed"}`, "InvalidRequest"],
    [`{"status":false,"message":"Not allowed"}`, "InvalidRequest"]
  ] as const) {
    it.effect(`${body} of a delete is ${reason}`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(Nodes.use((nodes) => nodes.delete(id)))
        assert.strictEqual(error.reason._tag, reason)
      }).pipe(Effect.provide(answered({ status: 200, body })))
    )
  }
})

it.effect("a failure inside a success without a reason says so", () =>
  Effect.gen(function* () {
    const { message } = yield* Effect.flip(Nodes.use((nodes) => nodes.delete(id)))
    assert.include(message, "it gave no reason")
  }).pipe(Effect.provide(answered({ status: 200, body: `{"success":false}` })))
)

describe("a success without the envelope", () => {
  for (const body of [
    "",
    "{}",
    `{"success":true}`,
    `{"error":null}`,
    `{"error":""}`,
    `{"error":{}}`,
    `{"id":${id},"status":"error"}`,
    `{"status":"ok"}`
  ]) {
    it.effect(`of a delete is done: ${body || "an empty body"}`, () =>
      Nodes.use((nodes) => nodes.delete(id)).pipe(Effect.provide(answered({ status: 200, body })))
    )
  }
})

describe("an empty list", () => {
  const lists: Record<string, Effect.Effect<ReadonlyArray<unknown>, BerthError, Nodes | Images>> = {
    nodes: Nodes.use((nodes) => nodes.listPage()),
    images: Images.use((images) => images.list()),
    "saved images": Images.use((images) => images.saved())
  }
  for (const [name, list] of Object.entries(lists)) {
    it.effect(`of ${name} is []`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* list, [])
      }).pipe(Effect.provide(answered(ok([]))))
    )
    for (const [why, body, reason] of [
      ["errors", { code: 200, data: {}, errors: { detail: ["no such account"] } }, "InvalidRequest"],
      ["a bare detail", { data: null, detail: "no such account" }, "InvalidRequest"],
      ["no data", { code: 200, errors: {} }, "UnexpectedResponse"],
      ["null", { code: 200, data: null, errors: {} }, "UnexpectedResponse"],
      ["an empty object", { code: 200, data: {}, errors: {} }, "UnexpectedResponse"],
      ["other data", { code: 200, data: { total: 0 }, errors: {} }, "UnexpectedResponse"]
    ] as const) {
      it.effect(`of ${name} is not the meaning of ${why}`, () =>
        Effect.gen(function* () {
          assert.strictEqual((yield* Effect.flip(list)).reason._tag, reason)
        }).pipe(Effect.provide(answered({ status: 200, body: JSON.stringify(body) })))
      )
    }
  }
})

describe("no reply at all", () => {
  for (const [code, syscall, sent] of [
    ["ECONNREFUSED", "connect", "no"],
    ["ENOTFOUND", "getaddrinfo", "no"],
    ["EHOSTUNREACH", "connect", "no"],
    ["EHOSTUNREACH", "read", "maybe"],
    ["ECONNRESET", "read", "maybe"],
    ["EPIPE", "write", "maybe"]
  ] as const) {
    it.effect(`${code} of ${syscall} means that the request was sent: ${sent}`, () =>
      Effect.gen(function* () {
        const { reason } = yield* inTime(Effect.flip(Nodes.use((nodes) => nodes.get(id))))
        assert.strictEqual(reason._tag, "Unreachable")
        if (reason._tag === "Unreachable") {
          assert.strictEqual(reason.sent, sent)
          assert.include(reason.detail, code)
        }
      }).pipe(Effect.provide(layer(() => noReply(code, syscall))))
    )
  }
})

describe("a node that is gone before its delete", () => {
  for (const [before, because, deleted] of [
    ["ECONNRESET", "is deleted where an earlier attempt may have done it, its reply lost", true],
    [502, "is deleted where an earlier attempt may have done it, though it failed", true],
    ["ECONNREFUSED", "was not there where no earlier attempt arrived", false],
    [429, "is deleted where the rate limit refused an earlier attempt, which may have done it all the same", true],
    [undefined, "was not there where this is the first attempt", false]
  ] as const) {
    it.effect(because, () => {
      const left = before === undefined ? [404] : [before, 404]
      const replies: Array<number> = []
      const client = layer(() => {
        const fate = left.shift()!
        return typeof fate === "string" ? noReply(fate) : { status: fate }
      })
      return Effect.gen(function* () {
        const onReply = ({ status }: { readonly status: number }) => Effect.sync(() => void replies.push(status))
        const deletion = yield* inTime(Effect.result(Nodes.use((nodes) => nodes.delete(id, { onReply }))))
        assert.isEmpty(left)
        assert.strictEqual(Result.isSuccess(deletion), deleted)
        assert.deepStrictEqual(replies, [404])
        if (Result.isFailure(deletion)) assert.strictEqual(deletion.failure.reason._tag, "NodeNotFound")
      }).pipe(Effect.provide(client))
    })
  }

  it.effect("is not a success of other calls", () => {
    const left = [502, 404]
    return Effect.gen(function* () {
      const { reason } = yield* inTime(Effect.flip(Nodes.use((nodes) => nodes.get(id))))
      assert.strictEqual(reason._tag, "NodeNotFound")
      assert.isEmpty(left)
    }).pipe(Effect.provide(layer(() => ({ status: left.shift()! }))))
  })
})

describe("the setting of a commitment", () => {
  for (const [what, reply, posts] of [
    ["whose reply was lost", noReply("ECONNRESET"), 1],
    ["that the service failed", { status: 502 }, 1],
    ["that never left", noReply("ECONNREFUSED", "connect"), 8]
  ] as const) {
    it.effect(`${what} is sent ${posts === 1 ? "once" : "again"}`, () => {
      let sent = 0
      const client = layer(() => {
        sent++
        return reply
      })
      return Effect.gen(function* () {
        const { reason } = yield* inTime(
          Effect.flip(Nodes.use((nodes) => nodes.setCommitment(id, "auto_renew", { skuId: 3 })))
        )
        assert.strictEqual(reason.mayBeProcessed, posts === 1)
        assert.strictEqual(sent, posts)
      }).pipe(Effect.provide(client))
    })
  }
})

describe("options", () => {
  const credentials = { apiKey: Redacted.make("key"), accessToken: Redacted.make("token") }
  const build = (options: Parameters<typeof Berth.layer>[0]) =>
    Effect.exit(Effect.scoped(Layer.build(Layer.provide(Berth.layer(options), FetchHttpClient.layer))))

  for (const [option, options] of [
    ["baseUrl", { baseUrl: "service.test", credentials }],
    ["baseUrl", { baseUrl: "https://service.test/other", credentials }],
    ["baseUrl", { baseUrl: "ftp://service.test", credentials }],
    ["apiKey", { baseUrl: "https://service.test", credentials: { ...credentials, apiKey: Redacted.make("") } }],
    [
      "accessToken",
      { baseUrl: "https://service.test", credentials: { ...credentials, accessToken: Redacted.make("a\nb") } }
    ],
    ["deadline", { baseUrl: "https://service.test", credentials, deadline: 0 }]
  ] as const) {
    it.effect(`an unusable ${option} fails the making of a client (${String(options.baseUrl)})`, () =>
      Effect.gen(function* () {
        const exit = yield* build(options)
        assert.isTrue(Exit.isFailure(exit))
        assert.include(String(exit), `option ${option}`)
      })
    )
  }

  for (const baseUrl of ["https://service.test", "https://service.test/", "https://service.test/myaccount/api/v1/"]) {
    it.effect(`${baseUrl} is a base URL`, () =>
      Effect.gen(function* () {
        assert.isTrue(Exit.isSuccess(yield* build({ baseUrl, credentials })))
      })
    )
  }
})
