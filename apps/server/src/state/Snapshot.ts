/**
 * A world as a value: everything that decides its replies, as JSON. What is taken of one world can be put into another, in
 * another process too, and from then on the two give the same bytes. Its id and its account are no part of it. Instants are
 * milliseconds since the epoch, plans and images are named by slug.
 */
import type { FieldErrors } from "@berth/core/api/Envelope"
import { Result, Schema } from "effect"
import { armedFrom, ArmedSnapshot, takeArmed } from "../faults/ArmedSnapshot.ts"
import { Fault } from "../injection/catalogue.ts"
import * as Allowance from "../world/allowance.ts"
import type { NodeRecord } from "../world/NodeRecord.ts"
import { largestFleet } from "../world/scenario.ts"
import * as World from "../world/World.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Positive = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))
const NonNegative = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

const rule = {
  provisioningMillis: Count,
  provisioningJitterMillis: Count,
  terminationMillis: Count,
  terminationJitterMillis: Count,
  outcomes: Schema.NullOr(
    Schema.Struct({ runs: NonNegative, stuck: NonNegative, powersOff: NonNegative, vanishes: NonNegative })
  ),
  outcomeAfterMillis: Count,
  outcomeAfterJitterMillis: Count
}

const Settings = Schema.Struct({
  seed: Schema.Int,
  clock: Schema.Union([Schema.Literals(["real", "frozen"]), Schema.Struct({ times: NonNegative })]),
  lifecycle: Schema.Struct({
    ...rule,
    byName: Schema.Array(Schema.Struct({ pattern: Schema.String, rule: Schema.Struct(rule) }))
  }),
  allowance: Schema.Struct({
    limit: Positive,
    windowMillis: Positive,
    algorithm: Schema.Literals(Allowance.algorithms)
  }),
  auth: Schema.Literals(World.authModes),
  deleteStyle: Schema.Literals(World.deleteStyles),
  uniqueNames: Schema.Boolean,
  scenario: Schema.Union([
    Schema.Literals(["empty", "small"]),
    Schema.Struct({ fleet: Count.check(Schema.isLessThanOrEqualTo(largestFleet)) })
  ]),
  faults: Schema.Array(Fault)
})

const AllowanceState = Schema.Union([
  Schema.Struct({ algorithm: Schema.Literal("fixed-window"), endsAt: Schema.NullOr(Schema.Int), granted: Count }),
  Schema.Struct({ algorithm: Schema.Literal("sliding-window"), grants: Schema.Array(Schema.Int) }),
  Schema.Struct({ algorithm: Schema.Literal("token-bucket"), missing: Count, asOf: Schema.NullOr(Schema.Int) })
])

/** A node; what is left out is as it is for most nodes. */
export const NodeSnapshot = Schema.Struct({
  id: Positive,
  name: Schema.String,
  plan: Schema.String,
  imageId: Positive,
  createdAt: Schema.Int,
  deletedAt: Schema.optionalKey(Schema.Int),
  commitment: Schema.optionalKey(
    Schema.Struct({
      skuId: Schema.Int,
      days: Positive,
      startedAt: Schema.Int,
      setting: Schema.Literals(["auto_renew", "auto_terminate", "hourly_billing"]),
      nextSkuId: Schema.Int,
      nextDays: Positive
    })
  ),
  backups: Schema.optionalKey(Schema.Boolean),
  locked: Schema.optionalKey(Schema.Boolean),
  forced: Schema.optionalKey(Schema.Literals(["created", "running", "power-off"]))
})
export type NodeSnapshot = typeof NodeSnapshot.Type

const head = {
  format: Schema.Literal("berth-world/2"),
  settings: Settings,
  clock: Schema.Struct({ rate: NonNegative, anchorMillis: Schema.Int, anchorRealMillis: Schema.Int }),
  latest: Schema.Int,
  allowance: AllowanceState,
  savedImages: Schema.Array(
    Schema.Struct({
      id: Positive,
      slug: Schema.String,
      name: Schema.String,
      templateId: Positive,
      base: Schema.String,
      plan: Schema.String
    })
  ),
  /** The id the next node gets. */
  nextNodeId: Positive,
  /** The nodes that went last, the latest at the end: lies about the past tell of them. */
  gone: Schema.Array(NodeSnapshot),
  faults: Schema.Array(ArmedSnapshot)
}

/** All of a world but its nodes. */
export const SnapshotHead = Schema.Struct(head)
export type SnapshotHead = typeof SnapshotHead.Type

export const Snapshot = Schema.Struct({
  ...head,
  /** In ascending id. */
  nodes: Schema.Array(NodeSnapshot)
}).annotate({ identifier: "Snapshot" })
export type Snapshot = typeof Snapshot.Type

