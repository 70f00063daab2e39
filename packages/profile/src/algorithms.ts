/**
 * The kinds of window that a rate limit may count with (assumptions A20 to A22 in docs/interface/assumptions.md), under the
 * names that profiles, worlds and flags use.
 */
export const algorithms = ["fixed-window", "sliding-window", "token-bucket"] as const
export type Algorithm = (typeof algorithms)[number]
