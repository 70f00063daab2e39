/**
 * The rule that no wait of more than two minutes rests on a single statement of the service (decision 0085): until a
 * second statement gives the same instant, one request goes after that time to ask again.
 */
import * as Report from "./AllowanceReport.ts"
import type { State } from "./EstimatorState.ts"

/** Longest wait that rests on a single statement. */
export const maxUnbackedMillis = 120_000

/** Two statements agree on an instant within this time: two seconds, and the rounding of headers. */
export const agreementMillis = 2000 + Report.roundingMillis

/**
 * What justifies the wait for an instant, seen from another: that it is near, or is within the window as it was learned,
 * or that another statement agrees. Undefined where nothing does.
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
 * The refill as an earlier reply stated it. Two replies shortly after each other agree even on a constant Retry-After, so the earlier
 * one counts only once it is older than that.
 */
export const claimed = ({ claim }: State, receivedAt: number): number | undefined =>
  claim !== undefined && receivedAt - claim.statedAt > agreementMillis ? claim.instant : undefined

/** When one request asks again about the reset of a report. */
export const askBy = (
  { steppedAt }: State,
  { receivedAt, sentAt }: Report.SharedReport,
  agreed: number | undefined
): number =>
  sentAt < steppedAt ? steppedAt : agreed === undefined ? receivedAt + maxUnbackedMillis : Number.POSITIVE_INFINITY

/** The end of the wait that the `Retry-After` of a reply asks for. */
export const retryAtOf = ({ receivedAt, retryAfterMillis }: Report.Observation): number | undefined =>
  retryAfterMillis === null ? undefined : receivedAt + Math.min(retryAfterMillis, Report.maxWindowMillis)

/** What backs the reset of a reply. */
export const agreeing = (state: State, { receivedAt, resetAround }: Report.Report, observation: Report.Observation) =>
  backing(
    state,
    resetAround,
    receivedAt,
    Report.isRelative(observation.reset) ? undefined : state.report?.resetAround,
    claimed(state, receivedAt),
    retryAtOf(observation)
  )

/**
 * The length of the window: the longest time to a believed reset, also where the reply that made it believed was not the
 * first to state it.
 */
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
