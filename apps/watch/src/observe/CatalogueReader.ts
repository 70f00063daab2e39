/**
 * When the images and plans of an account are read: every half an hour, and again ten minutes later while a change is in doubt. One
 * request each time, beside the polling and from the same share.
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
  /** Of the nodes of the account. */
  readonly snapshot: Snapshot
}

const quietMillis = 30 * 60_000

/** Before another read where one failed, or would have shown another account. */
const againMillis = 5 * 60_000

/** Chance takes off up to this part of a pause, so that several daemons do not read at the same time. */
const maxEarlier = 0.1

/** Whether the list is that of the account that is known. */
const isKnown = ({ evidence: { fingerprint }, standing }: Snapshot): boolean =>
  standing.baselineMillis !== null &&
  standing.stranger === null &&
  (fingerprint === null || standing.fingerprint === fingerprint)

/** Reads for ever, from the baseline of the nodes on. Fails only where the store cannot be used any more. */
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
    // An image whose record cannot be read is there: the rest would show it as removed, and its plan at another price.
    if (Result.isFailure(answer) || unreadable > 0) return againMillis
    yield* watch.observe({ ...exchange, ...offeredBy(answer.success) })
    const pause = nextReadMillis(watch.known(), watch.evidence(), quietMillis)
    const isQuiet = pause === quietMillis
    return Math.ceil(isQuiet ? pause * (1 - maxEarlier * (yield* Random.next)) : pause)
    // The pause begins outside, where nothing holds the list that was read: it takes 200 kB, and most of the time is pauses.
  }).pipe(Effect.flatMap(Effect.sleep), Effect.forever, (reading) => Effect.andThen(ready, reading))
