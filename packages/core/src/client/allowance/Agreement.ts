/**
 * No wait of more than two minutes relies on a single statement of the service (decision 0085). Unless a second statement names the same
 * instant, the client sends one request after two minutes to ask again.
 */
import * as Report from "./AllowanceReport.ts"
import type { State } from "./EstimatorState.ts"

/** Longest wait on a single statement. */
export const maxUnbackedMillis = 120_000

/** Two statements agree if their instants differ by no more than this: two seconds, and the rounding of headers. */
export const agreementMillis = 2000 + Report.roundingMillis

/**
 * The evidence that an instant is worth waiting for: the instant itself if it is near or within the learned window, otherwise another
 * statement that agrees with it. Undefined without such evidence.
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
 * The refill time of an earlier reply. Two replies shortly after each other seem to agree if the service always states
 * the same `Retry-After`, so the earlier reply counts only once the agreement time has passed.
 */
export const claimed = ({ claim }: State, receivedAt: number): number | undefined =>
  claim !== undefined && receivedAt - claim.statedAt > agreementMillis ? claim.instant : undefined

/** When the client sends one request to ask again about a report's reset. */
export const askBy = (
  { steppedAt }: State,
  { receivedAt, sentAt }: Report.SharedReport,
  agreed: number | undefined
): number =>
  sentAt < steppedAt ? steppedAt : agreed === undefined ? receivedAt + maxUnbackedMillis : Number.POSITIVE_INFINITY

/** The end of the wait in a reply's `Retry-After`. */
export const retryAtOf = ({ receivedAt, retryAfterMillis }: Report.Observation): number | undefined =>
  retryAfterMillis === null ? undefined : receivedAt + Math.min(retryAfterMillis, Report.maxWindowMillis)

/** The evidence that the reset of a reply is worth waiting for; undefined if there is none. */
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
 * The length of the window: the longest time from a reply to a believed reset. If several replies state the same reset, the first counts.
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
