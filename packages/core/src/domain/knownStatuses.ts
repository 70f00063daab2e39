/**
 * The known statuses, without Effect, for programs that only compare statuses.
 */

/**
 * The statuses Berth knows, in the order a node passes through them (interface.md §3, A11): `creating` is what a
 * create reply shows; the others are the four documented ones.
 */
export const knownStatuses = ["creating", "created", "running", "power-off", "terminate"] as const
