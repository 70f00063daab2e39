/**
 * What own processes share of the allowance, taken over into the state of the estimator. Pure; `OwnProcesses.ts` reads and
 * writes it.
 */
import * as Report from "./AllowanceReport.ts"
import type { OwnProcesses } from "./AllowanceStore.ts"
import { agreementMillis, askBy, backing, maxUnbackedMillis, windowSeen } from "./Agreement.ts"
import type { State } from "./EstimatorState.ts"
import type { ServiceClock } from "./ServiceClock.ts"

/** What own processes share: how many they are, until when nothing may be sent, and their newest report. */
export interface SharedKnowledge {
  readonly ownProcesses: OwnProcesses
  readonly pausedUntil?: number
  readonly pauseAgreed?: number | undefined
  readonly writtenAt?: number
  /** Whether the wall clock has stepped since it was written. */
  readonly stepped?: boolean | undefined
  readonly clock?: ServiceClock | undefined
  readonly report?: Report.SharedReport | undefined
}

/** A report of ours that comes back through the store differs by no more than this. */
const echoMillis = 50

/** Takes over what own processes share. Their report counts when its request went after the reply to ours came. */
export const takeOver = (state: State, theirs: SharedKnowledge, instant: number): State => {
  const { clock, pauseAgreed, pausedUntil = 0, ownProcesses, stepped, report, writtenAt = instant } = theirs
  const statements = [state.claim?.instant, state.report?.resetAround]
  const agreed = backing(state, pausedUntil, instant, pauseAgreed, ...statements)
  const until = agreed === undefined ? Math.min(pausedUntil, writtenAt + maxUnbackedMillis) : pausedUntil
  const isNewer =
    report !== undefined &&
    report.receivedAt <= instant &&
    (state.report === undefined ? state.underWay === 0 : report.sentAt >= state.report.receivedAt)
  const ours = report === undefined || isNewer ? state : { ...state, ...crossed(state, report) }
  return {
    ...state,
    ownProcesses,
    ...(until > state.pausedUntil && { pausedUntil: until, pauseAgreed: agreed }),
    probing: state.probing && !(isNewer && report.sentAt >= state.steppedAt),
    clock: state.clock ?? clock,
    ...(isNewer
      ? { report: asOurs(state, report, statements, stepped === true ? instant : undefined) }
      : { report: ours.report, ...(report && confirmed(ours, report)) })
  }
}

/**
 * Replies that crossed each other: within one period the smallest number is the truth. A reply that came before our request went is
 * older: our own comes back through the store like this, and a refusal that has passed since left nothing in it. What is left and
 * until when go together: after a refusal that is until it may be asked again.
 */
const crossed = ({ report }: State, theirs: Report.SharedReport): Partial<State> | undefined =>
  report !== undefined &&
  theirs.receivedAt > report.sentAt - echoMillis &&
  theirs.resetSeconds === report.resetSeconds &&
  theirs.remaining < report.remaining
    ? { report: { ...report, remaining: theirs.remaining, resetBy: Math.min(report.resetBy, theirs.resetBy) } }
    : undefined

/** Their report as the second statement that ours needs, unless it is ours, come back. */
const confirmed = (state: State, theirs: Report.SharedReport): Partial<State> | undefined => {
  const { report } = state
  const apartMillis = Report.isRelative(theirs.resetSeconds) ? agreementMillis : echoMillis
  return report !== undefined &&
    report.agreed === undefined &&
    Math.abs(report.resetAround - theirs.resetAround) <= agreementMillis &&
    Math.abs(report.receivedAt - theirs.receivedAt) > apartMillis
    ? {
        report: { ...report, agreed: theirs.resetAround, askBy: askBy(state, report, theirs.resetAround) },
        windowMillis: windowSeen(state, theirs)
      }
    : undefined
}

/** Their report as one of ours. `asked` is when to ask about its reset, where that is given. */
const asOurs = (
  state: State,
  report: Report.SharedReport,
  statements: ReadonlyArray<number | undefined>,
  asked: number | undefined
): Report.Report => {
  const { receivedAt, resetAround, resetBy } = report
  // A refusal that moved the reset is a statement of its own.
  const agreed =
    resetBy - resetAround > maxUnbackedMillis
      ? undefined
      : backing(state, resetAround, receivedAt, report.agreed, ...statements)
  return {
    ...report,
    agreed,
    askBy: asked ?? askBy(state, report, agreed),
    endedBefore: state.ended,
    sentBy: state.sent,
    unreportedBy: state.unreported
  }
}
