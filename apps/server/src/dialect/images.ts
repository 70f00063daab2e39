/**
 * The catalogue and the saved images of today's dialect. The service ignores filters that it does not know, such as `version`.
 */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import type { Reply } from "../http/Exchange.ts"
import type { Catalogue, Offer } from "../world/catalogue.ts"
import { isAt } from "../world/Today.ts"
import { offersAt } from "../world/todaysCatalogue.ts"
import { nodesAt } from "../world/todaysNodes.ts"
import * as World from "../world/World.ts"
import type { Asked } from "./Asked.ts"
import { succeeded } from "./envelope.ts"
import { offerToday, savedToday } from "./records.ts"

const isSame = (wanted: string, actual: string | null): boolean => wanted.toLowerCase() === actual?.toLowerCase()

const filters: Readonly<Record<string, (offer: Offer, wanted: string) => boolean>> = {
  cpu: ({ plan }, wanted) => plan.vcpus === Number.parseFloat(wanted),
  ram: ({ plan }, wanted) => plan.memoryGb === Number.parseFloat(wanted),
  series: ({ plan }, wanted) => isSame(wanted, plan.series),
  os: ({ image }, wanted) => isSame(wanted, image.os),
  osversion: ({ image }, wanted) => isSame(wanted, image.version)
}

const filtersOf = (query: URLSearchParams) =>
  Object.entries(filters).flatMap(([name, keeps]) => {
    const wanted = query.get(name) ?? ""
    return wanted === "" ? [] : [(offer: Offer) => keeps(offer, wanted)]
  })

const isPrivate = (query: URLSearchParams): boolean => query.get("image_type")?.toLowerCase() === "private"

/**
 * Caches the latest body of each catalogue, because a whole catalogue takes megabytes. A cached body is valid while its
 * dates stay the same.
 */
const bodies = new WeakMap<Catalogue, { readonly key: string; readonly bytes: Uint8Array }>()

const utf8 = new TextEncoder()

const minuteMillis = 60_000

export const imagesReply = ({ exchange, place, query, today }: Asked): Effect.Effect<Reply> =>
  Effect.sync(() => {
    const { realMillis, world } = exchange
    const now = World.enter(world, realMillis())
    if (isPrivate(query)) return succeeded([])
    const asked = filtersOf(query)
    const offers = offersAt(world.catalogue, place.location)
    const data = (rows: ReadonlyArray<Offer>) => rows.map((row) => offerToday(row, now, today.currency))
    if (asked.length > 0) return succeeded(data(offers.filter((offer) => asked.every((keeps) => keeps(offer)))))
    const key = `${place.location} ${today.currency} ${Math.floor(now / minuteMillis)}`
    const kept = bodies.get(world.catalogue)
    const bytes =
      kept?.key === key
        ? kept.bytes
        : utf8.encode(JSON.stringify({ code: 200, data: data(offers), errors: {}, message: "Success" }))
    bodies.set(world.catalogue, { key, bytes })
    return HttpServerResponse.uint8Array(bytes, { contentType: "application/json" })
  })

/** The saved images of the place. */
export const savedImagesReply = ({ exchange: { realMillis, world }, place }: Asked): Effect.Effect<Reply> =>
  Effect.sync(() => {
    World.enter(world, realMillis())
    const nodes = new Map<number, number>()
    for (const { imageId } of nodesAt(world, place)) nodes.set(imageId, (nodes.get(imageId) ?? 0) + 1)
    const images = world.savedImages.filter(({ today }) => isAt(place, today))
    return succeeded(images.map((image) => savedToday(image, nodes.get(image.id) ?? 0)))
  })
