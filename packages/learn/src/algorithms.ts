/**
 * The kinds of window that a rate limit may count with (assumptions A20 to A22 in docs/interface/assumptions.md), as profiles,
 * worlds and flags name them.
 */
export const algorithms = ["fixed-window", "sliding-window", "token-bucket"] as const
export type Algorithm = (typeof algorithms)[number]
