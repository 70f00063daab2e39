/**
 * The life of a node (assumption A11 in docs/interface/assumptions.md). The node's status at an instant is a function of the
 * world's seed and lifecycle, the node's record and the instant. There are no timers and no state to synchronise, so a
 * million nodes cost only memory. Instants and durations are milliseconds.
 */
import { Schema } from "effect"
import { DurationMillis } from "./bounds.ts"
import { matches, maxNamePatternLength } from "./pattern.ts"
import { derive } from "./seed.ts"
import { type Commitment, termAt, terminatesAt } from "./CommitmentTerm.ts"

/** What happens to a node if no request interferes. */
type Outcome = "runs" | "stuck" | "powers-off" | "vanishes"

export const Weight = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))

/**
 * The weights of the outcomes: with `{ runs: 8, stuck: 2 }`, about two of ten nodes stay in `created`. At least one weight
 * is above 0.
 */
export type Outcomes = typeof Outcomes.Type
const Outcomes = Schema.Struct({
  runs: Weight,
  /** Stays in `created`. */
  stuck: Weight,
  /** Runs for a while, then shows `power-off`. */
  powersOff: Weight,
  /** Runs for a while, then disappears without a trace. */
  vanishes: Weight
})

const Samples = Schema.Array(DurationMillis).check(Schema.isMinLength(1), Schema.isMaxLength(1_000))

export type LifeRule = typeof LifeRule.Type
const LifeRule = Schema.Struct({
  /** Time from the create to `running`. Default: 2 s. */
  provisioningMillis: DurationMillis,
  /** Maximum additional time; seed and id decide how much of it. Default: 0. */
  provisioningJitterMillis: DurationMillis,
  /**
   * Observed durations in ascending order, which replace both fields above. A node takes one of them, or a value between two
   * neighbours.
   */
  provisioningSamples: Schema.optionalKey(Samples),
  terminationSamples: Schema.optionalKey(Samples),
  /** Time from the delete until the node is gone. Default: 2 s. */
  terminationMillis: DurationMillis,
  terminationJitterMillis: DurationMillis,
  /** Default: `null`, with which every node runs. */
  outcomes: Schema.NullOr(Outcomes),
  /** How long a node runs before it powers off or disappears, if one of these is its outcome. Default: one minute. */
  outcomeAfterMillis: DurationMillis,
  outcomeAfterJitterMillis: DurationMillis
})

/** Maximum number of rules for names, because every read of a node's status searches them. */
export const maxLives = 100

/** The rule of a world, and other rules for nodes whose names match a pattern. */
export type Lifecycle = typeof Lifecycle.Type
export const Lifecycle = Schema.Struct({
  ...LifeRule.fields,
  /** Rules for nodes by name. The first rule whose pattern matches wins. If none matches, the world's own rule applies. */
  byName: Schema.Array(
    Schema.Struct({ pattern: Schema.String.check(Schema.isMaxLength(maxNamePatternLength)), rule: LifeRule })
  ).check(Schema.isMaxLength(maxLives))
})

export const defaultLifecycle: Lifecycle = {
  provisioningMillis: 2_000,
  provisioningJitterMillis: 0,
  terminationMillis: 2_000,
  terminationJitterMillis: 0,
  outcomes: null,
  outcomeAfterMillis: 60_000,
  outcomeAfterJitterMillis: 0,
  byName: []
}

/** The rule for a node of this name. */
export const ruleFor = (lifecycle: Lifecycle, name: string): LifeRule => {
  if (lifecycle.byName.length === 0) return lifecycle
  return lifecycle.byName.find(({ pattern }) => matches(pattern, name))?.rule ?? lifecycle
}

/** The outcome at a position within the weights. `share` is from 0 (inclusive) to 1 (exclusive). */
const outcomeAmong = ({ powersOff, runs, stuck, vanishes }: Outcomes, share: number): Outcome => {
  let left = share * (runs + stuck + powersOff + vanishes)
  if ((left -= runs) < 0) return "runs"
  if ((left -= stuck) < 0) return "stuck"
  // Rounding may leave a small remainder, so check the weight of `vanishes`: an outcome without weight must never happen.
  return (left -= powersOff) < 0 || vanishes === 0 ? "powers-off" : "vanishes"
}

/** The statuses that a test can force on a node. A forced status stays until a test changes it or the node terminates. */
export const forcedStatuses = ["created", "running", "power-off"] as const
/** A status that can be forced on a node. */
export type ForcedStatus = (typeof forcedStatuses)[number]

/** The fields of a node on which its life depends. */
export interface LivingNode {
  readonly id: number
  /** Decides which rule of the lifecycle applies. */
  readonly name: string
  readonly createdAt: number
  /** When the service accepted a delete; `null` before. */
  readonly deletedAt: number | null
  readonly commitment: Commitment | null
  /** A forced status, which the node shows until it terminates. Most nodes have none. */
  readonly forced?: ForcedStatus
}

/**
 * The documented statuses (interface.md §3), and `gone`, in which a node can no longer be read and is no longer in the list.
 */
export type Phase = "created" | "running" | "power-off" | "terminate" | "gone"

