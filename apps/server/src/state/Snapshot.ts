/**
 * A world as a JSON value: everything that decides the world's replies, except its id and its account. If you restore a
 * snapshot into another world, even in another process, that world replies with the same bytes. Instants are milliseconds
 * since the epoch. Plans and images are named by slug.
 */
import type { FieldErrors } from "@berthkit/core/api/Envelope"
import { Result, Schema } from "effect"
import {
  type AnyFault,
  indexBeyondPatternCost,
  maxFaults,
  tooMuchToMatch,
  withCanonicalHeaders
} from "../faults/Fault.ts"
import { Fault } from "../injection/catalogue.ts"
import { Instant, Rate, WorldTime } from "../lifecycle/bounds.ts"
import { Commitment } from "../lifecycle/CommitmentTerm.ts"
import { forcedStatuses } from "../lifecycle/NodeLife.ts"
import * as Allowance from "../world/allowance.ts"
import type { Catalogue } from "../world/catalogue.ts"
import { nodeProblems } from "../world/givenNodes.ts"
import type { NodeRecord } from "../world/NodeRecord.ts"
import { maxSavedImages } from "../world/savedImages.ts"
import { NodeToday, SavedImageToday } from "../world/Today.ts"
import * as World from "../world/World.ts"
import { type Account, maxGivenId, maxTextLength, PlainSettings } from "../world/WorldSettings.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
/** A count of requests. Its maximum would take 30 000 years at a thousand requests a second. */
const Tally = Count.check(Schema.isLessThanOrEqualTo(1_000_000_000_000_000))
const Positive = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))

/**
 * A string that may be longer than the limit on names. A create counts the characters of a name as code points, each of
 * which may take two units of a string, and the slug of a saved image may be its name with an id appended.
 */
const LongText = Schema.String.check(Schema.isMaxLength(3 * maxTextLength))

/** A fault of any kind. */
const StoredFault: Schema.Codec<AnyFault> = Fault

/** An armed fault with its counts, so that the restored fault continues where it was. */
const StoredArmedFault = Schema.Struct({
  fault: StoredFault,
  instance: Count,
  seen: Tally,
  fired: Tally,
  fromMillis: Schema.optionalKey(Instant),
  untilMillis: Schema.optionalKey(Instant)
})

const Settings = Schema.Struct({
  ...PlainSettings.fields,
  faults: Schema.Array(StoredFault).check(
    Schema.isMaxLength(maxFaults),
    Schema.makeFilter((faults) => indexBeyondPatternCost(faults) < 0 || tooMuchToMatch)
  ),
  // Absent in the previous format.
  startAt: Schema.optionalKey(PlainSettings.fields.startAt),
  nodes: Schema.optionalKey(PlainSettings.fields.nodes)
})

/** A node; omitted fields have their default value. */
const NodeSnapshot = Schema.Struct({
  id: Positive,
  name: LongText,
  plan: LongText,
  imageId: Positive,
  createdAt: Instant,
  deletedAt: Schema.optionalKey(Instant),
  commitment: Schema.optionalKey(Commitment),
  backups: Schema.optionalKey(Schema.Boolean),
  locked: Schema.optionalKey(Schema.Boolean),
  forced: Schema.optionalKey(Schema.Literals(forcedStatuses)),
  today: Schema.optionalKey(NodeToday)
})
type NodeSnapshot = typeof NodeSnapshot.Type

const SavedImageSnapshot = Schema.Struct({
  id: Positive,
  slug: LongText,
  name: LongText,
  templateId: Positive,
  base: LongText,
  plan: LongText,
  today: Schema.optionalKey(SavedImageToday)
})

/** Maximum of the next node's id: twice the highest id that a caller may set. */
const maxNodeId = 2 * maxGivenId

/** The format of new snapshots. Snapshots in the previous format can still be read. */
const format = "berth-world/3"

export const Snapshot = Schema.Struct({
  format: Schema.Literals(["berth-world/2", format]),
  settings: Settings,
  clock: Schema.Struct({ rate: Rate, anchorMillis: WorldTime, anchorRealMillis: Instant }),
  latest: WorldTime,
  /** The current rate limit, if it differs from the rate limit in the settings. */
  rateLimit: Schema.optionalKey(Allowance.RateLimit),
  allowance: Allowance.AllowanceState,
  savedImages: Schema.Array(SavedImageSnapshot).check(
    Schema.isMaxLength(maxSavedImages, { message: `There are more than ${maxSavedImages}` })
  ),
  /** The id of the next node. */
  nextNodeId: Positive.check(Schema.isLessThanOrEqualTo(maxNodeId)),
  /** The most recently deleted nodes, the newest last. Faults that make the service return old data need these nodes. */
  gone: Schema.Array(NodeSnapshot).check(Schema.isMaxLength(World.maxGone)),
  faults: Schema.Array(StoredArmedFault).check(
    Schema.isMaxLength(maxFaults),
    Schema.makeFilter((armed) => indexBeyondPatternCost(armed.map(({ fault }) => fault)) < 0 || tooMuchToMatch)
  ),
  /** The nodes by ascending id. */
  nodes: Schema.Array(NodeSnapshot)
}).annotate({ identifier: "Snapshot" })
export type Snapshot = typeof Snapshot.Type

