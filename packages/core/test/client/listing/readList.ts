/**
 * Reads lists through the real `pages`, from a service in memory.
 */
import { Effect, Pull } from "effect"
import type { ListBounds, Listed } from "../../../src/client/listing/Listed.ts"
import { pages } from "../../../src/client/listing/Pages.ts"
import type { PageRange } from "../../../src/client/listing/PageRange.ts"
import { someNode } from "../../someNode.ts"

/** The ids on the page that a service returns for a range. */
type Service = (range: PageRange) => ReadonlyArray<number>

/** A service with these nodes and pages of at most `cap`, or of at most `capOf(perPage)` if that is less. */
export const capped =
  (ids: ReadonlyArray<number>, cap: number, capOf: (perPage: number) => number = () => cap): Service =>
  ({ page = 1, perPage }) => {
    const size = Math.min(cap, perPage, capOf(perPage))
    return ids.slice((page - 1) * size, page * size)
  }

export const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

/** Reads the whole list. */
export const readList = Effect.fnUntraced(function* (service: Service, bounds: ListBounds = {}) {
  const ids: Array<number> = []
  let listed: Listed | undefined
  const pull = yield* pages({
    readPage: (range) =>
      Effect.sync(() => ({
        records: service(range).map((id) => someNode(id)),
        isWhole: false,
        total: null
      })),
    onRecords: () => {},
    onEnd: (end) => Effect.sync(() => void (listed = end)),
    ...bounds
  })
  const take = Effect.map(pull, (nodes) => void ids.push(...nodes.map(({ id }) => id)))
  yield* Pull.catchDone(Effect.forever(take), () => Effect.void)
  return { ids, complete: listed!.complete, requests: listed!.requests }
}, Effect.scoped)
