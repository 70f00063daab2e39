/**
 * The share of the allowance that the daemon keeps to. The length of the allowance's window is not known (decision 22), so the
 * requests of any hour have to fit: a burst, and what refills during the hour. Pure; `Pace.ts` does the waiting. The client's
 * scheduler keeps within the allowance that is really left; this share leaves the rest of it to other clients.
 */

/** What one kind of request may take. */
export interface RequestShare {
  /** Maximum number of requests that can be saved up. */
  readonly burst: number
  readonly perHour: number
}

/** 60 % of an allowance of 1200 (interface.md §8), even if that is for an hour. */
export const defaultRequestsPerHour = 720

/** A quarter of an hour's requests is there at once, the rest refills: together never more than the whole. */
const burstFraction = 1 / 4

const shareOf = (requestsPerHour: number): RequestShare => ({
  burst: Math.max(1, Math.floor(requestsPerHour * burstFraction)),
  perHour: requestsPerHour - Math.floor(requestsPerHour * burstFraction)
})

/** Sweeps and polls have their own shares: many nodes in transition may not keep the sweeps from finding new ones. */
export const requestShares = (requestsPerHour: number): Readonly<Record<"sweeps" | "polls", RequestShare>> => ({
  sweeps: shareOf((requestsPerHour * 2) / 3),
  polls: shareOf(requestsPerHour / 3)
})

/** The requests that were left at a moment. */
export interface TokenBucket {
  readonly tokens: number
  readonly monotonicMillis: number
}

export const fullBucket = ({ burst }: RequestShare, monotonicMillis: number): TokenBucket => ({
  tokens: burst,
  monotonicMillis
})

const millisPerHour = 3_600_000

/** Takes one request out of the bucket, or gives the time until there is one. */
export const take = (
  bucket: TokenBucket,
  share: RequestShare,
  monotonicMillis: number
): { readonly bucket: TokenBucket; readonly waitMillis: number } => {
  const refilled = ((monotonicMillis - bucket.monotonicMillis) * share.perHour) / millisPerHour
  const tokens = Math.min(share.burst, bucket.tokens + refilled)
  return tokens >= 1
    ? { bucket: { tokens: tokens - 1, monotonicMillis }, waitMillis: 0 }
    : { bucket: { tokens, monotonicMillis }, waitMillis: Math.ceil(((1 - tokens) * millisPerHour) / share.perHour) }
}
