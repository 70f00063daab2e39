/**
 * Everything the estimator of the allowance knows. Instants are milliseconds on the client's monotonic clock.
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
  /** Requests sent and not yet answered. */
  readonly underWay: number
  /** Nothing is sent before this instant, because of a 429. */
  readonly pausedUntil: number
  /** The same instant from a second statement; undefined while there is none. */
  readonly pauseAgreed: number | undefined
  /** The instant that an earlier reply gave for the refill, believed or not, to compare later ones with. */
  readonly claim: { readonly instant: number; readonly statedAt: number } | undefined
  /** When the wall clock stepped last: replies to earlier requests do not confirm the reset. */
  readonly steppedAt: number
  /** Whether no request has gone since. */
  readonly probing: boolean
  /** Replies of the service in a row that did not report an allowance. */
  readonly silent: number
  /** 429s in a row that did not state how long to wait. */
  readonly refusalsWithoutRetryAfter: number
  readonly bucket: Bucket | undefined
  /** Whether the last refill came all at once. */
  readonly refillsAtOnce: boolean
  /** Longest believed time to a reset: the length of the window, if it has one. Undefined until seen. */
  readonly windowMillis: number | undefined
  /** While waiting requests are spread after a refill: until when, and when the next may go. */
  readonly spread: { readonly until: number; readonly next: number } | undefined
  /** What other clients use, and where the current watch for them began. */
  readonly otherClients: OtherClients.OtherClients
  readonly watch: OtherClients.Watch | undefined
  readonly ownProcesses: OwnProcesses
  /** Whether this process shares what it knows: then another one may begin at any time, and go by it. */
  readonly isShared: boolean
  /** Requests sent, and requests answered or given up, altogether. */
  readonly sent: number
  readonly ended: number
  /** Requests that the service counted and whose reply did not report the allowance. */
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
