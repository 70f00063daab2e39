/**
 * Waiting for a node to become usable, against a service that gives a node its public address some time after it runs; and waiting for
 * nodes that are already gone.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { nodeRecord, ok, type Request } from "@berthkit/core/testing"
import { TestServer } from "@berthkit/server/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { inDialect } from "../account.ts"
import { json } from "./berth.ts"
import { berth, hurried, invoke } from "./invoke.ts"
import { serve } from "./ScriptedServer.ts"
import { stateFolder } from "./stateFolder.ts"

const public_ip_address = "203.0.113.9"

/** A service whose nodes run at once, and get a public address after this many reads. */
const lateAddress = Effect.fnUntraced(function* (reads: number) {
  let read = 0
  let created: ReturnType<typeof nodeRecord> | undefined
  const url = yield* serve(({ body, method, path }: Request) => {
    if (path.startsWith("/images")) return ok([])
    if (method === "POST") {
      const { name, plan } = body as { readonly name: string; readonly plan: string }
      created = nodeRecord({ id: 7, name, plan, created_at: new Date().toISOString() })
      return { ...ok({ ...created, public_ip_address: null, status: "created" }), status: 202 }
    }
    if (method === "DELETE") return ok({})
    const shown = created && { ...created, public_ip_address: ++read > reads ? public_ip_address : null }
    return ok(path === "/nodes/" ? (shown === undefined ? [] : [shown]) : shown)
  })
  const env = {
    BERTH_BASE_URL: url,
    BERTH_API_KEY: "k",
    BERTH_ACCESS_TOKEN: "t",
    XDG_STATE_HOME: yield* stateFolder
  }
  return { env, reads: () => read }
})

const order = ["--plan", "P", "--image", "I", "--force", "--yes"]

describe("a node that runs before it has its public address", () => {
  it.live("is waited for with create --wait", () =>
    Effect.gen(function* () {
      const { env } = yield* lateAddress(3)
      const created = yield* hurried(invoke(["node", "create", "web", ...order, "--wait", "-o", "json"], { env }))
      assert.strictEqual(created.code, 0, created.stderr)
      assert.deepInclude(json<object>(created), { status: "running", publicIp: public_ip_address })
    }).pipe(Effect.scoped)
  )

  it.live("is not waited for if none was ordered", () =>
    Effect.gen(function* () {
      const { env, reads } = yield* lateAddress(100)
      const args = ["node", "create", "web", ...order, "--no-public-ip", "--wait", "-o", "json"]
      const created = yield* hurried(invoke(args, { env }))
      assert.deepInclude(json<object>(created), { status: "running", publicIp: null })
      assert.isBelow(reads(), 5)
    }).pipe(Effect.scoped)
  )

  it.live("is the result, with a note, if the address does not come in time", () =>
    Effect.gen(function* () {
      const { env } = yield* lateAddress(10_000)
      const args = ["node", "create", "web", ...order, "--wait", "--timeout", "4s"]
      const { code, stderr } = yield* hurried(invoke(args, { env }))
      assert.strictEqual(code, 0, stderr)
      assert.include(stderr, "Node web (7) runs, and has no public address yet. See it later: berth node ip 7\n")
    }).pipe(Effect.scoped)
  )

  it.live("gets its address before the command of a run starts", () =>
    Effect.gen(function* () {
      const { env } = yield* lateAddress(3)
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-run-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true }))
      )
      const command = ["sh", "-c", 'printf %s "$BERTH_NODE_IP" > "$0"', join(folder, "ip")]
      yield* hurried(invoke(["run", ...order, "--name", "job", "--", ...command], { env }))
      assert.strictEqual(readFileSync(join(folder, "ip"), "utf8"), public_ip_address)
    }).pipe(Effect.scoped)
  )
})

describe("node wait --for deleted", () => {
  it.live.each(["web", "123456", "name:web", "ci-*"])("succeeds at once if there is no such node: %s", (given) =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* berth(["node", "wait", given, "--for", "deleted", "-o", "json"])
      assert.strictEqual(code, 0, stderr)
      const [found = JSON.parse(stdout)] = [JSON.parse(stdout)].flat()
      assert.deepInclude(found, { outcome: "deleted", node: null })
    }).pipe(Effect.provide(TestServer.layer(inDialect({ scenario: "small" }))))
  )

  it.live("says that there was nothing to wait for, and which name may be meant", () =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* berth(["node", "wait", "web-11", "--for", "deleted"])
      assert.deepStrictEqual([code, /web-11 +deleted/.test(stdout)], [0, true], stdout + stderr)
      assert.match(stderr, /No node matches web-11.+There is nothing to wait for\.\n/)
    }).pipe(Effect.provide(TestServer.layer(inDialect({ scenario: "small" }))))
  )

  it.live("fails if the list cannot be read", () =>
    Effect.gen(function* () {
      const { arm } = yield* TestServer
      yield* arm([{ fault: "status", status: 403, scope: { operation: "nodes.list" } }])
      assert.strictEqual((yield* berth(["node", "wait", "web", "--for", "deleted"])).code, 3)
    }).pipe(Effect.provide(TestServer.layer(inDialect({ scenario: "small" }))))
  )

  it.live("is not found for any other goal", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* berth(["node", "wait", "web"])).code, 4)
    }).pipe(Effect.provide(TestServer.layer(inDialect({ scenario: "small" }))))
  )
})
