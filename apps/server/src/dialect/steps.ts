/**
 * The dialect `today`: a world in this dialect replies as the provider's own clients and its OpenAPI of 2026 show the service. The
 * documented interface remains the mock's default and Berth's contract.
 *
 * This folder holds the whole wire format of the dialect. This module has its two steps of a request, which do nothing in a world of the
 * documented interface. The rules belong to the world (`world/Today.ts`, `todaysNodes.ts`, `todaysCatalogue.ts`), and `statements.ts`
 * says how certain each fact is. To drop the dialect, delete this folder, those files, and all code that no longer compiles.
 */
import { Effect } from "effect"
import { type Operation, operationOf } from "@berthkit/profile/operations"
import type { Reply, Step } from "../http/Exchange.ts"
import { pathOf } from "../http/fallback.ts"
import type { Asked } from "./Asked.ts"
import { commitmentReply } from "./commitments.ts"
import { createReply } from "./creation.ts"
import { asToday } from "./failures.ts"
import { imagesReply, savedImagesReply } from "./images.ts"
import { deleteReply, getReply, listReply } from "./nodes.ts"
import { placeOf } from "./place.ts"

const replies: { readonly [operation in Operation]: (asked: Asked) => Effect.Effect<Reply> } = {
  "nodes.create": createReply,
  "nodes.get": getReply,
  "nodes.list": listReply,
  "nodes.delete": deleteReply,
  "images.list": imagesReply,
  "images.saved": savedImagesReply,
  "commitments.set": commitmentReply
}

/**
 * Answers instead of the endpoints. Requests without good credentials, and requests that no operation serves, still go to
 * the endpoints.
 */
export const answersToday: Step = (next) => (exchange) => {
  const { identity, request, world } = exchange
  const { today } = world.settings
  if (today === undefined || identity._tag !== "Known") return next(exchange)
  const operation = operationOf(request.method, pathOf(request))
  if (operation === undefined || (identity.bySession && operation !== "commitments.set")) return next(exchange)
  const query = new URLSearchParams(request.url.split(/\?(.*)/s, 2)[1] ?? "")
  const place = placeOf(query)
  return "reply" in place
    ? Effect.succeed(place.reply)
    : replies[operation]({ exchange, today, place: place.place, query })
}

/** Rewrites failures of the steps and endpoints into today's form. */
export const failsToday: Step = (next) => (exchange) =>
  exchange.world.settings.today === undefined
    ? next(exchange)
    : Effect.mapEager(next(exchange), (reply) => (reply.status >= 400 ? asToday(reply) : reply))
