/**
 * How the watching of an account goes, as people and programs are shown it: derived from what the daemon believes and from what it
 * has just observed. Pure.
 */
import type { Fact } from "../diff/Fact.ts"
import type { SweepCompleted } from "../diff/Observation.ts"
import type { Standing } from "../diff/Standing.ts"
import type { AccountProgress } from "../telemetry/Progress.ts"

/** The trouble that the account is in; in the words of the last event, where this process has reported one. */
export const stateOf = (
  { baselineMillis, freeze, outage, stranger }: Standing,
  lastMessage: string | null
): Pick<AccountProgress, "state" | "trouble"> => {
  const trouble = (
    state: "degraded" | "frozen",
    { sinceMillis }: { readonly sinceMillis: number },
    message: string
  ) => ({
    state,
    trouble: { message: lastMessage ?? message, sinceMillis }
  })
  if (outage !== null) return trouble("degraded", outage, "The list cannot be read.")
  if (stranger !== null) return trouble("frozen", stranger, "The list is that of another account.")
  if (freeze !== null) return trouble("frozen", freeze, "The list is too short to be believed.")
  return { state: baselineMillis === null ? "starting" : "watching", trouble: null }
}

/** A complete sweep, and when the next one begins. */
export const sweepOf = (
  { answered, asked, requests, unreadable }: SweepCompleted,
  intervalMillis: number
): Pick<AccountProgress, "lastSweep" | "unreadable" | "nextSweepMillis" | "intervalMillis"> => ({
  lastSweep: {
    endedMillis: answered.atMillis,
    durationMillis: answered.monotonicMillis - asked.monotonicMillis,
    requests
  },
  unreadable: unreadable ?? null,
  nextSweepMillis: Math.max(answered.atMillis, asked.atMillis + intervalMillis),
  intervalMillis
})

const hourMillis = 3_600_000

interface Width {
  readonly atMillis: number
  readonly millis: number
}

/** Widths of `observedBetween` that may still be the worst of an hour: each is wider than all after it. */
export type Widths = ReadonlyArray<Width>

const isDetection = ({ type }: Fact): boolean =>
  type === "berth.node.created" || type === "berth.node.status_changed" || type === "berth.node.changed"

/** Adds what happened. A deletion is late by its confirmation, and the baseline was never missed. */
export const addWidths = (widths: Widths, facts: ReadonlyArray<Fact>, nowMillis: number): Widths => {
  let kept = widths.filter(({ atMillis }) => nowMillis - atMillis < hourMillis)
  for (const fact of facts) {
    if (!isDetection(fact) || !("observedBetween" in fact.data)) continue
    const [from, to] = fact.data.observedBetween
    const millis = to.epochMilliseconds - from.epochMilliseconds
    kept = [...kept.filter((width) => width.millis > millis), { atMillis: fact.atMillis, millis }]
  }
  return kept
}
