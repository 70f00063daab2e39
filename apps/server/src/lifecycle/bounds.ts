/**
 * Bounds for the times of a world, so that no sum of them leaves the range of instants that can be written. Snapshots are
 * checked against them, too. All in milliseconds.
 */
import { Schema } from "effect"
import { isStart, maxDurationMillis } from "./timeText.ts"
import { lastMillis, maxTimes } from "./VirtualClock.ts"

const firstMillis = Date.parse("0001-01-01T00:00:00Z")

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/**
 * Any instant of the years 1 to 9999. Instants that follow from a world's time, such as the end of a window, may be later than
 * the time itself.
 */
export const Instant = between(firstMillis, Date.parse("9999-12-31T23:59:59.999Z"))

/** What a world's clock can show. */
export const WorldTime = between(firstMillis, lastMillis)

/** When a world may begin. */
export const StartTime = Schema.Int.check(
  Schema.makeFilter((millis) => isStart(millis) || "Expected an instant of the years 2002 to 2999")
)

/** Up to ten years. */
export const DurationMillis = between(0, maxDurationMillis)

/** The length of a window, at least 1 ms. */
export const WindowMillis = between(1, maxDurationMillis)

/** A term of a commitment, up to ten years. */
export const TermDays = between(1, 3650)

/** World milliseconds per real one. */
export const Rate = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: maxTimes }))
