/**
 * How often each kind of request is sent, derived from the latency that is promised for an account of its size. The arithmetic
 * is in decision 0136. Pure.
 */

/** Times between two requests of a kind, in milliseconds. */
export interface Intervals {
  /** From the begin of one sweep to the begin of the next. */
  readonly sweepMillis: number
  /** Between two pages of a sweep. */
  readonly pageMillis: number
  /** Between two reads of the end of the list; null where sweeps suffice. */
  readonly tailMillis: number | null
  /** Between two reads of one node in transition; null where sweeps suffice. */
  readonly transitionMillis: number | null
  /** Requests an hour that these intervals take, without the sweeps of one page that go beyond what is promised for all nodes. */
  readonly perHour: number
}

/** What the intervals depend on. */
export interface Load {
  readonly nodes: number
  /** Requests that a sweep takes. */
  readonly pages: number
  /** Nodes in transition that are worth requests of their own. */
  readonly transitions: number
  readonly requestsPerHour: number
  /** The shortest interval of requests that the share has room for at present, for ever. */
  readonly paceMillis: number
  /** The same with a reserve for reads of nodes in doubt. */
  readonly sparingPaceMillis: number
  /** The shortest interval at which what is left of the share lasts for a while. */
  readonly burstPaceMillis: number
  /** The interval of sweeps where it is set; null derives it. */
  readonly sweepMillis: number | null
  /** That of nodes in transition where it is set. */
  readonly transitionMillis: number | null
}

/** What is promised is a time between two samples, which the duration of a request adds to. */
const margin = 0.95

/** For new nodes the second does, too, to which the service's clock is known. */
const newMargin = 0.9

/** Promised for an account of one page: all nodes, and those in transition. */
const onePage = { allMillis: 10_000 * newMargin, transitionMillis: 5000 * margin }

/** Promised up to 3000 nodes, and above: new nodes, nodes in transition, and by the rate of pages all others. */
const manyPages = { tailMillis: 10_000 * newMargin, transitionMillis: 60_000 * margin, pagesPerHour: 150 }
const veryManyPages = { tailMillis: 15_000 * newMargin, transitionMillis: 120_000 * margin, pagesPerHour: 360 }
const maxMany = 3000

/** Every tenth sweep of one page takes a second request. */
const proofs = 1.1

/** Nodes in transition get at most this part of the requests. */
const maxTransitionShare = 0.45

const millisPerHour = 3_600_000

export const intervalsOf = (load: Load): Intervals => (load.pages <= 1 ? ofOnePage(load) : ofPages(load))

/**
 * What goes beyond the promise for all nodes is sent while that can be kept for ever, and reads of nodes in doubt besides. An interval that
 * is set is kept as long as the share has room for it.
 */
const ofOnePage = (load: Load): Intervals => {
  const { burstPaceMillis, paceMillis, sparingPaceMillis, sweepMillis, transitionMillis, transitions } = load
  const burst = proofs * burstPaceMillis
  const all = sweepMillis === null ? Math.max(onePage.allMillis, proofs * paceMillis) : Math.max(sweepMillis, burst)
  const fast = transitionMillis === null ? onePage.transitionMillis : Math.max(transitionMillis, burst)
  const hasRoom = transitionMillis !== null || proofs * sparingPaceMillis <= all
  const isFast = transitions > 0 && fast < all && hasRoom
  return {
    sweepMillis: isFast ? fast : all,
    pageMillis: 0,
    tailMillis: null,
    transitionMillis: null,
    perHour: (proofs * millisPerHour) / all
  }
}

const ofPages = (load: Load): Intervals => {
  const { nodes, pages, paceMillis, requestsPerHour, sweepMillis, transitions } = load
  const promised = nodes <= maxMany ? manyPages : veryManyPages
  const transitionMillis = Math.max(
    load.transitionMillis ?? promised.transitionMillis,
    (transitions * millisPerHour) / (maxTransitionShare * requestsPerHour)
  )
  const sweepWanted = sweepMillis ?? (pages * millisPerHour) / promised.pagesPerHour
  const perHour =
    millisPerHour / promised.tailMillis +
    (transitions * millisPerHour) / transitionMillis +
    (pages * millisPerHour) / sweepWanted
  // What the requests do not suffice for is stretched, all kinds alike.
  const stretch = Math.max(1, (perHour * paceMillis) / millisPerHour)
  return {
    sweepMillis: sweepWanted * stretch,
    pageMillis: (sweepWanted * stretch) / pages,
    tailMillis: promised.tailMillis * stretch,
    transitionMillis: transitionMillis * stretch,
    perHour: perHour / stretch
  }
}
