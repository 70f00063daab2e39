/**
 * What it takes to believe that a node is gone: the list may hide nodes, and a read may answer 404 for a node that exists. The daemon
 * reports a deletion by these rules, and `berth apply` creates a lost member again by them (decision 0133). Pure.
 */

/** How long after the answer of the first 404 the second has to be asked for. */
export const defaultGraceMillis = 60_000

/** The same for a node that was seen terminating, which is expected to go. */
export const terminatingGraceMillis = 5000

/** How long many missing nodes have to stay so, and both paths agree, before it counts for them. */
export const defaultHoldMillis = 600_000

/** So many complete lists in a row have to lack a node. */
export const minAbsentLists = 2

/** Fewer missing nodes than this are never many: each is proved gone by itself. */
const minMany = 3

/** Nor is a smaller share of all. */
const minManyShare = 0.05

/** Whether so many nodes are missing at once that the service is more likely at fault; `expected` is how many there should be. */
export const areManyMissing = (missing: number, expected: number): boolean =>
  (missing >= minMany && missing >= expected * minManyShare) || (missing >= 2 && missing === expected)

/** Whether a 404 confirms an earlier one: it was asked for at least the grace after that was answered. */
export const isConfirming = (firstAnsweredMillis: number, askedMillis: number, graceMillis: number): boolean =>
  askedMillis - firstAnsweredMillis >= graceMillis
