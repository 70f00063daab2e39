/**
 * The image list of a world and its filters (interface.md §4 notes 4 and 5, A18).
 */
import { Result } from "effect"
import type { Plan, PublicImage } from "./catalogue.ts"
import { type Invalid, invalid } from "./Refusal.ts"
import type { World } from "./World.ts"

/** One row of the image list: a public or saved image on a plan that runs it. */
export interface ImageRow extends PublicImage {
  readonly plan: Plan
}

/** Filters of the list. An absent or empty filter filters nothing. Case-insensitive. */
export interface ImageQuery {
  readonly imageType?: string | undefined
  readonly vcpus?: number | undefined
  readonly memoryGb?: number | undefined
  readonly series?: string | undefined
  readonly os?: string | undefined
  readonly version?: string | undefined
}

/** Public images in catalogue order, then the saved ones. */
export const listImages = (world: World, query: ImageQuery): Result.Result<ReadonlyArray<ImageRow>, Invalid> =>
  Result.map(readImageType(query.imageType), (type) => {
    const rows = [...(type === "private" ? [] : publicRows(world)), ...(type === "public" ? [] : savedRows(world))]
    return rows.filter(
      ({ os, plan, version }) =>
        (query.vcpus === undefined || plan.vcpus === query.vcpus) &&
        (query.memoryGb === undefined || plan.memoryGb === query.memoryGb) &&
        sameText(query.series, plan.series) &&
        sameText(query.os, os) &&
        sameText(query.version, version)
    )
  })

/** The saved images of the account. */
export const listSavedImages = (
  world: World,
  imageType: string | undefined
): Result.Result<ReadonlyArray<ImageRow>, Invalid> =>
  Result.map(readImageType(imageType), (type) => (type === "public" ? [] : savedRows(world)))

const publicRows = (world: World): ReadonlyArray<ImageRow> =>
  world.catalogue.offers.map(({ image, plan }) => ({ ...image, plan }))

const savedRows = (world: World): ReadonlyArray<ImageRow> =>
  world.savedImages.map(({ base, id, name, plan, slug }) => ({
    id,
    slug,
    name,
    os: base.os,
    version: base.version,
    plan
  }))

const readImageType = (type: string | undefined): Result.Result<"public" | "private" | "any", Invalid> => {
  const lower = type?.toLowerCase() ?? ""
  if (lower === "") return Result.succeed("any")
  if (lower === "public" || lower === "private") return Result.succeed(lower)
  return Result.fail(invalid({ imageType: ["An image type is public or private."] }))
}

const sameText = (wanted: string | undefined, actual: string | null): boolean =>
  wanted === undefined || wanted === "" || wanted.toLowerCase() === actual?.toLowerCase()
