import {
  Aborted,
  type Client,
  createClient,
  InvalidOption,
  InvalidRequest,
  type Node,
  ServiceFault,
  UnexpectedResponse
} from "@berthkit/core/promise"
import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import type { ServerResponse } from "node:http"
import { accessToken, apiKey, bareService, mockService, rejection, type Service } from "./Service.ts"

/** The maximum number of nodes on a page of the service. */
const most = 20

/** A service with `count` nodes, whose ids start at 1. It fails from request number `fails` on. */
const pagedService = (
  count: number,
  onPage: (page: number) => void,
  fails = Number.POSITIVE_INFINITY
): Promise<Service> => {
  let requests = 0
  return bareService((request, response) => {
    const query = new URL(request.url!, "http://berth.test").searchParams
    const page = Number(query.get("page_no"))
    onPage(page)
    if (++requests >= fails) {
      response.writeHead(501).end()
      return
    }
    const size = Math.min(Number(query.get("per_page")), most)
    const all = Array.from({ length: count }, (_, i) => record(i + 1))
    const data = all.slice((page - 1) * size, page * size)
    response.end(JSON.stringify({ message: "Success", code: 200, data, errors: {} }))
  })
}

/** The objects with which a test can abandon a listing. */
interface Held {
  readonly client: Client
  readonly controller: AbortController
  readonly iterator: AsyncIterator<Node>
}

const record = (id: number) => ({ id, name: `n${id}`, created_at: "2026-01-01T00:00:00Z", status: "running" })

const ids = async (client: Client) => (await Array.fromAsync(client.nodes.list())).map(({ id }) => id)

