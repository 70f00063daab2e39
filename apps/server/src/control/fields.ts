/**
 * Fields that several groups of the control plane share: texts that mean a duration, a clock, a scenario, an instant, and
 * the name of a world in a path.
 */
import { DateTime, Duration, Effect, Option, Schema, SchemaIssue, SchemaTransformation } from "effect"
import type { Scenario } from "../world/scenario.ts"
import { readDurationMillis } from "../lifecycle/durationText.ts"
import { readClock, readScenario, showClock, showScenario } from "../world/WorldOptions.ts"
import type { ClockMode } from "../lifecycle/VirtualClock.ts"

/** A text that `read` understands and `show` writes; `expected` completes "Expected …". */
const text = <A>(
  target: Schema.Codec<A>,
  expected: string,
  read: (text: string) => Option.Option<A>,
  show: (value: A) => string
) =>
  Schema.String.annotate({ description: expected }).pipe(
    Schema.decodeTo(
      target,
      SchemaTransformation.transformEffect<A, string>({
        decode: (given, options) =>
          Option.match(read(given), {
            onNone: () => Effect.fail(new SchemaIssue.InvalidValue({ expected }, given, options)),
            onSome: Effect.succeed
          }),
        encode: (value) => Effect.succeed(show(value))
      })
    )
  )

/** A duration from nothing to ten years, in whole milliseconds: `10 seconds`, or as flags have it, `10s`. */
export const DurationText = text(
  Schema.Duration,
  "a duration such as 10s or 10 seconds, up to 10 years",
  (given) => Option.map(readDurationMillis(given), Duration.millis),
  (duration) => `${Duration.toMillis(duration)} millis`
)

export const ClockText = text<ClockMode>(
  Schema.Union([Schema.Literals(["real", "frozen"]), Schema.Struct({ times: Schema.Finite })]),
  "real, frozen or a factor such as x60",
  readClock,
  showClock
)

export const ScenarioText = text<Scenario>(
  Schema.Union([Schema.Literals(["empty", "small"]), Schema.Struct({ fleet: Schema.Int })]),
  "empty, small or fleet:N",
  readScenario,
  showScenario
)

/** An instant of a world, ISO 8601 in UTC with milliseconds. */
export const Instant = Schema.DateTimeUtcFromString

/** The same from milliseconds since the epoch. */
export const instant = (ms: number): DateTime.Utc => DateTime.makeUnsafe(ms)

/** Which world a path is about: `default`, `w1`, … */
export const worldParam = { world: Schema.String }
