/**
 * A service that restarts in the middle of a command: it carries out a request, drops every connection without a reply, and
 * comes back on the same address.
 */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { failure, nodeRecord, ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { json, lines, run } from "./berth.ts"

/** The plan of the node records. */
const plan = "C-4VCPU-16RAM-100DISK"

/** A service with these nodes that restarts once: at the nth request with this method. */
const restarting = (method: string, at: number, count: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const nodes = new Map(
        Array.from({ length: count }, (_, i) => [i + 1, nodeRecord({ id: i + 1, name: `web-${i + 1}` })] as const)
      )
      let asked = 0
      let restarts = 0
      const replyTo = (verb: string, url: URL) => {
        const id = Number(/nodes\/(\d+)\//.exec(url.pathname)?.[1])
        const node = nodes.get(id)
        if (verb === "POST") {
          const made = nodeRecord({ id: count + 1, name: "new", created_at: new Date().toISOString() })
          nodes.set(count + 1, made)
          return { ...ok(made), status: 202 }
        }
        if (verb === "DELETE" && nodes.delete(id)) return { status: 204, headers: {}, body: "" }
        if (Number.isNaN(id)) {
          const page = Number(url.searchParams.get("page_no"))
          const size = Number(url.searchParams.get("per_page"))
          return ok(
            url.pathname.includes("/nodes/") ? Array.from(nodes.values()).slice((page - 1) * size, page * size) : []
          )
        }
        return node === undefined ? failure(404, "There is no such node") : ok(node)
      }
      const server: Server = createServer((request, response) => {
        const verb = request.method ?? "GET"
        const { body, headers, status } = replyTo(verb, new URL(request.url!, "http://service.test"))
        if (verb === method && ++asked === at) {
          restarts++
          const { port } = server.address() as AddressInfo
          server.close(() => server.listen(port, "127.0.0.1"))
          return server.closeAllConnections()
        }
        response.writeHead(status, headers).end(body)
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const env = { BERTH_BASE_URL: url, BERTH_API_KEY: "the-key-of-a-test", BERTH_ACCESS_TOKEN: "the-token-of-a-test" }
      return { server, nodes, restarts: () => restarts, berth: (args: ReadonlyArray<string>) => run(args, { env }) }
    }),
    ({ server }) =>
      Effect.promise(() => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))))
  )

describe("a service that restarts in the middle of", () => {
  it.live("a list of several pages loses no node and lists none twice", () =>
    Effect.gen(function* () {
      const { berth, restarts } = yield* restarting("GET", 2, 250)
      const { code, stdout } = yield* berth(["node", "list", "-o", "id"])
      assert.deepStrictEqual([code, restarts()], [0, 1])
      assert.deepStrictEqual(
        lines(stdout),
        Array.from({ length: 250 }, (_, i) => String(i + 1))
      )
    }).pipe(Effect.scoped)
  )

  it.live("a create makes one node, and names it", () =>
    Effect.gen(function* () {
      const { berth, nodes, restarts } = yield* restarting("POST", 1, 2)
      const args = ["node", "create", "new", "--plan", plan, "--image", "i", "--force", "--yes", "-o", "json"]
      const ended = yield* berth(args)
      assert.deepStrictEqual([ended.code, restarts(), nodes.size], [0, 1, 3], ended.stderr)
      assert.deepInclude(json<object>(ended), { id: 3, name: "new" })
    }).pipe(Effect.scoped)
  )

  it.live("a wait continues", () =>
    Effect.gen(function* () {
      const { berth, restarts } = yield* restarting("GET", 1, 2)
      const { code, stderr } = yield* berth(["node", "wait", "1", "2"])
      assert.deepStrictEqual([code, restarts()], [0, 1], stderr)
    }).pipe(Effect.scoped)
  )

  it.live("a delete of many deletes them all, with one row each", () =>
    Effect.gen(function* () {
      const { berth, nodes, restarts } = yield* restarting("DELETE", 3, 6)
      const ended = yield* berth(["node", "delete", "web-*", "--yes", "-o", "json"])
      assert.deepStrictEqual([ended.code, restarts(), nodes.size], [0, 1, 0], ended.stderr)
      assert.lengthOf(json<ReadonlyArray<object>>(ended), 6)
    }).pipe(Effect.scoped)
  )
})