describe("a list of nodes", () => {
  it("has every node once, in the service's order, however often it is iterated", async () => {
    await using service = await mockService({ scenario: { fleet: 250 } })
    const list = service.client.nodes.list()
    const first = await Array.fromAsync(list)
    assert.lengthOf(new Set(first.map(({ id }) => id)), 250)
    assert.deepStrictEqual(await Array.fromAsync(list), first)
  })

  it("of more than maxNodes is an error, after the nodes before", async () => {
    await using service = await mockService({ scenario: { fleet: 250 } })
    const seen: Array<number> = []
    const read = async () => {
      for await (const { id } of service.client.nodes.list({ maxNodes: 150 })) seen.push(id)
    }
    assert.instanceOf(await rejection(read()), UnexpectedResponse)
    assert.lengthOf(seen, 100)
  })

  it("asks for nothing before it is iterated", async () => {
    const pages: Array<number> = []
    await using service = await pagedService(60, (page) => pages.push(page))
    const iterator = service.client.nodes.list()[Symbol.asyncIterator]()
    await service.client.raw.request({ method: "GET", path: "/nodes/", query: { page_no: "99", per_page: "1" } })
    assert.deepStrictEqual(pages, [99])
    assert.propertyVal((await iterator.next()).value, "id", 1)
    await iterator.return?.()
  })

  it("stops asking when its consumer leaves the loop", async () => {
    const pages: Array<number> = []
    await using service = await pagedService(10_000, (page) => pages.push(page))
    for await (const { id } of service.client.nodes.list()) if (id === 4) break
    const asked = pages.length
    // If any request were still under way, it would be answered before these, on the same connections.
    for (let i = 0; i < 3; i++) await service.client.raw.request({ method: "GET", path: "/" })
    assert.isAtMost(asked, 3)
    assert.lengthOf(
      pages.filter((page) => page > 0),
      asked
    )
  })

  it("asks for the next page while its consumer is busy with this one, and for none after that", async () => {
    const pages: Array<number> = []
    const second = Promise.withResolvers<void>()
    await using service = await pagedService(60, (page) => {
      if (pages.push(page) === 2) second.resolve()
    })
    const iterator = service.client.nodes.list()[Symbol.asyncIterator]()
    assert.propertyVal((await iterator.next()).value, "id", 1)
    await second.promise
    for (let i = 0; i < 3; i++)
      await service.client.raw.request({ method: "GET", path: "/nodes/", query: { page_no: "99", per_page: "1" } })
    assert.lengthOf(
      pages.filter((page) => page !== 99),
      2
    )
    await iterator.return?.()
  })

  for (const [end, letGo] of [
    ["its signal is aborted", ({ controller }) => controller.abort()],
    ["it is returned", ({ iterator }) => iterator.return?.()],
    ["the client is closed", ({ client }) => client.close()]
  ] as ReadonlyArray<readonly [string, (held: Held) => unknown]>) {
    it(`lets go of the page that it asked for beforehand when ${end}`, async () => {
      const asked = Promise.withResolvers<ServerResponse>()
      await using service = await bareService((request, response) => {
        if (new URL(request.url!, "http://berth.test").searchParams.get("page_no") !== "1")
          return asked.resolve(response)
        const data = Array.from({ length: most }, (_, i) => record(i + 1))
        response.end(JSON.stringify({ message: "Success", code: 200, data, errors: {} }))
      })
      const controller = new AbortController()
      const { client } = service
      const iterator = client.nodes.list({ signal: controller.signal })[Symbol.asyncIterator]()
      await iterator.next()
      const gone = once(await asked.promise, "close")
      await letGo({ client, controller, iterator })
      await gone
    })
  }

  it("may be asked for several nodes at once", async () => {
    await using service = await pagedService(30, () => {})
    const iterator = service.client.nodes.list()[Symbol.asyncIterator]()
    const results = await Promise.all(Array.from({ length: 32 }, () => iterator.next()))
    assert.deepStrictEqual(
      results.map(({ done, value }) => (done === true ? "done" : value.id)),
      [...Array.from({ length: 30 }, (_, i) => i + 1), "done", "done"]
    )
  })

  it("is over once it is returned in the middle of a page", async () => {
    await using service = await pagedService(30, () => {})
    const iterator = service.client.nodes.list()[Symbol.asyncIterator]()
    assert.propertyVal((await iterator.next()).value, "id", 1)
    await iterator.return?.()
    assert.deepStrictEqual(await iterator.next(), { done: true, value: undefined })
  })

  it("ends for a reader that waits when it is returned", async () => {
    const asked = Promise.withResolvers<void>()
    await using service = await bareService(() => asked.resolve())
    const iterator = service.client.nodes.list()[Symbol.asyncIterator]()
    const next = iterator.next()
    await asked.promise
    await iterator.return?.()
    assert.deepStrictEqual(await next, { done: true, value: undefined })
    assert.deepStrictEqual(await iterator.next(), { done: true, value: undefined })
  })

  it("yields the items before a failure, then throws the failure, then is done", async () => {
    await using service = await pagedService(90, () => {}, 2)
    const iterator = service.client.nodes.list({ deadline: "2 seconds" })[Symbol.asyncIterator]()
    for (let id = 1; id <= most; id++) assert.propertyVal((await iterator.next()).value, "id", id)
    const error = await rejection(iterator.next())
    assert.instanceOf(error, ServiceFault)
    assert.strictEqual(error.operation, "nodes.list")
    assert.deepStrictEqual(await iterator.next(), { done: true, value: undefined })
  })

  it("throws `Aborted` once its signal is, in the middle of a page too", async () => {
    await using service = await pagedService(90, () => {})
    const controller = new AbortController()
    const seen: Array<number> = []
    const error = await rejection(
      (async () => {
        for await (const { id } of service.client.nodes.list({ signal: controller.signal })) {
          seen.push(id)
          if (id === 3) controller.abort()
        }
      })()
    )
    assert.instanceOf(error, Aborted)
    assert.deepStrictEqual(seen, [1, 2, 3])
  })

  it("of an account without nodes is empty", async () => {
    await using service = await mockService()
    assert.deepStrictEqual(await ids(service.client), [])
  })
})

describe("a list as an array", () => {
  it("is all nodes, or the first of them", async () => {
    await using service = await pagedService(50, () => {})
    const list = service.client.nodes.list()
    const all = await list.toArray()
    assert.deepStrictEqual(
      all.map(({ id }) => id),
      Array.from({ length: 50 }, (_, i) => i + 1)
    )
    for (const limit of [1, 20, 21, 50, 51]) assert.deepStrictEqual(await list.toArray({ limit }), all.slice(0, limit))
    assert.instanceOf(all[0]!.createdAt, Date)
  })

  it("costs no request beyond the page that has the last of the nodes that are wanted", async () => {
    for (const [limit, requests] of [
      [1, 1],
      [most, 1],
      [most + 1, 2]
    ] as const) {
      let sent = 0
      await using service = await pagedService(10_000, () => {})
      const client = createClient({
        baseUrl: service.baseUrl,
        apiKey,
        accessToken,
        fetch: (input, init) => (sent++, globalThis.fetch(input, init))
      })
      await client.nodes.list().toArray({ limit })
      await client.images.saved().catch(() => {})
      assert.strictEqual(sent, requests + 1)
      await client.close()
    }
  })

  it("refuses a limit that means nothing, before it asks for anything", async () => {
    await using service = await pagedService(10, () => assert.fail("sent"))
    const list = service.client.nodes.list()
    for (const limit of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "5", null]) {
      const error = await rejection(list.toArray({ limit: limit as number }))
      assert.instanceOf(error, InvalidOption)
      assert.strictEqual(error.option, "limit")
    }
    assert.propertyVal(await rejection(list.toArray({ most: 5 } as never)), "option", "most")
    assert.propertyVal(await rejection(list.toArray(5 as never)), "option", "options")
  })

  it("rejects as a whole when a page fails", async () => {
    await using service = await pagedService(90, () => {}, 2)
    assert.instanceOf(await rejection(service.client.nodes.list({ deadline: "2 seconds" }).toArray()), ServiceFault)
  })
})

