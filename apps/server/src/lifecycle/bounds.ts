/**
 * Bounds for the times of a world, in milliseconds. With them, no sum of times leaves the range of instants that can be
 * written. Snapshots are checked against these bounds, too.
 */
import { Schema } from "effect"
import { isStart, maxDurationMillis } from "./timeText.ts"
import { lastMillis, maxTimes } from "./VirtualClock.ts"

const firstMillis = Date.parse("0001-01-01T00:00:00Z")

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/**
 * Any instant of the years 1 to 9999. Its end is later than that of `WorldTime`, because computed instants, such as the end
 * of a window, may be later than the world's time.
 */
export const Instant = between(firstMillis, Date.parse("9999-12-31T23:59:59.999Z"))

/** The instants that a world's clock can show. */
export const WorldTime = between(firstMillis, lastMillis)

/** The instants at which a world may begin. */
export const StartTime = Schema.Int.check(
  Schema.makeFilter((millis) => isStart(millis) || "Expected an instant of the years 2002 to 2999")
)

/** A duration of up to ten years. */
export const DurationMillis = between(0, maxDurationMillis)

/** The length of a window, at least 1 ms. */
export const WindowMillis = between(1, maxDurationMillis)

/** A term of a commitment, up to ten years. */
export const TermDays = between(1, 3650)

/** The speed of a clock: world milliseconds per real millisecond. */
export const Rate = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: maxTimes }))
