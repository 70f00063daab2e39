/** A daemon process with a service that never answers reads of single nodes. */
import { expect, it } from "@effect/vitest"
import { Nodes } from "@berthkit/core/client/Nodes"
import { TestServer } from "@berthkit/server/testing"
import { Effect } from "effect"
import { Daemon } from "./Daemon.ts"
import { fastService } from "./killing.ts"
import { create } from "./polling.ts"
import { wait } from "./Scene.ts"

it.live("a node whose reads hang holds up no sweep", () =>
  Effect.gen(function* () {
    const { arm, journal } = yield* TestServer
    const id = yield* create("gone")
    const daemon = yield* Daemon.start(["run", "--interval", "200ms", "--requests-per-hour", "1000000"])
    yield* wait(() => daemon.baseline())
    yield* arm([{ fault: "hang", scope: { operation: "nodes.get" } }])
    yield* Nodes.use((nodes) => nodes.delete(id))
    const operations = Effect.map(journal, (entries) => entries.map(({ operation }) => operation))
    // Wait from one read to the next, because the daemon cuts the first one off in between.
    for (;;) {
      const asked = yield* operations
      const first = asked.indexOf("nodes.get")
      const second = asked.indexOf("nodes.get", first + 1)
      if (first >= 0 && second > 0) {
        expect(asked.slice(first, second).filter((name) => name === "nodes.list").length).toBeGreaterThanOrEqual(5)
        break
      }
      yield* Effect.sleep("100 millis")
    }
  }).pipe(Effect.scoped, Effect.provide(fastService))
)
