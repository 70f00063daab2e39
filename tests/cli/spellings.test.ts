/** A service that spells names in its own way or gives nodes other names: one create makes one node, and the user learns its id. */
import { failure, nodeRecord, ok, type Reply, type Request } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { json } from "./berth.ts"
import { hurried, invoke } from "./invoke.ts"
import { serve } from "./ScriptedServer.ts"
import { stateFolder } from "./stateFolder.ts"

const order = ["--plan", "C-4VCPU-16RAM-100DISK", "--image", "Ubuntu-22.04", "--force", "--yes"]

/** A service, and a function that runs `berth` against it with one state folder. */
const service = (calls: (name: string, id: number) => string, repliesWith = calls) =>
  Effect.gen(function* () {
    const nodes: Array<ReturnType<typeof nodeRecord>> = []
    const changes: Array<string> = []
    let next = 105
    const answer = ({ body, method, path, query }: Request): Reply => {
      if (method !== "GET") changes.push(`${method} ${path}`)
      if (path.startsWith("/images")) return ok([])
      if (method === "POST") {
        const { name } = body as { readonly name: string }
        const id = next++
        const node = nodeRecord({ id, name: calls(name, id), created_at: new Date().toISOString() })
        nodes.push(node)
        return ok({ ...node, name: repliesWith(name, id) })
      }
      if (path === "/nodes/") {
        const [page, size] = [Number(query["page_no"] ?? 1), Number(query["per_page"])]
        return ok(nodes.slice((page - 1) * size, page * size))
      }
      const at = nodes.findIndex(({ id }) => path === `/nodes/${id}/`)
      if (at < 0) return failure(404, "Not found")
      return ok(method === "DELETE" ? (nodes.splice(at, 1), {}) : nodes[at])
    }
    const url = yield* serve(answer)
    const env = {
      BERTH_API_KEY: "key-of-a-test",
      BERTH_ACCESS_TOKEN: "token-of-a-test",
      BERTH_BASE_URL: url,
      XDG_STATE_HOME: yield* stateFolder
    }
    const berth = (...args: ReadonlyArray<string>) => hurried(invoke(args, { env }))
    return { berth, changes }
  })

const dashed = (name: string) => name.replaceAll("_", "-").toLowerCase()

describe("a service that spells names in its own way", () => {
  for (const [where, repliesWith] of [
    ["also in its replies to creates", dashed],
    ["but not in its replies to creates", (name: string) => name]
  ] as const) {
    it.live(`makes one node under a key, and berth prints the service's name for it, ${where}`, () =>
      Effect.gen(function* () {
        const { berth, changes } = yield* service(dashed, repliesWith)
        const create = ["node", "create", "Web_1", ...order, "--idempotency-key", "job"]
        const first = yield* berth(...create)
        assert.strictEqual(first.code, 0, first.stderr)
        assert.match(first.stderr, /The service calls (?:it|node 105) web-1\./)
        const again = yield* berth(...create, "-o", "json")
        assert.strictEqual(again.code, 0, again.stderr)
        assert.deepInclude(json<object>(again), { id: 105, name: "web-1" })
        assert.deepStrictEqual(changes, ["POST /nodes/"])
      }).pipe(Effect.scoped)
    )
  }

  it.live("does not have the name that was asked for: berth suggests the name that the node has", () =>
    Effect.gen(function* () {
      const { berth, changes } = yield* service(dashed)
      yield* berth("node", "create", "web_1", ...order)
      for (const args of [
        ["get", "web_1"],
        ["delete", "web_1", "--yes"]
      ]) {
        const { code, stderr } = yield* berth("node", ...args)
        assert.strictEqual(code, 4, stderr)
        assert.include(stderr, "No node matches web_1; did you mean web-1?")
      }
      assert.lengthOf(changes, 1)
    }).pipe(Effect.scoped)
  )

  it.live("has the node that --if-absent asks about", () =>
    Effect.gen(function* () {
      const { berth, changes } = yield* service(dashed)
      for (let i = 0; i < 2; i++) {
        const { code, stderr } = yield* berth("node", "create", "web_1", ...order, "--if-absent")
        assert.strictEqual(code, 0, stderr)
      }
      assert.deepStrictEqual(changes, ["POST /nodes/"])
    }).pipe(Effect.scoped)
  )

  it.live("and cuts it is sent no second create by --if-absent: berth names the node that may be the one", () =>
    Effect.gen(function* () {
      const { berth, changes } = yield* service((name) => name.slice(0, 50))
      const name = "worker-".repeat(10)
      const first = yield* berth("node", "create", name, ...order, "--if-absent")
      assert.strictEqual(first.code, 0, first.stderr)
      for (const asked of [name, `${name.slice(0, 50)}-of-somebody-else`]) {
        const { code, stderr } = yield* berth("node", "create", asked, ...order, "--if-absent")
        assert.strictEqual(code, 5, stderr)
        assert.include(stderr, `Node ${name.slice(0, 50)} (105) may be ${asked}`)
      }
      assert.deepStrictEqual(changes, ["POST /nodes/"])
    }).pipe(Effect.scoped)
  )

  it.live("gets the delete of the node of berth run, even if its reply has the name that was asked for", () =>
    Effect.gen(function* () {
      const { berth, changes } = yield* service(dashed, (name) => name)
      const { code, stderr } = yield* berth("run", "--name", "ci_1", ...order, "--", process.execPath, "-e", "0")
      assert.strictEqual(code, 0, stderr)
      assert.deepStrictEqual(changes, ["POST /nodes/", "DELETE /nodes/105/"])
    }).pipe(Effect.scoped)
  )
})

describe("a service that gives a node another name", () => {
  it.live("gets one create under a key, and berth always says which node the reply named", () =>
    Effect.gen(function* () {
      const { berth, changes } = yield* service((_, id) => `srv-${id}`)
      for (let i = 0; i < 3; i++) {
        const { code, stderr } = yield* berth("node", "create", "web", ...order, "--idempotency-key", "job")
        assert.strictEqual(code, 8, stderr)
        assert.include(stderr, "names node 105, which has the name srv-105 instead of web.")
        assert.include(stderr, "berth node get 105")
      }
      assert.deepStrictEqual(changes, ["POST /nodes/"])
    }).pipe(Effect.scoped)
  )
})
