/**
 * A command has one deadline for all its calls and waits. If a call or wait had a time limit of its own, it would take ten minutes here, or
 * indefinitely, and outlast the test.
 */
import { nodeRecord, ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { TestServer } from "@berthkit/server/testing"
import { Effect } from "effect"
import { inDialect } from "../account.ts"
import { lines, settings } from "./berth.ts"
import { invoke } from "./invoke.ts"
import { serve } from "./ScriptedServer.ts"

/** Runs a command against a service that does not answer the requests in `hangs`. */
const ended = (hangs: (method: string, path: string) => boolean, ...args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const url = yield* serve(({ method, path }) => {
      if (hangs(method, path)) return Effect.never
      const record = nodeRecord({ id: 1, name: "web", status: "created" })
      return method === "DELETE" ? ok({}) : ok(path === "/nodes/" ? [record] : record)
    })
    const { code, stderr } = yield* invoke(args, { env: { ...(yield* settings), BERTH_BASE_URL: url } })
    return { code, problem: lines(stderr).at(-1)! }
  }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))

const always = () => true
const json = ["-o", "json"]

describe("a command on a service that hangs", () => {
  for (const [what, args] of [
    ["wait, with the shorter of its timeout", ["node", "wait", "1", "--timeout", "10m", "--deadline", "1s"]],
    ["wait, with its timeout alone", ["node", "wait", "1", "--timeout", "1s", "--deadline", "10m"]],
    ["wait, by a name", ["node", "wait", "web", "--deadline", "1s"]],
    ["get", ["node", "get", "1", "2", "3", "web", "--deadline", "1s"]],
    ["list", ["node", "list", "--deadline", "1s"]],
    ["delete", ["node", "delete", "web", "--yes", "--deadline", "1s"]],
    ["create", ["node", "create", "web", "--plan", "p", "--image", "i", "--force", "--yes", "--deadline", "1s"]]
  ] as const) {
    it.live(`node ${what} ends at its deadline`, () =>
      Effect.map(ended(always, ...args, ...json), ({ code, problem }) => assert.strictEqual(code, 7, problem))
    )
  }
})

describe("a wait of a command", () => {
  it.live("for the end of a node that it deleted lives within the deadline, too", () =>
    Effect.map(
      ended(() => false, "node", "delete", "1", "--yes", "--wait", "--deadline", "6s", ...json),
      ({ code, problem }) => {
        assert.strictEqual(code, 7)
        assert.include(problem, '"code":"StatusNotReached"')
      }
    )
  )

  it.live("lists its observations, even if the read before it got no reply", () =>
    Effect.map(ended(always, "node", "wait", "1", "--timeout", "1s"), ({ code, problem }) => {
      assert.strictEqual(code, 7)
      assert.match(problem, /^hint: To continue waiting: berth node wait 1/)
    })
  )
})
