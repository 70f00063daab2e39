/**
 * How one attempt to deliver an event ended.
 */

/**
 * `unavailable`: the receiver could not be reached, was busy or failed; any event would have met the same. `refused`: it did not
 * accept this event. `gone`: it wants no more events.
 */
export type FailureKind = "unavailable" | "refused" | "gone"

export interface Failed {
  readonly _tag: "Failed"
  readonly kind: FailureKind
  /** In a few words, without secrets. */
  readonly reason: string
  /** For how long the receiver asked not to be called; null when it did not. */
  readonly retryAfterMillis: number | null
}

export type Outcome = { readonly _tag: "Delivered" } | Failed

export const delivered: Outcome = { _tag: "Delivered" }

export const failed = (kind: FailureKind, reason: string, retryAfterMillis: number | null = null): Failed => ({
  _tag: "Failed",
  kind,
  reason,
  retryAfterMillis
})
