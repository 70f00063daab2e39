/**
 * Reports the progress of a tool call, because hosts abort a call that is silent for a minute.
 */
import { Duration, Effect, Option, Predicate } from "effect"
import { McpSchema } from "effect/ai"

const everySeconds = 5

/** Runs a call, and reports every few seconds how long it has been running. */
export const withProgress = <A, E, R, R2>(
  run: Effect.Effect<A, E, R>,
  tell: (seconds: number) => Effect.Effect<void, never, R2>
): Effect.Effect<A, E, R | R2> => {
  const ticks = Effect.gen(function* () {
    for (let seconds = everySeconds; ; seconds += everySeconds) {
      yield* Effect.sleep(Duration.seconds(everySeconds))
      yield* tell(seconds)
    }
  })
  return Effect.raceFirst(run, ticks)
}

/**
 * The token for progress reports; undefined if the caller wants none. In a session, read the token from `McpServerClient`, because
 * `McpRequestContext` belongs to the request that opened the session.
 */
export const progressToken = Effect.gen(function* () {
  const session = yield* Effect.serviceOption(McpSchema.McpServerClient)
  const { requestMetadata } = Option.isSome(session) ? session.value : yield* McpSchema.McpRequestContext
  const token = Predicate.hasProperty(requestMetadata, "progressToken") ? requestMetadata["progressToken"] : undefined
  return typeof token === "string" || typeof token === "number" ? token : undefined
})