/** The current state of a world. */
export const takeSnapshot = (world: World.World): Snapshot => {
  const { account: _, catalogue: __, nodes, startAt, ...settings } = world.settings
  return {
    format,
    settings: { ...settings, startAt, nodes },
    // Leave the real time out if the clock is frozen, because it does not matter then and would make two runs of the same calls differ.
    clock: world.clock.rate === 0 ? { ...world.clock, anchorRealMillis: 0 } : world.clock,
    latest: world.latest,
    ...(world.allowance.rateLimit === settings.rateLimit ? {} : { rateLimit: world.allowance.rateLimit }),
    allowance: world.allowance.state(),
    savedImages: world.savedImages.map((saved) => ({ ...saved, base: saved.base.slug, plan: saved.plan.slug })),
    nextNodeId: world.nodes.nextId,
    gone: world.gone.map(takeNode),
    faults: world.faults.map((armed) => ({ ...armed })),
    nodes: Array.from(world.nodes.all(), takeNode)
  }
}

const takeNode = (node: NodeRecord): NodeSnapshot => ({
  id: node.id,
  name: node.name,
  plan: node.plan.slug,
  imageId: node.imageId,
  createdAt: node.createdAt,
  ...(node.deletedAt === null ? {} : { deletedAt: node.deletedAt }),
  ...(node.commitment === null ? {} : { commitment: node.commitment }),
  ...(node.backups ? { backups: true } : {}),
  ...(node.locked ? { locked: true } : {}),
  ...(node.forced === undefined ? {} : { forced: node.forced }),
  ...(node.today === undefined ? {} : { today: node.today })
})

/** Whether the clock of a restored world continues from the instant in the snapshot, or as if it had never stopped. */
export type Resume = "where-it-stood" | "as-if-never-stopped"

const problem = (field: string, sentence: string): FieldErrors => ({ [field]: [sentence] })

/** Makes the world of a snapshot, or fails with the invalid field. */
export const restore = (
  snapshot: Snapshot,
  account: Account,
  id: string,
  resume: Resume,
  realMillis: number,
  catalogue?: Catalogue
): Result.Result<World.World, FieldErrors> => {
  const { nodes = [], startAt = null, ...rest } = snapshot.settings
  const settings = { ...rest, startAt, nodes, account, catalogue }
  const [given] = Object.entries(nodeProblems(settings))
  if (given !== undefined) return Result.fail(problem(`settings.${given[0]}`, given[1][0]!))
  const world = World.make(settings, realMillis, id)
  const rateLimit = snapshot.rateLimit ?? settings.rateLimit
  if (snapshot.allowance.algorithm !== rateLimit.algorithm) {
    return Result.fail(problem("allowance", "The state does not match the algorithm of the rate limit."))
  }
  const overspent = overspending(snapshot.allowance, rateLimit)
  if (overspent !== undefined)
    return Result.fail(problem(`allowance.${overspent}`, "More requests are spent than the rate limit allows."))
  if (snapshot.nextNodeId < world.nodes.nextId) {
    return Result.fail(problem("nextNodeId", "The first id of a world with this seed is larger."))
  }
  for (const [index, saved] of snapshot.savedImages.entries()) {
    const { imageBySlug, planBySlug } = world.catalogue
    const [base, plan] = [imageBySlug.get(saved.base), planBySlug.get(saved.plan)]
    if (base === undefined || plan === undefined) {
      return Result.fail(problem(`savedImages.${index}`, "A world with this seed has no such image or plan."))
    }
    world.savedImages.push({ ...saved, base, plan })
  }
  world.allowance = Allowance.make(rateLimit, snapshot.allowance)
  for (const [index, node] of snapshot.gone.entries()) {
    const record = recordOf(world, node)
    if (record === undefined) return Result.fail(problem(`gone.${index}.plan`, noSuchPlan))
    world.gone.push(record)
  }
  for (const [index, node] of snapshot.nodes.entries()) {
    const record = recordOf(world, node)
    if (record === undefined) return Result.fail(problem(`nodes.${index}.plan`, noSuchPlan))
    if (node.id < world.nodes.nextId || node.id >= snapshot.nextNodeId) {
      const sentence = "Node ids must ascend, start at the first id of this seed or later, and stay below nextNodeId."
      return Result.fail(problem(`nodes.${index}.id`, sentence))
    }
    world.nodes.skipTo(node.id)
    World.put(world, record)
  }
  world.nodes.skipTo(snapshot.nextNodeId)
  world.faults = snapshot.faults.map((armed) => ({ ...armed, fault: withCanonicalHeaders(armed.fault) }))
  world.latest = snapshot.latest
  world.clock =
    resume === "as-if-never-stopped"
      ? snapshot.clock
      : { rate: snapshot.clock.rate, anchorMillis: snapshot.latest, anchorRealMillis: realMillis }
  return Result.succeed(world)
}

/** The field that states more spent requests than the rate limit allows; undefined if there is none. */
const overspending = (state: Allowance.AllowanceState, { limit, windowMillis }: Allowance.RateLimit) => {
  switch (state.algorithm) {
    case "fixed-window":
      return state.granted > limit ? "granted" : undefined
    case "sliding-window":
      return state.grants.length > limit ? "grants" : undefined
    case "token-bucket":
      return state.missing > limit * windowMillis ? "missing" : undefined
  }
}

const noSuchPlan = "A world with this seed has no such plan."

const recordOf = (world: World.World, node: NodeSnapshot): NodeRecord | undefined => {
  const plan = world.catalogue.planBySlug.get(node.plan)
  return plan === undefined
    ? undefined
    : {
        id: node.id,
        name: node.name,
        plan,
        imageId: node.imageId,
        createdAt: node.createdAt,
        deletedAt: node.deletedAt ?? null,
        commitment: node.commitment ?? null,
        backups: node.backups ?? false,
        locked: node.locked ?? false,
        ...(node.forced === undefined ? {} : { forced: node.forced }),
        ...(node.today === undefined ? {} : { today: node.today })
      }
}
