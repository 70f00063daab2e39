/**
 * What a world has besides if it follows the service of 2026 instead of the documented interface: its switches, the places its nodes
 * are in, and what it keeps of a node. How replies are written is in `dialect/`.
 */
import { Schema } from "effect"

/** The locations there are. A list of Berth's choice: the service has more, and none says which. */
export const locations = ["Delhi", "Chennai", "Mumbai", "Noida"] as const

export const catalogueSizes = ["short", "whole"] as const
export const catalogues = [...catalogueSizes, "documented"] as const
export const currencies = ["INR", "USD"] as const
export const credits = ["enough", "too-little"] as const
export const pagings = ["followed", "ignored"] as const
export const orders = ["ascending", "descending"] as const

/** The switches of today's dialect, for what nobody knows or what accounts differ in. */
export type Today = typeof Today.Type
export const Today = Schema.Struct({
  /** `short` has 24 plans a location, `whole` about 2000; `documented` has the plans and images of the documented interface. */
  catalogue: Schema.Literals(catalogues),
  currency: Schema.Literals(currencies),
  credit: Schema.Literals(credits),
  /** Whether records of the list have `created_at`. */
  listDates: Schema.Boolean,
  /** `ignored` shows all nodes on every page. */
  paging: Schema.Literals(pagings),
  order: Schema.Literals(orders),
  /** Whether a refused call gets the HTTP status 200 and says its failure in the body alone. */
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

/** A project at a location. A list shows one of them, and a node is found in its own alone. */
export type Place = typeof Place.Type
export const Place = Schema.Struct(placeFields)

/** Where the nodes of a scenario are, and given nodes that name no place. */
export const defaultPlace: Place = { projectId: 1, location: "Delhi" }

export const isAt = (place: Place, thing: Place | undefined): boolean =>
  thing?.projectId === place.projectId && thing.location === place.location

/** A name as it is unique: a project has its own. */
export const uniqueName = (name: string, place: Pick<Place, "projectId"> | undefined): string =>
  place === undefined ? name : `${place.projectId}/${name}`

/** What is wrong with a name: there are 3 to 50 letters, digits and hyphens in it. */
export const nameProblem = (name: string): string | undefined =>
  /^[A-Za-z0-9-]{3,50}$/.test(name) ? undefined : "A name has 3 to 50 letters, digits and hyphens."

const Text = Schema.String.check(Schema.isMaxLength(16_384))

/** Statuses that the service has and no request of the interface leads to: a test forces them. */
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

/** What a world keeps of a node besides. */
export type NodeToday = typeof NodeToday.Type
export const NodeToday = Schema.Struct({
  ...placeFields,
  /** Of the plan, or as the create asked where its plan has none. */
  diskGb: Schema.Int,
  /** Public keys that are installed. An id that was sent installs none. */
  sshKeys: Schema.optionalKey(Schema.Array(Text)),
  label: Schema.optionalKey(Text),
  /** Shown in place of its status until it terminates. */
  shows: Schema.optionalKey(Schema.Literals(otherStatuses))
})

/** What a world keeps of a saved image besides. */
export type SavedImageToday = typeof SavedImageToday.Type
export const SavedImageToday = Schema.Struct({ ...placeFields, savedAt: Schema.Finite })

/** The disk of a node that is there from the start, if its plan shows none. */
export const givenDiskGb = 100
