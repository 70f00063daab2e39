/** Fields that several groups of the control plane share. */
import { DateTime, Schema } from "effect"
import { endReasons } from "../journal/Journals.ts"

/** An instant of a world, ISO 8601 in UTC with milliseconds. */
export const Instant = Schema.DateTimeUtcFromString

/** An instant of a world, from milliseconds since the epoch. */
export const instant = (millis: number): DateTime.Utc => DateTime.makeUnsafe(millis)

/** The world in the path: `default`, `w1`, … */
export const worldParam = { world: Schema.String }

/** When and why a world ended. */
export const WorldEnd = Schema.Struct({ at: Instant, reason: Schema.Literals(endReasons) }).annotate({
  identifier: "WorldEnd"
})
