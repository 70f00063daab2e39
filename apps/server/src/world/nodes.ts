/**
 * Operations on the nodes of a world: create, get, list and delete (assumptions A4, A7, A11 and A14 in
 * docs/interface/assumptions.md). A create reports all invalid fields at once.
 */
import { Predicate, Result } from "effect"
import { choose, type CommitmentSetting, terminatesAt } from "../lifecycle/CommitmentTerm.ts"
import type { ForcedStatus } from "../lifecycle/NodeLife.ts"
import { committedOption, type Plan } from "./catalogue.ts"
import type { NodeRecord } from "./NodeRecord.ts"
import { type Invalid, invalid, type NameTaken, type NodeLocked, type NodeUnknown } from "./Refusal.ts"
import { type NodeToday, type OtherStatus, uniqueName } from "./Today.ts"
import { phase, put, type World } from "./World.ts"

/** An unchecked request for a node. A field is undefined if the request does not contain it or it could not be parsed. */
export interface NodeDraft {
  readonly name: string | undefined
  readonly region: string | undefined
  /** A slug. */
  readonly plan: string | undefined
  /** The id of an image, or its slug. */
  readonly image: number | string | undefined
  readonly isSavedImage: boolean | undefined
  readonly templateId: number | undefined
  readonly backups: boolean | undefined
  /** 0 means none. */
  readonly skuId: number | undefined
}

/** A checked request for a node. */
export interface NodeOrder {
  readonly name: string
  readonly plan: Plan
  readonly imageId: number
  readonly backups: boolean
  /** The id of the committed option with which the node starts; `null` for hourly billing. */
  readonly skuId: number | null
  /** What follows the commitment. Default: `hourly_billing`. Only the service of 2026 accepts this field in a create. */
  readonly setting?: CommitmentSetting | undefined
  readonly today?: NodeToday
}

/** The form of a plan: `<SERIES>-<n>VCPU-<n>RAM-<n>DISK[-<suffix>]` (interface.md §2.2). */
const planShape = /^[A-Z0-9]+-\d+VCPU-\d+RAM-\d+DISK(-[A-Za-z0-9-]+)?$/

const maxNameLength = 255

export const checkOrder = (world: World, draft: NodeDraft): Result.Result<NodeOrder, Invalid> => {
  const plan = draft.plan === undefined ? undefined : world.catalogue.planBySlug.get(draft.plan)
  const image = findImage(world, draft)
  const problems = problemsOf(draft, plan, image)
  if (draft.name === undefined || plan === undefined || image === undefined || Object.keys(problems).length > 0) {
    return Result.fail(invalid(problems))
  }
  return Result.succeed({
    name: draft.name,
    plan,
    imageId: image.id,
    backups: draft.backups ?? false,
    skuId: draft.skuId === undefined || draft.skuId === 0 ? null : draft.skuId
  })
}

interface KnownImage {
  readonly id: number
  readonly goesWith: (plan: Plan) => boolean
  /** Only a saved image has a template id. */
  readonly templateId: number | undefined
}

/**
 * The public or saved image that `image` names, by id or slug. If a public and a saved image have the same slug,
 * `isSavedImage` says which one is meant.
 */
const findImage = (world: World, { image: wanted, isSavedImage }: NodeDraft): KnownImage | undefined => {
  const saved = world.savedImages.find(({ id, slug }) => id === wanted || slug === wanted)
  const open = Predicate.isNumber(wanted)
    ? world.catalogue.imageById.get(wanted)
    : Predicate.isString(wanted)
      ? world.catalogue.imageBySlug.get(wanted)
      : undefined
  if (saved !== undefined && (open === undefined || isSavedImage === true)) {
    return { id: saved.id, goesWith: (plan) => plan === saved.plan, templateId: saved.templateId }
  }
  if (open === undefined) return undefined
  return {
    id: open.id,
    goesWith: (plan) => world.catalogue.offers.some((offer) => offer.image === open && offer.plan === plan),
    templateId: undefined
  }
}

const problemsOf = (draft: NodeDraft, plan: Plan | undefined, image: KnownImage | undefined) => {
  const problems: { -readonly [field in keyof NodeDraft]?: ReadonlyArray<string> } = {}
  if (draft.name === undefined) problems.name = ["A node needs a name."]
  else if (draft.name.trim() === "") problems.name = ["The name must not be blank."]
  else if (Array.from(draft.name).length > maxNameLength) {
    problems.name = [`The name must have at most ${maxNameLength} characters.`]
  }
  if (draft.region !== undefined && draft.region !== "ncr") problems.region = ["The only region is ncr."]
  if (draft.plan === undefined) problems.plan = ["A node needs a plan."]
  else if (plan === undefined) {
    problems.plan = [
      planShape.test(draft.plan)
        ? "There is no such plan: the image list shows all plans."
        : "A plan has the shape <SERIES>-<n>VCPU-<n>RAM-<n>DISK[-<suffix>]."
    ]
  }
  if (image === undefined) problems.image = ["There is no such image: see the image list."]
  else if (plan !== undefined && !image.goesWith(plan)) {
    problems.image = [`This image does not go with the plan ${plan.slug}.`]
  }
  if (draft.isSavedImage === true) {
    if (image !== undefined && image.templateId === undefined) {
      problems.image = ["The account has no such saved image."]
    }
    if (draft.templateId === undefined) problems.templateId = ["A saved image needs its template id."]
    else if (image?.templateId !== undefined && draft.templateId !== image.templateId) {
      problems.templateId = ["This is not the template id of the saved image."]
    }
  } else if (image?.templateId !== undefined) {
    problems.isSavedImage = ["The image is a saved image, so this field must be true."]
  }
  if (draft.skuId !== undefined && draft.skuId !== 0 && plan !== undefined) {
    if (committedOption(plan, draft.skuId) === undefined) {
      problems.skuId = [`This is no committed_sku_id of the plan ${plan.slug}.`]
    }
  }
  return problems
}

