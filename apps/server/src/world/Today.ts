/**
 * The additional parts of a world that imitates the service of 2026 instead of the documented interface: switches, the places of its
 * nodes, and extra data of each node. `dialect/` writes the replies.
 */
import { Schema } from "effect"

/** The locations that the mock offers. The real service has more, but does not list them. */
export const locations = ["Delhi", "Chennai", "Mumbai", "Noida"] as const

export const catalogueSizes = ["short", "whole"] as const
export const catalogues = [...catalogueSizes, "documented"] as const
export const currencies = ["INR", "USD"] as const
export const credits = ["enough", "too-little"] as const
export const pagings = ["followed", "ignored", "cut", "not-found-after-the-end"] as const
export const orders = ["ascending", "descending"] as const

/** The switches of today's dialect, for behaviour that is unknown or that differs between accounts. */
export type Today = typeof Today.Type
export const Today = Schema.Struct({
  /**
   * `short` has 24 plans per location, `whole` about 2000; `documented` has the plans and images of the documented interface.
   */
  catalogue: Schema.Literals(catalogues),
  currency: Schema.Literals(currencies),
  credit: Schema.Literals(credits),
  /** Whether records of the list have `created_at`. */
  listDates: Schema.Boolean,
  /**
   * `ignored` shows all nodes on every page; `cut` shows the first 20 nodes on every page, without totals. `not-found-after-the-end` answers a
   * page after the end of the list with 404.
   */
  paging: Schema.Literals(pagings),
  order: Schema.Literals(orders),
  /** Whether a refused call gets the HTTP status 200 and shows its failure only in the body. */
  failuresWith200: Schema.Boolean
})

export const defaultToday: Today = {
  catalogue: "short",
  currency: "INR",
  credit: "enough",
  listDates: false,
  paging: "followed",
  order: "ascending",
  failuresWith200: false
}

const ProjectId = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))

const placeFields = { projectId: ProjectId, location: Schema.Literals(locations) }

/** A place: a project and a location. A list covers only one place, and a node can be found only in its own place. */
export type Place = typeof Place.Type
export const Place = Schema.Struct(placeFields)

/** The place of the scenario's nodes, and of nodes that the caller passes in without a place. */
export const defaultPlace: Place = { projectId: 1, location: "Delhi" }

export const isAt = (place: Place, thing: Place | undefined): boolean =>
  thing?.projectId === place.projectId && thing.location === place.location

/** The key under which a name must be unique. Within a project, names are unique; two projects may use the same name. */
export const uniqueName = (name: string, place: Pick<Place, "projectId"> | undefined): string =>
  place === undefined ? name : `${place.projectId}/${name}`

/** What is wrong with a name: it must have 3 to 50 letters, digits and hyphens. */
export const nameProblem = (name: string): string | undefined =>
  /^[A-Za-z0-9-]{3,50}$/.test(name) ? undefined : "A name has 3 to 50 letters, digits and hyphens."

const Text = Schema.String.check(Schema.isMaxLength(16_384))

/** Statuses that only a test can force. The service has them, but no request of the interface leads to them. */
export const otherStatuses = [
  "Powering",
  "Stopping",
  "Stopped",
  "Saving",
  "Reinstalling",
  "Failed",
  "Failed recreate",
  "Error",
  "Failure"
] as const
export type OtherStatus = (typeof otherStatuses)[number]

/** Extra data that a world keeps for a node. */
export type NodeToday = typeof NodeToday.Type
export const NodeToday = Schema.Struct({
  ...placeFields,
  /** Disk size from the plan, or from the create request if the plan has none. */
  diskGb: Schema.Int,
  /** The installed public keys. If a create sends the id of a key instead, no key is installed. */
  sshKeys: Schema.optionalKey(Schema.Array(Text)),
  label: Schema.optionalKey(Text),
  /** A status that the node shows instead of its own, until it terminates. */
  shows: Schema.optionalKey(Schema.Literals(otherStatuses))
})

/** Extra data that a world keeps for a saved image. */
export type SavedImageToday = typeof SavedImageToday.Type
export const SavedImageToday = Schema.Struct({ ...placeFields, savedAt: Schema.Finite })

/** Disk size in GB of an initial node whose plan has no disk. */
export const givenDiskGb = 100
