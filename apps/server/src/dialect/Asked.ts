/** A request that today's dialect answers. Its caller, its operation and its place are all known. */
import type { Exchange } from "../http/Exchange.ts"
import type { Place, Today } from "../world/Today.ts"

export interface Asked {
  readonly exchange: Exchange
  readonly today: Today
  readonly place: Place
  readonly query: URLSearchParams
}
