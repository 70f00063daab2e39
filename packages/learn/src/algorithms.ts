/** The kinds of window by which a rate limit may count (A20 to A22), as profiles, worlds and flags name them. */
export const algorithms = ["fixed-window", "sliding-window", "token-bucket"] as const
export type Algorithm = (typeof algorithms)[number]
