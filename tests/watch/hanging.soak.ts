/** The time between sweeps while reads of single nodes hang, on an otherwise idle machine. */
import { expect, it } from "@effect/vitest"
import { Nodes } from "@berthkit/core/client/Nodes"
import { TestServer } from "@berthkit/server/testing"
import { Effect } from "effect"
import { Daemon } from "./Daemon.ts"
import { fastService } from "./killing.ts"
import { create } from "./polling.ts"
import { wait } from "./Scene.ts"

const intervalMillis = 1000

it.live("sweeps follow each other within twice their interval while reads of five nodes hang for a minute", () =>
  Effect.gen(function* () {
    const { arm, journal } = yield* TestServer
    const ids = yield* Effect.forEach(["a", "b", "c", "d", "e"], create)
    const daemon = yield* Daemon.start(["run", "--interval", `${intervalMillis}ms`, "--requests-per-hour", "1000000"])
    yield* wait(() => daemon.baseline())
    yield* arm([{ fault: "hang", scope: { operation: "nodes.get" } }])
    yield* Effect.forEach(ids, (id) => Nodes.use((nodes) => nodes.delete(id)), { discard: true })
    yield* Effect.sleep("1 minute")
    const lists = (yield* journal).filter(({ operation }) => operation === "nodes.list")
    const times = lists.map(({ at }) => Date.parse(at))
    const gaps = times.slice(1).map((time, index) => time - times[index]!)
    expect(gaps.length).toBeGreaterThan(40)
    expect(Math.max(...gaps)).toBeLessThanOrEqual(2 * intervalMillis)
  }).pipe(Effect.scoped, Effect.provide(fastService))
)
