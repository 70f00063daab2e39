import { Aborted, type Client, ServiceFault } from "@berth/core/promise"
import { assert, describe, it } from "@effect/vitest"
import { bareService, mockService, rejection, type Service } from "./Service.ts"

/** A service with `pages` pages of 2 nodes, that hands on every page asked for. */
const pagedService = (pages: number, onPage: (page: number) => void, fails?: number): Promise<Service> =>
  bareService((request, response) => {
    const page = Number(new URL(request.url!, "http://berth.test").searchParams.get("page_no"))
    onPage(page)
    if (page === fails) {
      response.writeHead(501).end()
      return
    }
    const data = page > pages ? [] : [record(2 * page - 1), record(2 * page)]
    response.end(JSON.stringify({ message: "Success", code: 200, data, errors: {} }))
  })

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

  it("asks for nothing before it is iterated", async () => {
    const pages: Array<number> = []
    await using service = await pagedService(3, (page) => pages.push(page))
    const iterator = service.client.nodes.list()[Symbol.asyncIterator]()
    await service.client.raw.request({ method: "GET", path: "/nodes/", query: { page_no: "99" } })
    assert.deepStrictEqual(pages, [99])
    assert.propertyVal((await iterator.next()).value, "id", 1)
    await iterator.return?.()
  })

  it("stops asking when its consumer leaves the loop", async () => {
    const pages: Array<number> = []
    await using service = await pagedService(1000, (page) => pages.push(page))
    for await (const { id } of service.client.nodes.list()) if (id === 4) break
    const asked = pages.length
    // Whatever were still under way would be answered before these, on the same connections.
    for (let i = 0; i < 3; i++) await service.client.raw.request({ method: "GET", path: "/" })
    assert.isAtMost(asked, 3)
    assert.lengthOf(
      pages.filter((page) => page > 0),
      asked
    )
  })

  it("may be asked for several nodes at once", async () => {
    await using service = await pagedService(2, () => {})
    const iterator = service.client.nodes.list()[Symbol.asyncIterator]()
    const results = await Promise.all(Array.from({ length: 6 }, () => iterator.next()))
    assert.deepStrictEqual(
      results.map(({ done, value }) => (done === true ? "done" : value.id)),
      [1, 2, 3, 4, "done", "done"]
    )
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

  it("gives what came before a failure, then throws it, then is done", async () => {
    await using service = await pagedService(9, () => {}, 2)
    const iterator = service.client.nodes.list({ deadline: "2 seconds" })[Symbol.asyncIterator]()
    assert.propertyVal((await iterator.next()).value, "id", 1)
    assert.propertyVal((await iterator.next()).value, "id", 2)
    const error = await rejection(iterator.next())
    assert.instanceOf(error, ServiceFault)
    assert.strictEqual(error.operation, "nodes.list")
    assert.deepStrictEqual(await iterator.next(), { done: true, value: undefined })
  })

  it("throws `Aborted` once its signal is, in the middle of a page too", async () => {
    await using service = await pagedService(9, () => {})
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