/** Makes a node. The node gets the next id; ids are never reused. */
export const createNode = (world: World, order: NodeOrder, now: number): Result.Result<NodeRecord, NameTaken> => {
  const holder = world.settings.uniqueNames ? world.holderOfName.get(uniqueName(order.name, order.today)) : undefined
  if (holder !== undefined) return Result.fail({ _tag: "NameTaken", name: order.name, holder })
  const node: NodeRecord = {
    id: world.nodes.nextId,
    name: order.name,
    plan: order.plan,
    imageId: order.imageId,
    createdAt: now,
    deletedAt: null,
    // If a create commits a node and states no setting, hourly billing follows when the commitment ends.
    commitment:
      order.skuId === null
        ? null
        : choose(null, order.setting ?? "hourly_billing", committedOption(order.plan, order.skuId) ?? null, now),
    backups: order.backups,
    locked: false,
    ...(order.today === undefined ? {} : { today: order.today })
  }
  put(world, node)
  return Result.succeed(node)
}

export const getNode = (world: World, id: number): Result.Result<NodeRecord, NodeUnknown> => {
  const node = world.nodes.get(id)
  return node === undefined ? Result.fail({ _tag: "NodeUnknown", id }) : Result.succeed(node)
}

/** One page of nodes by ascending id. A page past the end is empty. `pageNumber` and `pageSize` are at least 1. */
export const listNodes = (world: World, pageNumber: number, pageSize: number): ReadonlyArray<NodeRecord> =>
  world.nodes.slice((pageNumber - 1) * pageSize, pageSize)

/** Starts the termination of a node. If the node is already terminating, nothing changes, and the delete still succeeds. */
export const deleteNode = (
  world: World,
  id: number,
  now: number
): Result.Result<NodeRecord, NodeUnknown | NodeLocked> =>
  Result.flatMap(getNode(world, id), (node): Result.Result<NodeRecord, NodeLocked> => {
    if (node.locked) return Result.fail({ _tag: "NodeLocked", id })
    if (phase(world, node, now) === "terminate") return Result.succeed(node)
    const deleted = { ...node, deletedAt: now }
    put(world, deleted)
    return Result.succeed(deleted)
  })

/**
 * A change that the control plane forces on a node. An absent field changes nothing. With a status of `null`, the lifecycle decides again.
 */
export interface NodeForce {
  readonly status?: ForcedStatus | "terminate" | null
  readonly locked?: boolean
  /** A status that the lifecycle does not have, only in a world of today's dialect. */
  readonly shows?: OtherStatus | null
}

/**
 * Forces a status or a lock on a node. A forced status stays until the node terminates. `terminate` deletes the node. Any
 * other status brings a terminating node back.
 */
export const forceNode = (
  world: World,
  id: number,
  { locked, shows, status }: NodeForce,
  now: number
): Result.Result<NodeRecord, NodeUnknown | Invalid> =>
  Result.flatMap(getNode(world, id), (before): Result.Result<NodeRecord, Invalid> => {
    const node = shows === undefined ? before : showing(before, shows)
    if (node === undefined) return Result.fail(invalid({ shows: ["This needs the dialect today."] }))
    const { forced: _, ...free } = node
    const kept = { ...(status === undefined ? node : free), locked: locked ?? node.locked }
    const forced = status === undefined || status === null ? kept : withStatus(kept, status, now)
    put(world, forced)
    return Result.succeed(forced)
  })

/**
 * The node with a forced status of today's dialect, or (if `shows` is null) without one. Undefined if the node has no data
 * of that dialect.
 */
const showing = (node: NodeRecord, shows: OtherStatus | null): NodeRecord | undefined => {
  if (node.today === undefined) return undefined
  const { shows: _, ...today } = node.today
  return { ...node, today: shows === null ? today : { ...today, shows } }
}

const withStatus = (node: NodeRecord, status: ForcedStatus | "terminate", now: number): NodeRecord => {
  if (status === "terminate") return { ...node, deletedAt: node.deletedAt ?? now }
  const hasEnded = node.commitment !== null && terminatesAt(node.commitment) <= now
  return { ...node, forced: status, deletedAt: null, commitment: hasEnded ? null : node.commitment }
}
