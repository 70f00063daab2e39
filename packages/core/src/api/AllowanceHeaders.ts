/**
 * The headers by which the service tells what is left of the allowance (interface.md §8, decision 20).
 */

/** Requests granted per window. */
export const limitHeader = "ratelimit-limit"

/** Requests left. */
export const remainingHeader = "ratelimit-remaining"

/** When the allowance refills, in seconds since the epoch. */
export const resetHeader = "ratelimit-reset"

/** The same three, described for OpenAPI. */
export const described = {
  [limitHeader]: "Request allowance (documented: interface.md §8)",
  [remainingHeader]: "Requests left (documented: interface.md §8)",
  [resetHeader]: "When the allowance refills, in seconds since the epoch (documented: interface.md §8)"
} as const
