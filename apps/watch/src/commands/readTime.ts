/** A point in time in a flag: an instant, or a duration from now. */
import { parseDurationMillis } from "@berthkit/terminal/duration"
import { instantExpected, parseInstantMillis } from "@berthkit/terminal/instant"
import { Clock, Effect, Option } from "effect"
import { misused } from "../process/CommandFailed.ts"

/**
 * Reads the flag; returns milliseconds since the epoch. A duration counts from now: back if `direction` is `ago`, otherwise
 * forward.
 */
export const readTime = Effect.fnUntraced(function* (flag: string, text: string, direction: "ago" | "ahead") {
  const span = parseDurationMillis(text)
  if (Option.isSome(span)) {
    const now = yield* Clock.currentTimeMillis
    return direction === "ago" ? now - span.value : now + span.value
  }
  const instant = parseInstantMillis(text)
  if (Option.isSome(instant)) return instant.value
  return yield* misused(`--${flag} cannot be ${text}: expected ${instantExpected}, or a duration, such as 2h.`)
})
