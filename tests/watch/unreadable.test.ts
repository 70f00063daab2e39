/** Records that the daemon cannot read: counted for the operator, and no events. */
import { expect, it } from "@effect/vitest"
import { TestServer } from "@berthkit/server/testing"
import { Effect } from "effect"
import { Daemon } from "./Daemon.ts"
import { wait } from "./Scene.ts"

it.live("records of the list that cannot be read are counted per account, with an example", () =>
  Effect.gen(function* () {
    const records = [1, 2, 3].map((id) => ({
      id,
      name: `node-${id}`,
      status: "running",
      created_at: id === 1 ? "2026-01-01T00:00:00Z" : "yesterday"
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
        expect(unreadable.example).toMatch(/^node 2, whose created_at is not /)
        break
      }
      yield* Effect.sleep("100 millis")
    }
  }).pipe(Effect.scoped, Effect.provide(TestServer.layer({ scenario: "empty", clock: "real" })))
)
