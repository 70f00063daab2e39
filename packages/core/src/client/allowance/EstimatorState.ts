/**
 * The state of the allowance estimator. Instants are milliseconds on the client's monotonic clock.
 */
import type { Report } from "./AllowanceReport.ts"
import type { OwnProcesses } from "./AllowanceStore.ts"
import type { Bucket } from "./BucketDetector.ts"
import * as OtherClients from "./OtherClients.ts"
import type { ServiceClock } from "./ServiceClock.ts"

/** The state of an estimator: plain data, which its functions replace. */
export interface State {
  readonly clock: ServiceClock | undefined
  readonly report: Report | undefined
  /** Requests that were sent and not answered yet. */
  readonly underWay: number
  /** After a 429, the client sends nothing before this instant. */
  readonly pausedUntil: number
  /**
   * The evidence for this pause: its own instant if that is near, otherwise another statement that agrees with it (`backing` in
   * `Agreement.ts`). Undefined without such evidence.
   */
  readonly pauseAgreed: number | undefined
  /** The refill instant of an earlier reply, believed or not. Later statements are compared with it. */
  readonly claim: { readonly instant: number; readonly statedAt: number } | undefined
  /** When the wall clock last stepped. Replies to requests sent before that do not confirm the reset. */
  readonly steppedAt: number
  /** Whether no request was sent since the wall clock stepped. */
  readonly probing: boolean
  /** Consecutive replies of the service that did not report an allowance. */
  readonly silent: number
  /** Consecutive 429s without a stated wait. */
  readonly refusalsWithoutRetryAfter: number
  readonly bucket: Bucket | undefined
  /** Whether the last refill came all at once. */
  readonly refillsAtOnce: boolean
  /** Longest believed time to a reset, which is the length of a window. Undefined until seen. */
  readonly windowMillis: number | undefined
  /** Set while waiting requests are spread after a refill: the end, and when the next may go. */
  readonly spread: { readonly until: number; readonly next: number } | undefined
  /** The use by other clients, and the start of the current watch for them. */
  readonly otherClients: OtherClients.OtherClients
  readonly watch: OtherClients.Watch | undefined
  readonly ownProcesses: OwnProcesses
  /** Whether this process shares its knowledge, so that another one may start at any time and rely on it. */
  readonly isShared: boolean
  /** All requests sent, and all requests answered or given up. */
  readonly sent: number
  readonly ended: number
  /** Requests that the service counted without reporting the allowance. */
  readonly unreported: number
}

export const initial: State = {
  clock: undefined,
  report: undefined,
  underWay: 0,
  pausedUntil: 0,
  pauseAgreed: undefined,
  claim: undefined,
  steppedAt: Number.NEGATIVE_INFINITY,
  probing: false,
  silent: 0,
  refusalsWithoutRetryAfter: 0,
  bucket: undefined,
  refillsAtOnce: false,
  windowMillis: undefined,
  spread: undefined,
  ...OtherClients.unwatched,
  ownProcesses: { count: 0, before: 0 },
  isShared: false,
  sent: 0,
  ended: 0,
  unreported: 0
}
