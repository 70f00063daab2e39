/**
 * Records the projects and locations in which this machine has created nodes. A new API key takes over the idempotency
 * keys of all these places, and the account folders do not show them, because their names are hashes.
 */
import type { IntentPlace } from "@berthkit/core/client/creation/IntentPlace"
import { makeOwnFolder, readText, replaceDurably, withFiles } from "@berthkit/core/client/files/StateFiles"
import { Effect, Option, Schema } from "effect"

const Place = Schema.Struct({ project: Schema.Int, location: Schema.String })
export type Place = typeof Place.Type

const fileOf = (accounts: string, id: string) => `${accounts}/${id}/place.json`

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Place))

const placeIn = (accounts: string, id: string) =>
  Effect.map(readText(fileOf(accounts, id)), (text) => Option.flatMap(text, decode))

/** Records the place of an account before its first create. A client without a place records nothing. */
export const notePlace = Effect.fnUntraced(function* (
  { accounts, id }: IntentPlace,
  { location, project }: { readonly [Name in keyof Place]?: Place[Name] | undefined }
) {
  if (project === undefined || location === undefined || Option.isSome(yield* placeIn(accounts, id))) return
  yield* makeOwnFolder(`${accounts}/${id}`, 2)
  yield* replaceDurably(fileOf(accounts, id), `${JSON.stringify({ project, location })}\n`)
})

/** All recorded places without duplicates, and the unreadable files. */
export const notedPlaces = Effect.fnUntraced(function* (accounts: string) {
  const ids = (yield* withFiles((fs) => fs.readdir(accounts))).filter((name) => /^[0-9a-f]{32}$/.test(name))
  const places = new Map<string, Place>()
  const unreadable: Array<string> = []
  for (const id of ids) {
    const text = yield* Effect.orElseSucceed(readText(fileOf(accounts, id)), () => Option.some(""))
    if (Option.isNone(text)) continue
    const place = decode(text.value)
    if (Option.isNone(place)) unreadable.push(fileOf(accounts, id))
    else places.set(JSON.stringify(place.value), place.value)
  }
  return { places: Array.from(places.values()), unreadable }
})
