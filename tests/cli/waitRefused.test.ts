/**
 * Waits that would need more requests than the rate limit allows. They end at once, and say when the limit refills, what becomes of the
 * node, and how to continue.
 */
import { assert, describe, it } from "@effect/vitest"
import { TestServer } from "@berthkit/server/testing"
import { Effect } from "effect"
import { inDialect } from "../account.ts"
import { lines, settings } from "./berth.ts"
import { berth, invoke } from "./invoke.ts"
import { stateFolder } from "./stateFolder.ts"

const order = ["--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04"]

/** The id of the first node, found without a request. */
const firstId = Effect.gen(function* () {
  const { control, id: world } = yield* TestServer
  const [node] = yield* Effect.orDie(control.nodes.list({ params: { world }, query: {} }))
  return node!.id
})

const service = (limit: number, scenario?: "small") =>
  TestServer.layer(
    inDialect({
      clock: "real",
      provisioning: "1 hour",
      termination: "1 hour",
      rateLimit: { limit },
      ...(scenario && { scenario })
    })
  )

/** The last two lines of stderr. */
const ending = (stderr: string) => lines(stderr).slice(-2)

const refused = String.raw`error: Too little is left of the rate limit: the next read may go in (?:1 h 1|1 h|\d+)(?: min)?, after the end of this wait; node`

describe("a wait that ends before the rate limit refills", () => {
  it.live("after a create exits 6 at once: the node exists and is billed", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* berth(["node", "create", "web", ...order, "--wait", "--timeout", "20m"])
      const id = yield* firstId
      const [error, hint] = ending(stderr)
      assert.strictEqual(code, 6, stderr)
      assert.match(
        error!,
        new RegExp(`^${refused} ${id} is creat(?:ing|ed), expected running. The node exists and is billed.$`)
      )
      assert.match(
        hint!,
        new RegExp(
          `^hint: To continue waiting: berth node wait ${id} --timeout [67]\\dm; to remove it: berth node delete ${id}$`
        )
      )
    }).pipe(Effect.provide(service(4)))
  )

  it.live("of node wait exits 6 at once, and names the wait that outlasts it", () =>
    Effect.gen(function* () {
      const id = yield* firstId
      const { code, stderr } = yield* berth(["node", "wait", String(id), "--for", "power-off", "--timeout", "20m"])
      const [error, hint] = ending(stderr)
      assert.strictEqual(code, 6, stderr)
      assert.match(error!, new RegExp(`^${refused} ${id} is \\S+, expected power-off. The node exists and is billed.$`))
      assert.match(
        hint!,
        new RegExp(`^hint: To continue waiting: berth node wait ${id} --for power-off --timeout [67]\\dm$`)
      )
    }).pipe(Effect.provide(service(3, "small")))
  )

  it.live("after a delete exits 6 at once: the node is being deleted", () =>
    Effect.gen(function* () {
      const id = yield* firstId
      const { code, stderr } = yield* berth(["node", "delete", String(id), "--yes", "--wait", "--timeout", "20m"])
      const [error, hint] = ending(stderr)
      assert.strictEqual(code, 6, stderr)
      assert.match(
        error!,
        new RegExp(
          `^${refused} ${id} is terminate, expected deleted. The node is being deleted; it may be billed until it is gone.$`
        )
      )
      assert.match(
        hint!,
        new RegExp(`^hint: To continue waiting: berth node wait ${id} --for deleted --timeout [67]\\dm$`)
      )
    }).pipe(Effect.provide(service(4, "small")))
  )

  it.live("is one line of JSON with the time until the refill", () =>
    Effect.gen(function* () {
      const id = yield* firstId
      const env = { ...(yield* settings), XDG_STATE_HOME: yield* stateFolder }
      const wait = ["node", "wait", String(id), "--for", "power-off", "-o", "json"]
      const { code, stderr, stdout } = yield* invoke(wait, { env })
      assert.deepStrictEqual([code, stdout], [6, ""])
      const { error } = JSON.parse(stderr)
      assert.deepInclude(error, { code: "StatusNotReached", retryable: true })
      assert.deepInclude(error.details, { node: { id, name: null }, wanted: "power-off", impossible: false })
      assert.isAbove(error.details.refillsInMillis, 3_000_000)
      // The next command can read the node with the request that the wait has left. The command after that sends no request.
      yield* invoke(wait, { env })
      const { journal } = yield* TestServer
      const { length } = yield* journal
      const again = yield* invoke(wait, { env })
      assert.deepStrictEqual([again.code, JSON.parse(again.stderr).error.code], [6, "StatusNotReached"])
      assert.lengthOf(yield* journal, length)
    }).pipe(Effect.scoped, Effect.provide(service(3, "small")))
  )

  it.live("continues after the refill", () =>
    Effect.gen(function* () {
      const args = ["node", "create", "web", ...order, "--wait", "--timeout", "30s"]
      const { code, stderr } = yield* berth(args)
      assert.strictEqual(code, 0, stderr)
    }).pipe(
      Effect.provide(
        TestServer.layer(
          inDialect({ clock: "real", provisioning: "3 seconds", rateLimit: { limit: 3, window: "4 seconds" } })
        )
      )
    )
  )
})
