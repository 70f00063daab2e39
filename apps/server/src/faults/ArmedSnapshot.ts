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
  fromMillis: Schema.optionalKey(Schema.Int),
  untilMillis: Schema.optionalKey(Schema.Int),
  seen: Count,
  fired: Count
})

export const takeArmed = ({ fromMillis, untilMillis, ...armed }: ArmedFault): typeof ArmedSnapshot.Type => ({
  ...armed,
  ...(Number.isFinite(fromMillis) ? { fromMillis } : {}),
  ...(Number.isFinite(untilMillis) ? { untilMillis } : {})
})

export const armedFrom = (snapshot: typeof ArmedSnapshot.Type): ArmedFault => ({
  ...snapshot,
  fromMillis: snapshot.fromMillis ?? Number.NEGATIVE_INFINITY,
  untilMillis: snapshot.untilMillis ?? Number.POSITIVE_INFINITY
})
