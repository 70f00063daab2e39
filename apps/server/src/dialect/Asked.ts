/**
 * A request that the dialect answers: one of a known caller for an operation there is, at a place there is.
 */
import type { Exchange } from "../http/Exchange.ts"
import type { Place, Today } from "../world/Today.ts"

export interface Asked {
  readonly exchange: Exchange
  readonly today: Today
  readonly place: Place
  readonly query: URLSearchParams
}
