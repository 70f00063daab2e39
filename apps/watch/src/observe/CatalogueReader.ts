/**
 * Reads the images and plans of an account every half hour, and again after ten minutes while a change is in doubt. Each read takes one
 * request from the same share of the rate limit as the polling.
 */
import type { Images } from "@berthkit/core/client/Images"
import { Effect, Random, Result } from "effect"
import type { WatchedCatalogue } from "../account/WatchedCatalogue.ts"
import { offeredBy } from "../diff/catalogue/Catalogue.ts"
import { nextReadMillis } from "../diff/catalogue/diffCatalogue.ts"
import type { Snapshot } from "../diff/Snapshot.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"
import type { Poller } from "./Poller.ts"

export interface CatalogueReaderOptions extends Pick<Poller, "beside" | "ready"> {
  readonly images: Images["Service"]
  readonly watch: WatchedCatalogue
  /** The snapshot of the account's nodes. */
  readonly snapshot: Snapshot
}

const quietMillis = 30 * 60_000

/** Pause after a read that failed, or whose list belongs to another account. */
const againMillis = 5 * 60_000

/** A pause is shortened by up to this share at random, so that several daemons do not read at the same time. */
const maxEarlier = 0.1

/** Whether the nodes have shown that the current API key belongs to the known account. */
const isKnown = ({ evidence: { fingerprint }, standing }: Snapshot): boolean =>
  standing.baselineMillis !== null &&
  standing.stranger === null &&
  (fingerprint === null || standing.fingerprint === fingerprint)

/** Reads until interrupted, starting after the baseline of the nodes. Fails only if the store becomes unusable. */
export const readCatalogues = ({
  beside,
  images,
  ready,
  snapshot,
  watch
}: CatalogueReaderOptions): Effect.Effect<never, StoreFailed> =>
  Effect.gen(function* () {
    if (!isKnown(snapshot)) return againMillis
    let unreadable = 0
    const onEnd = (listed: { readonly unreadable: number }) => Effect.sync(() => void (unreadable = listed.unreadable))
    const { answer, exchange } = yield* beside(images.list({}, { lane: "sweep", retry: false, onEnd }))
    // If the record of an image cannot be read, ignore the whole list. Otherwise the image would be reported as removed, and
    // its plan with another price.
    if (Result.isFailure(answer) || unreadable > 0) return againMillis
    yield* watch.observe({ ...exchange, ...offeredBy(answer.success) })
    const pause = nextReadMillis(watch.known(), watch.evidence(), quietMillis)
    const isQuiet = pause === quietMillis
    return Math.ceil(isQuiet ? pause * (1 - maxEarlier * (yield* Random.next)) : pause)
    // Pause outside the generator. A pause inside it would keep the list of 200 kB in memory.
  }).pipe(Effect.flatMap(Effect.sleep), Effect.forever, (reading) => Effect.andThen(ready, reading))
