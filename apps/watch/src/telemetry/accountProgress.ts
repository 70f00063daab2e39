/**
 * How the watching of an account goes, as people and programs are shown it: derived from what the daemon believes and from what it
 * has just observed. Pure.
 */
import type { Fact } from "../diff/Fact.ts"
import type { SweepCompleted } from "../diff/Observation.ts"
import type { Standing } from "../diff/Snapshot.ts"
import type { AccountProgress } from "./Progress.ts"

/** What this process knows of the troubles of an account beside what the store keeps. */
export interface Words {
  /** Why the last request failed that is a trouble; null where this process met none. */
  readonly outage: { readonly message: string; readonly isRefusal: boolean } | null
  /** Why the list is not believed. */
  readonly doubt: string | null
}

export const noWords: Words = { outage: null, doubt: null }

/** The troubles that the account is in; in the words of this process, where it has met them. */
export const stateOf = (
  { baselineMillis, freeze, outage, stranger }: Standing,
  words: Words
): Pick<AccountProgress, "state" | "outage" | "doubt"> => {
  const doubted = stranger ?? freeze
  const usual = stranger === null ? "It is too short." : "It is that of another account."
  return {
    state:
      outage !== null ? "degraded" : doubted !== null ? "frozen" : baselineMillis === null ? "starting" : "watching",
    outage:
      outage === null
        ? null
        : { ...outage, ...(words.outage ?? { message: "It could not be read for too long.", isRefusal: false }) },
    doubt:
      doubted === null
        ? null
        : { message: words.doubt ?? usual, sinceMillis: doubted.sinceMillis, isOther: stranger !== null }
  }
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
