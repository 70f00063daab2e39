/**
 * While many events come, a running daemon removes events within seconds, so that it keeps no more than its config allows. This is a
 * separate run because it needs many nodes.
 */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestServer } from "@berthkit/server/testing"
import { inDialect, clientOf } from "../../account.ts"
import { Daemon } from "../Daemon.ts"
import { command, configured, receiver, wait } from "../Scene.ts"

interface Page {
  readonly events: ReadonlyArray<{ readonly event: { readonly sequence: string } }>
}

const changeEvery = (status: "power-off" | "running") =>
  Effect.gen(function* () {
    const { control, id: world } = yield* TestServer
    const nodes = yield* Effect.orDie(control.nodes.list({ params: { world }, query: { count: 1000 } }))
    yield* Effect.forEach(
      nodes,
      ({ id }) => Effect.orDie(control.nodes.change({ params: { world, id }, payload: { status } })),
      { concurrency: 20, discard: true }
    )
  })

layer(
  Layer.provideMerge(
    Layer.unwrap(Effect.map(TestServer, (server) => clientOf(server))),
    TestServer.layer(inDialect({ clock: "real", scenario: { fleet: 1000 }, rateLimit: { limit: 1_000_000 } }))
  ),
  { excludeTestServices: true }
)("a daemon that gets more events than it may keep", (it) => {
  it.effect("keeps the last ones", () =>
    Effect.gen(function* () {
      const ops = yield* receiver
      const config = yield* configured(ops.url, { interval: "1s", more: "retention: { maxEvents: 1000 }\n" })
      const daemon = yield* Daemon.start(["run", "--config", config, "--requests-per-hour", "1000000"])
      yield* wait(() => daemon.baseline())
      const { http } = yield* wait(() => daemon.ready())
      const seen = Effect.map(
        wait(async () => (await fetch(`${http}/api/events?account=acme&limit=1`)).json() as Promise<Page>),
        ({ events }) => Number(events[0]?.event.sequence)
      )
      // On a busy machine, the log also gets events about the daemon itself.
      const kept = command(["events", "--config", config, "--account", "acme"])
      yield* changeEvery("power-off")
      yield* Effect.repeat(seen, { until: (count) => count >= 1001 })
      yield* changeEvery("running")
      yield* Effect.repeat(seen, { until: (count) => count >= 2001 })
      yield* Effect.repeat(kept, { until: ({ stdout }) => stdout.length <= 1000 })
      expect((yield* kept).stdout).toHaveLength(1000)
    })
  )
})
