/**
 * Rules of the service of 2026 about nodes: which nodes belong to a project and a location, and what a create has to state.
 * They call the operations of `nodes.ts`.
 */
import { Result } from "effect"
import type { CommitmentSetting } from "../lifecycle/CommitmentTerm.ts"
import { committedOption, type Plan } from "./catalogue.ts"
import type { NodeRecord } from "./NodeRecord.ts"
import { createNode, getNode, type NodeOrder } from "./nodes.ts"
import type { NodeUnknown } from "./Refusal.ts"
import { isAt, nameProblem, type NodeToday, type Place, uniqueName } from "./Today.ts"
import type { World } from "./World.ts"

/**
 * Caches the nodes of places by the version of the node table, so that a long list is not built again for each of its pages.
 */
const listed = new WeakMap<object, Map<string, ReadonlyArray<NodeRecord>>>()

/** The nodes of a place, by ascending id. */
export const nodesAt = (world: World, place: Place): ReadonlyArray<NodeRecord> => {
  const { version } = world.nodes
  const key = `${place.projectId} ${place.location}`
  const kept = listed.get(version) ?? new Map<string, ReadonlyArray<NodeRecord>>()
  listed.set(version, kept)
  const nodes = kept.get(key) ?? world.nodes.all().filter(({ today }) => isAt(place, today))
  kept.set(key, nodes)
  return nodes
}

/** A node of a place. A node in another place counts as unknown. */
export const getNodeAt = (world: World, place: Place, id: number): Result.Result<NodeRecord, NodeUnknown> =>
  Result.flatMap(getNode(world, id), (node) =>
    isAt(place, node.today) ? Result.succeed(node) : Result.fail({ _tag: "NodeUnknown", id } as const)
  )

/** An unchecked request for nodes. A field is undefined if the request does not contain it. */
export interface TodaysDraft {
  readonly name: string | undefined
  readonly plan: string | undefined
  /** A slug, an id, or the id as text. */
  readonly image: number | string | undefined
  readonly isSavedImage: boolean
  readonly templateId: number | undefined
  readonly backups: boolean
  /** 0 means none. */
  readonly skuId: number | undefined
  readonly setting: CommitmentSetting | undefined
  readonly diskGb: number | undefined
  readonly count: number
  readonly sshKeys: ReadonlyArray<string>
  readonly label: string | undefined
}

/** Why no nodes are made. */
export type TodaysRefusal =
  /** Answered with 412. */
  | { readonly _tag: "RuleBroken"; readonly reason: string }
  /** Answered with 400. */
  | { readonly _tag: "FieldMissing"; readonly reason: string }
  | { readonly _tag: "CreditTooLow" }

const broken = (reason: string) => Result.fail<TodaysRefusal>({ _tag: "RuleBroken", reason })

/** Makes all requested nodes, or none. If several rules are broken, the first is reported. */
export const createTodaysNodes = (
  world: World,
  place: Place,
  draft: TodaysDraft,
  now: number
): Result.Result<ReadonlyArray<NodeRecord>, TodaysRefusal> => {
  const names = namesOf(draft)
  for (const name of names) {
    const wrong = nameProblem(name)
    if (wrong !== undefined) return broken(wrong)
    if (world.settings.uniqueNames && world.holderOfName.has(uniqueName(name, place))) {
      return broken("Node with this name already exists in the project")
    }
  }
  return Result.flatMap(orderOf(world, place, draft), (order) =>
    Result.mapError(Result.all(names.map((name) => createNode(world, { ...order, name }, now))), (): TodaysRefusal => ({
      _tag: "RuleBroken",
      reason: "Node with this name already exists in the project"
    }))
  )
}

/** The names of the nodes that a create makes. If there are several, they get numbers. */
const namesOf = ({ count, name = "" }: TodaysDraft): ReadonlyArray<string> =>
  count === 1 ? [name] : Array.from({ length: count }, (_, index) => `${name}-${index + 1}`)

const orderOf = (
  world: World,
  place: Place,
  draft: TodaysDraft
): Result.Result<Omit<NodeOrder, "name">, TodaysRefusal> => {
  const plan = world.catalogue.planBySlug.get(draft.plan ?? "")
  // This also refuses a SKU such as C3.8GB, which nodes show as their plan: a create needs a slug.
  if (plan === undefined || plan.today?.location !== place.location) return broken("Plan does not exist")
  const imageId = draft.isSavedImage ? savedImageId(world, place, draft) : publicImageId(world, plan, draft.image)
  if (imageId === undefined) return broken("Image does not exist for this plan")
  if (plan.diskGb === 0 && draft.diskGb === undefined) {
    return Result.fail({ _tag: "FieldMissing", reason: "Disk is required for this plan" })
  }
  const skuId = draft.skuId === undefined || draft.skuId === 0 ? null : draft.skuId
  if (skuId !== null && committedOption(plan, skuId) === undefined) return broken("Committed plan does not exist")
  if (!plan.today.isAvailable) return broken("Plan is not available in this location")
  if (world.settings.today?.credit === "too-little") return Result.fail({ _tag: "CreditTooLow" })
  const today: NodeToday = {
    projectId: place.projectId,
    location: place.location,
    // If the plan has a disk, the plan decides the disk's size, even if the request states another one.
    diskGb: plan.diskGb === 0 ? (draft.diskGb ?? 0) : plan.diskGb,
    ...(draft.sshKeys.length === 0 ? {} : { sshKeys: draft.sshKeys }),
    ...(draft.label === undefined ? {} : { label: draft.label })
  }
  return Result.succeed({ plan, imageId, backups: draft.backups, skuId, setting: draft.setting, today })
}

/** The image of a create, if it is an image of the plan: a slug belongs to one system only. */
const publicImageId = (world: World, plan: Plan, wanted: number | string | undefined): number | undefined => {
  const image =
    world.catalogue.imageBySlug.get(String(wanted ?? "")) ?? world.catalogue.imageById.get(Number(wanted ?? Number.NaN))
  return world.catalogue.offers.some((offer) => offer.plan === plan && offer.image === image) ? image?.id : undefined
}

/**
 * A saved image is a disk, and starts on every plan of its place. If a create has a template id, that names the image;
 * `image` is then the system of the plan, because the provider's own CLI sends it like this.
 */
const savedImageId = (world: World, place: Place, { image: wanted, templateId }: TodaysDraft): number | undefined =>
  world.savedImages.find(
    (saved) =>
      isAt(place, saved.today) &&
      (templateId === undefined
        ? saved.slug === wanted || saved.name === wanted || String(saved.id) === String(wanted)
        : saved.templateId === templateId)
  )?.id
