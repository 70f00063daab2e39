/**
 * An armed fault as a part of a snapshot: with what it has counted, so that it goes on where it stood.
 */
import { Schema } from "effect"
import type { ArmedFault } from "./ArmedFaults.ts"
import { Fault } from "../injection/catalogue.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

export const ArmedSnapshot = Schema.Struct({
  fault: Fault,
  instance: Count,
  /** Milliseconds since the epoch; absent where there is no bound. */
  fromMs: Schema.optionalKey(Schema.Int),
  untilMs: Schema.optionalKey(Schema.Int),
  seen: Count,
  fired: Count
})

export const takeArmed = ({ fromMs, untilMs, ...armed }: ArmedFault): typeof ArmedSnapshot.Type => ({
  ...armed,
  ...(Number.isFinite(fromMs) ? { fromMs } : {}),
  ...(Number.isFinite(untilMs) ? { untilMs } : {})
})

export const armedFrom = (snapshot: typeof ArmedSnapshot.Type): ArmedFault => ({
  ...snapshot,
  fromMs: snapshot.fromMs ?? Number.NEGATIVE_INFINITY,
  untilMs: snapshot.untilMs ?? Number.POSITIVE_INFINITY
})