describe("a list by its pages", () => {
  it("yields the nodes of one reply at a time, and stops reading when its consumer leaves the loop", async () => {
    const asked: Array<number> = []
    await using service = await pagedService(10_000, (page) => asked.push(page))
    const lengths: Array<number> = []
    for await (const page of service.client.nodes.list().pages()) {
      assert.instanceOf(page[0]!.createdAt, Date)
      if (lengths.push(page.length) === 2) break
    }
    assert.strictEqual(lengths[0], most)
    const before = asked.length
    for (let i = 0; i < 3; i++) await service.client.raw.request({ method: "GET", path: "/" })
    assert.lengthOf(
      asked.filter((page) => page > 0),
      before
    )
  })

  it("has every node once, and may be asked for several pages at once", async () => {
    await using service = await pagedService(50, () => {})
    const pages = service.client.nodes.list().pages()[Symbol.asyncIterator]()
    const results = await Promise.all(Array.from({ length: 6 }, () => pages.next()))
    assert.deepStrictEqual(
      results.flatMap(({ done, value }) => (done === true ? [] : value.map(({ id }: Node) => id))),
      Array.from({ length: 50 }, (_, i) => i + 1)
    )
  })

  it("throws `Aborted` once its signal is", async () => {
    await using service = await pagedService(90, () => {})
    const controller = new AbortController()
    const pages = service.client.nodes.list({ signal: controller.signal }).pages()[Symbol.asyncIterator]()
    await pages.next()
    controller.abort()
    assert.instanceOf(await rejection(pages.next()), Aborted)
    assert.deepStrictEqual(await pages.next(), { done: true, value: undefined })
  })
})

describe("one page of the list", () => {
  it("is the one that is asked for, the first by default, and empty past the end", async () => {
    await using service = await mockService({ scenario: { fleet: 25 } })
    const { nodes } = service.client
    const all = await nodes.list().toArray()
    assert.deepStrictEqual(await nodes.listPage(), all)
    assert.deepStrictEqual(await nodes.listPage({ page: 2, perPage: 10 }), all.slice(10, 20))
    assert.deepStrictEqual(await nodes.listPage({ page: 4, perPage: 10 }), [])
  })

  it("is not asked for where there can be none", async () => {
    await using service = await pagedService(10, () => assert.fail("sent"))
    const wrong: ReadonlyArray<readonly [option: string, options: object]> = [
      ["page", { page: 0 }],
      ["page", { page: "1" }],
      ["perPage", { perPage: 101 }],
      ["perPage", { perPage: 0.5 }],
      ["per_page", { per_page: 5 }]
    ]
    for (const [option, options] of wrong) {
      const error = await rejection(service.client.nodes.listPage(options))
      assert.instanceOf(error, InvalidOption)
      assert.strictEqual(error.option, option)
    }
  })
})

describe("the nodes of a name", () => {
  it("are all that have exactly this one, in the order of the list", async () => {
    const names = ["web", "web-2", "Web", "db", "web"]
    await using service = await bareService((request, response) => {
      const first = new URL(request.url!, "http://berth.test").searchParams.get("page_no") === "1"
      const data = first ? names.map((name, i) => ({ ...record(i + 1), name })) : []
      response.end(JSON.stringify({ message: "Success", code: 200, data, errors: {} }))
    })
    const { nodes } = service.client
    assert.deepStrictEqual(
      (await nodes.find("web")).map(({ id }) => id),
      [1, 5]
    )
    assert.deepStrictEqual(await nodes.find("we"), [])
    for (const name of ["", " ", undefined, 7]) {
      const error = await rejection(nodes.find(name as string))
      assert.instanceOf(error, InvalidRequest)
      assert.deepStrictEqual(Object.keys(error.fields), ["name"])
    }
  })
})
