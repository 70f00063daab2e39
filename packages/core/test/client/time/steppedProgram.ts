/**
 * A program whose wall clock steps in the middle of every kind of wait: `program.ts URL MILLIS FOLDER`. It prints how long each wait took
 * by the monotonic clock, in milliseconds since the end of the calls before the step.
 */
import type {} from "@berthkit/testing/steppedDate"
import { Duration, Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import * as Berth from "../../../src/client/Berth.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import type { CallOptions } from "../../../src/client/call/Operation.ts"
import { NodeId } from "../../../src/domain/Node.ts"

const [baseUrl, stepMillis, folder] = process.argv.slice(2) as [string, string, string]
const id = NodeId.make(7)

/** A client of its own, whose API key selects the service's script. */
const client = (play: string) =>
  Berth.layer({
    baseUrl,
    maxAttempts: 1,
    allowanceFile: `${folder}/${play}.json`,
    credentials: { apiKey: Redacted.make(play), accessToken: Redacted.make("token") }
  }).pipe(Layer.provide(FetchHttpClient.layer))

const get = (options?: CallOptions) =>
  Nodes.use((nodes) => nodes.get(id, options)).pipe(
    Effect.as("ok"),
    Effect.catch(({ reason }) => Effect.succeed(reason._tag))
  )

/** When the calls before the step ended, by play. */
const startedAt = new Map<string, number>()
const note = (play: string) => Effect.sync(() => startedAt.set(play, performance.now()))
const elapsed = (play: string) => Effect.sync(() => performance.now() - startedAt.get(play)!)

/** The calls before the step, and what is measured from then on. */
const plays: Record<
  string,
  readonly [before: Effect.Effect<unknown, never, Nodes>, after: Effect.Effect<unknown, never, Nodes>]
> = {
  // The breaker opens for two seconds.
  breaker: [
    Effect.replicateEffect(get(), 10),
    Effect.repeat(Effect.delay(get(), "20 millis"), { until: (tag) => tag !== "CircuitOpen" })
  ],
  // A refusal pauses requests for three seconds.
  pause: [get(), get()],
  // From the second request on, the allowance is spent until the service reports a refill.
  spent: [get(), Effect.replicateEffect(get({ deadline: "4 minutes" }), 3, { concurrency: 3 })],
  // No reply comes: the second request waits for the first, and is sent when the first times out.
  queue: [
    Effect.void,
    Effect.all([get({ deadline: "2 seconds" }), get({ deadline: "6 seconds" })], { concurrency: 2 })
  ],
  // The node never runs.
  wait: [
    Effect.void,
    Effect.exit(Nodes.use((nodes) => nodes.awaitStatus(id, "running", { timeout: Duration.seconds(3) })))
  ]
}

const results = await Effect.runPromise(
  Effect.gen(function* () {
    const contexts = yield* Effect.forEach(Object.keys(plays), (play) => Layer.build(Layer.fresh(client(play))))
    const all = Object.entries(plays).map(([play, steps], i) => [play, steps, contexts[i]!] as const)
    yield* Effect.forEach(
      all,
      ([play, [before], context]) => Effect.andThen(Effect.provideContext(before, context), note(play)),
      {
        concurrency: "unbounded"
      }
    )
    yield* Effect.forkScoped(
      Effect.delay(
        Effect.sync(() => globalThis.stepWallClock(Number(stepMillis))),
        "300 millis"
      )
    )
    return yield* Effect.forEach(
      all,
      ([play, [, after], context]) =>
        Effect.map(Effect.andThen(Effect.provideContext(after, context), elapsed(play)), (took) => [play, took]),
      { concurrency: "unbounded" }
    )
  }).pipe(Effect.scoped)
)
process.stdout.write(JSON.stringify(Object.fromEntries(results)))
