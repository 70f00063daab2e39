/**
 * A fault that is armed in a world, with what it has counted so far.
 */
import { DateTime } from "effect"
import { type AnyFault, readMoment, withCanonicalHeaders } from "./Fault.ts"

/** A fault of a world, with its counts. */
export interface ArmedFault {
  /** A new object each time a fault is armed, so that the object identifies the armed fault. */
  readonly fault: AnyFault
  /** Number of this fault among the armed faults of the same name, from 0. */
  readonly instance: number
  /** Number of requests so far that were in the fault's scope and time. */
  seen: number
  /** Number of requests so far on which the fault acted. */
  fired: number
  /** The instants from which and until which the fault may fire; absent if there is no bound. */
  readonly fromMillis?: number
  readonly untilMillis?: number
}

const armedAt = (fault: AnyFault, instance: number, now: number): ArmedFault => ({
  fault: { ...withCanonicalHeaders(fault) },
  instance,
  seen: 0,
  fired: 0,
  ...(fault.from === undefined ? {} : { fromMillis: readMoment(fault.from, now)! }),
  ...(fault.until === undefined ? {} : { untilMillis: readMoment(fault.until, now)! })
})

export const arm = (faults: ReadonlyArray<AnyFault>, now: number): ReadonlyArray<ArmedFault> => {
  const instances = new Map<string, number>()
  return faults.map((fault) => {
    const instance = instances.get(fault.fault) ?? 0
    instances.set(fault.fault, instance + 1)
    return armedAt(fault, instance, now)
  })
}

/** Arms one more fault, which comes after the armed ones. */
export const armAlso = (armed: ReadonlyArray<ArmedFault>, fault: AnyFault, now: number): ArmedFault => {
  const instances = armed.flatMap((other) => (other.fault.fault === fault.fault ? [other.instance] : []))
  return armedAt(fault, 1 + Math.max(-1, ...instances), now)
}

/** The name of an armed fault, such as `status-1`. */
export const armedId = ({ fault, instance }: ArmedFault): string => `${fault.fault}-${instance + 1}`

/** An armed fault for readers: as the test requested it, but with instants instead of durations, and with its counts. */
export const describeArmed = (armed: ArmedFault) => {
  const { fault, fired, fromMillis, seen, untilMillis } = armed
  return {
    id: armedId(armed),
    ...fault,
    ...(fromMillis === undefined ? {} : { from: isoInstant(fromMillis) }),
    ...(untilMillis === undefined ? {} : { until: isoInstant(untilMillis) }),
    seen,
    fired
  }
}

const isoInstant = (millis: number): string => DateTime.formatIso(DateTime.makeUnsafe(millis))
