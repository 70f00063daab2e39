/** Records that the daemon cannot read. It counts them for the operator, and reports no events about them. */
import { expect, it } from "@effect/vitest"
import { TestServer } from "@berthkit/server/testing"
import { Effect } from "effect"
import { inDialect } from "../account.ts"
import { Daemon } from "./Daemon.ts"
import { wait } from "./Scene.ts"

it.live("a list that says it has nodes and shows none is no baseline", () =>
  Effect.gen(function* () {
    const body = { message: "Success", code: 200, data: [], errors: {}, total_count: 3, total_page_number: 1 }
    yield* TestServer.use(({ arm }) =>
      arm([{ fault: "status", status: 200, body, scope: { operation: "nodes.list" } }])
    )
    const daemon = yield* Daemon.start(["once"])
    const { code, stderr, stdout } = yield* wait(() => daemon.finished())
    expect({ code, stdout }).toEqual({ code: 7, stdout: [] })
    expect(stderr.join("\n")).toMatch(/3 nodes \(total_count\)/)
  }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ scenario: "empty", clock: "real" }))))
)

it.live("records of the list that cannot be read are counted per account, with an example", () =>
  Effect.gen(function* () {
    const records = [1, 2, 3].map((id) => ({
      id,
      name: id === 1 ? "node-1" : null,
      status: "running",
      created_at: "2026-01-01T00:00:00Z"
    }))
    const body = { message: "Success", code: 200, data: records, errors: {} }
    yield* TestServer.use(({ arm }) =>
      arm([{ fault: "status", status: 200, body, scope: { operation: "nodes.list" } }])
    )
    const daemon = yield* Daemon.start(["run", "--interval", "200ms", "--requests-per-hour", "1000000"])
    const { http } = yield* wait(() => daemon.ready())
    yield* wait(() => daemon.baseline())
    for (;;) {
      const { accounts } = yield* wait(async () => (await fetch(`${http}/api/status`)).json() as Promise<any>)
      const [{ nodes, unreadable }] = accounts
      if (unreadable !== null) {
        expect({ nodes, unreadable }).toMatchObject({ unreadable: { count: 2 } })
        expect(unreadable.example).toMatch(/^node 2, whose name is not /)
        break
      }
      yield* Effect.sleep("100 millis")
    }
  }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ scenario: "empty", clock: "real" }))))
)