/** All of a world but its nodes, as it is now. */
export const takeHead = (world: World.World): SnapshotHead => {
  const { account: _, ...settings } = world.settings
  return {
    format: "berth-world/2",
    settings,
    // Of a clock that stands, the real time says nothing, and it would tell two runs of the same calls apart.
    clock: world.clock.rate === 0 ? { ...world.clock, anchorRealMillis: 0 } : world.clock,
    latest: world.latest,
    allowance: world.allowance.state(),
    savedImages: world.savedImages.map((saved) => ({ ...saved, base: saved.base.slug, plan: saved.plan.slug })),
    nextNodeId: world.nodes.nextId,
    gone: world.gone.map(takeNode),
    faults: world.faults.map(takeArmed)
  }
}

export const takeNode = (node: NodeRecord): NodeSnapshot => ({
  id: node.id,
  name: node.name,
  plan: node.plan.slug,
  imageId: node.imageId,
  createdAt: node.createdAt,
  ...(node.deletedAt === null ? {} : { deletedAt: node.deletedAt }),
  ...(node.commitment === null ? {} : { commitment: node.commitment }),
  ...(node.backups ? { backups: true } : {}),
  ...(node.locked ? { locked: true } : {}),
  ...(node.forced === undefined ? {} : { forced: node.forced })
})

export const take = (world: World.World): Snapshot => ({
  ...takeHead(world),
  nodes: Array.from(world.nodes.all(), takeNode)
})

/** How a world takes up the clock of a snapshot: from the instant it showed, or as if it had gone on all the while. */
export type Resume = "where-it-stood" | "as-if-never-stopped"

const notAWorld = (field: string, sentence: string): FieldErrors => ({ [field]: [sentence] })

/** The world of a head, without nodes; they follow one by one with `addNode`. */
export const readHead = (
  snapshot: SnapshotHead,
  account: World.Account,
  id: string,
  resume: Resume,
  realMillis: number
): Result.Result<World.World, FieldErrors> => {
  const world = World.make({ ...snapshot.settings, account }, realMillis, id)
  if (snapshot.allowance.algorithm !== snapshot.settings.allowance.algorithm) {
    return Result.fail(notAWorld("allowance", "This is the state of another algorithm than the settings name."))
  }
  if (snapshot.nextNodeId < world.nodes.nextId) {
    return Result.fail(notAWorld("nextNodeId", "A world of this seed begins with a larger id."))
  }
  for (const [index, saved] of snapshot.savedImages.entries()) {
    const { imageBySlug, planBySlug } = world.catalogue
    const [base, plan] = [imageBySlug.get(saved.base), planBySlug.get(saved.plan)]
    if (base === undefined || plan === undefined) {
      return Result.fail(notAWorld(`savedImages.${index}`, "There is no such image or plan in a world of this seed."))
    }
    world.savedImages.push({ ...saved, base, plan })
  }
  world.allowance = Allowance.make(snapshot.settings.allowance, snapshot.allowance)
  for (const [index, node] of snapshot.gone.entries()) {
    const record = recordOf(world, node)
    if (record === undefined) return Result.fail(notAWorld(`gone.${index}.plan`, noSuchPlan))
    world.gone.push(record)
  }
  world.faults = snapshot.faults.map(armedFrom)
  world.latest = snapshot.latest
  world.clock =
    resume === "as-if-never-stopped"
      ? snapshot.clock
      : { rate: snapshot.clock.rate, anchorMillis: snapshot.latest, anchorRealMillis: realMillis }
  return Result.succeed(world)
}

/** Adds a node of a snapshot; nodes come in ascending id. `before` is the id the next node of the world gets. */
export const addNode = (world: World.World, before: number, node: NodeSnapshot): FieldErrors | null => {
  const record = recordOf(world, node)
  if (record === undefined) return notAWorld("plan", noSuchPlan)
  if (node.id < world.nodes.nextId || node.id >= before) {
    return notAWorld("id", "Ids ascend, from the first of a world of this seed to below nextNodeId.")
  }
  world.nodes.skipTo(node.id)
  World.put(world, record)
  return null
}

const noSuchPlan = "There is no such plan in a world of this seed."

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
        ...(node.forced === undefined ? {} : { forced: node.forced })
      }
}

/** Puts a snapshot into a world, in the place of all it had; its id and its account stay. On failure nothing is changed. */
export const restore = (
  world: World.World,
  snapshot: Snapshot,
  realMillis: number
): Result.Result<void, FieldErrors> => {
  const read = readHead(snapshot, world.settings.account, world.id, "where-it-stood", realMillis)
  return Result.flatMap(read, (restored): Result.Result<void, FieldErrors> => {
    for (const [index, node] of snapshot.nodes.entries()) {
      const errors = addNode(restored, snapshot.nextNodeId, node)
      if (errors !== null) {
        return Result.fail(
          Object.fromEntries(Object.entries(errors).map(([field, sentences]) => [`nodes.${index}.${field}`, sentences]))
        )
      }
    }
    restored.nodes.skipTo(snapshot.nextNodeId)
    Object.assign(world, restored)
    return Result.void
  })
}