const never = Number.POSITIVE_INFINITY

/** Labels of random numbers. Each use has its own, so that a change of one use does not affect another. */
const use = { provisioning: 61, termination: 62, outcome: 63, outcomeAfter: 64 } as const

/** How long a stage of this node lasts: `millis`, and up to `jitterMillis` more. */
const lasting = (seed: number, label: number, node: LivingNode, millis: number, jitterMillis: number): number =>
  jitterMillis === 0 ? millis : millis + (derive(seed, label, node.id) % (jitterMillis + 1))

/** How long a stage of this node lasts, distributed like the samples. */
const sampled = (seed: number, label: number, node: LivingNode, samples: ReadonlyArray<number>): number => {
  const at = (derive(seed, label, node.id) / 2 ** 32) * (samples.length - 1)
  const below = samples[Math.floor(at)]!
  const above = samples[Math.ceil(at)]!
  return Math.round(below + (above - below) * (at % 1))
}

const provisionedAt = (seed: number, rule: LifeRule, node: LivingNode): number =>
  node.createdAt +
  (rule.provisioningSamples === undefined
    ? lasting(seed, use.provisioning, node, rule.provisioningMillis, rule.provisioningJitterMillis)
    : sampled(seed, use.provisioning, node, rule.provisioningSamples))

const outcomeOf = (seed: number, rule: LifeRule, node: LivingNode): Outcome =>
  rule.outcomes === null ? "runs" : outcomeAmong(rule.outcomes, derive(seed, use.outcome, node.id) / 2 ** 32)

/** When a node powers off or disappears, if one of these is its outcome. */
const outcomeAt = (seed: number, rule: LifeRule, node: LivingNode): number =>
  provisionedAt(seed, rule, node) +
  lasting(seed, use.outcomeAfter, node, rule.outcomeAfterMillis, rule.outcomeAfterJitterMillis)

/** When the node starts to terminate: at its delete or at the end of its commitment, whichever comes first. */
const terminationBeginsAt = (node: LivingNode): number =>
  Math.min(node.deletedAt ?? never, node.commitment === null ? never : terminatesAt(node.commitment))

const vanishesAt = (seed: number, rule: LifeRule, node: LivingNode): number =>
  rule.outcomes !== null && node.forced === undefined && outcomeOf(seed, rule, node) === "vanishes"
    ? outcomeAt(seed, rule, node)
    : never

const goneUnder = (seed: number, rule: LifeRule, node: LivingNode): number => {
  const terminatedAt =
    terminationBeginsAt(node) +
    (rule.terminationSamples === undefined
      ? lasting(seed, use.termination, node, rule.terminationMillis, rule.terminationJitterMillis)
      : sampled(seed, use.termination, node, rule.terminationSamples))
  return Math.min(terminatedAt, vanishesAt(seed, rule, node))
}

/** When the node is gone; infinite if nothing ends it. */
export const goneAt = (seed: number, lifecycle: Lifecycle, node: LivingNode): number =>
  goneUnder(seed, ruleFor(lifecycle, node.name), node)

/** The node's status at `now`. The reply to the create shows `Create` instead (A11). */
export const phaseAt = (seed: number, lifecycle: Lifecycle, node: LivingNode, now: number): Phase => {
  const rule = ruleFor(lifecycle, node.name)
  if (now >= goneUnder(seed, rule, node)) return "gone"
  if (now >= terminationBeginsAt(node)) return "terminate"
  if (node.forced !== undefined) return node.forced
  if (now < provisionedAt(seed, rule, node)) return "created"
  if (rule.outcomes === null) return "running"
  const outcome = outcomeOf(seed, rule, node)
  if (outcome === "stuck") return "created"
  return outcome === "powers-off" && now >= outcomeAt(seed, rule, node) ? "power-off" : "running"
}

/** A change of a node that needs no request. */
export interface NodeChange {
  readonly kind: "provisioning-ends" | "powers-off" | "vanishes" | "commitment-ends" | "termination-ends"
  readonly at: number
}

/** The first change after `now`; `null` if only a request can change the node. */
export const nextChange = (seed: number, lifecycle: Lifecycle, node: LivingNode, now: number): NodeChange | null => {
  const rule = ruleFor(lifecycle, node.name)
  const vanishes = vanishesAt(seed, rule, node)
  const gone = goneUnder(seed, rule, node)
  let next: NodeChange = { kind: vanishes === gone ? "vanishes" : "termination-ends", at: gone }
  const consider = (kind: NodeChange["kind"], at: number) => {
    if (at > now && at < next.at) next = { kind, at }
  }
  if (now < terminationBeginsAt(node)) {
    if (node.commitment !== null) consider("commitment-ends", termAt(node.commitment, now)?.endsAt ?? never)
    if (node.forced === undefined) {
      const outcome = outcomeOf(seed, rule, node)
      if (outcome !== "stuck") consider("provisioning-ends", provisionedAt(seed, rule, node))
      if (outcome === "powers-off") consider("powers-off", outcomeAt(seed, rule, node))
    }
  }
  return next.at === never || next.at <= now ? null : next
}
