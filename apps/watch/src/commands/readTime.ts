/**
 * A point in time that a flag names: an instant, or a duration from now.
 */
import { parseDurationMillis } from "@berthkit/terminal/duration"
import { Clock, DateTime, Effect, Option } from "effect"
import { misused } from "../process/CommandFailed.ts"

/** In milliseconds. A duration counts back from now (`ago`), or on. */
export const readTime = Effect.fnUntraced(function* (flag: string, text: string, direction: "ago" | "ahead") {
  const span = parseDurationMillis(text)
  if (Option.isSome(span)) {
    const now = yield* Clock.currentTimeMillis
    return direction === "ago" ? now - span.value : now + span.value
  }
  const instant = DateTime.make(text)
  if (Option.isSome(instant)) return DateTime.toEpochMillis(instant.value)
  return yield* misused(
    `--${flag} cannot be ${text}: expected a date and time, such as 2026-03-01T10:20:30Z, or a duration, such as 2h.`
  )
})
