/**
 * The rule that no wait of more than two minutes relies on a single statement of the service (decision 0085): unless a second statement
 * names the same instant, one request is sent after two minutes to ask again.
 */
import * as Report from "./AllowanceReport.ts"
import type { State } from "./EstimatorState.ts"

/** Longest wait on a single statement. */
export const maxUnbackedMillis = 120_000

/** Two statements agree if their instants differ by no more than this: two seconds, and the rounding of headers. */
export const agreementMillis = 2000 + Report.roundingMillis

/**
 * Why waiting for an instant is justified: it is near, within the learned window, or confirmed by another statement. Undefined if it is
 * not.
 */
export const backing = (
  { windowMillis = 0 }: State,
  instant: number,
  from: number,
  ...statements: ReadonlyArray<number | undefined>
): number | undefined =>
  instant - from <= Math.max(maxUnbackedMillis, windowMillis + agreementMillis)
    ? instant
    : statements.find((other = Number.NaN) => Math.abs(other - instant) <= agreementMillis)

/**
 * The refill time of an earlier reply. Two replies shortly after each other agree even on a constant Retry-After, so the earlier one counts
 * only after the agreement time.
 */
export const claimed = ({ claim }: State, receivedAt: number): number | undefined =>
  claim !== undefined && receivedAt - claim.statedAt > agreementMillis ? claim.instant : undefined

/** When one request asks again about a report's reset. */
export const askBy = (
  { steppedAt }: State,
  { receivedAt, sentAt }: Report.SharedReport,
  agreed: number | undefined
): number =>
  sentAt < steppedAt ? steppedAt : agreed === undefined ? receivedAt + maxUnbackedMillis : Number.POSITIVE_INFINITY

/** The end of the wait in a reply's `Retry-After`. */
export const retryAtOf = ({ receivedAt, retryAfterMillis }: Report.Observation): number | undefined =>
  retryAfterMillis === null ? undefined : receivedAt + Math.min(retryAfterMillis, Report.maxWindowMillis)

/** The justification for the reset of a reply. */
export const agreeing = (state: State, { receivedAt, resetAround }: Report.Report, observation: Report.Observation) =>
  backing(
    state,
    resetAround,
    receivedAt,
    Report.isRelative(observation.reset) ? undefined : state.report?.resetAround,
    claimed(state, receivedAt),
    retryAtOf(observation)
  )

/** The length of the window: the longest time to a believed reset, even if the reply that confirmed it was not the first to state it. */
export const windowSeen = (
  { report: known, windowMillis = 0 }: State,
  { resetAround, sentAt }: Report.SharedReport
): number =>
  Math.max(
    windowMillis,
    resetAround - sentAt,
    known !== undefined && Math.abs(known.resetAround - resetAround) <= agreementMillis
      ? known.resetAround - known.sentAt
      : 0
  )
