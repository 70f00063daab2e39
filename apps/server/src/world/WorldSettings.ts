/**
 * The settings of a world. Every field has a value, and durations are in milliseconds. `WorldOptions.ts` has the form that
 * settings have in requests and flags.
 */
import { Redacted, Schema } from "effect"
import type { AnyFault } from "../faults/Fault.ts"
import { Instant, Rate, StartTime } from "../lifecycle/bounds.ts"
import { defaultLifecycle, forcedStatuses, Lifecycle } from "../lifecycle/NodeLife.ts"
import { RateLimit } from "./allowance.ts"
import type { Catalogue } from "./catalogue.ts"
import { Place, Today } from "./Today.ts"

/** The credentials of a world's account. */
export interface Account {
  readonly apiKey: Redacted.Redacted
  readonly accessToken: Redacted.Redacted
}

/**
 * The credentials that a request needs: with `strict` the key and the token, with `key-only` the key, with `off` none (assumption A6 in
 * docs/interface/assumptions.md).
 */
export const authModes = ["strict", "key-only", "off"] as const

/** How the service answers a delete: `documented` with 204 and no body, `enveloped` with 200 and the envelope (A12). */
export const deleteStyles = ["documented", "enveloped"] as const

/** What a world imitates: `documented` the documented interface, `today` the service as its clients of 2026 see it. */
export const dialects = ["documented", "today"] as const

/** The content of a new world: nothing, a few nodes and saved images, or a number of running nodes. */
export type Scenario = WorldSettings["scenario"]

export const maxFleetNodes = 5_000_000

/** Maximum of an id that a test gives. It is limited because nodes are found by their offset from the first id. */
export const maxGivenId = 10_000_000

export const maxGivenNodes = 1_000

/** Maximum characters of a name, of a slug and of a pattern of names. */
export const maxTextLength = 255

const Text = Schema.String.check(Schema.isMaxLength(maxTextLength))

/** An annotation with the description of a field. */
export const described = (description: string) => ({ description })

/** A node that a world starts with. Every field except the name has a default. */
export type GivenNode = typeof GivenNode.Type
export const GivenNode = Schema.Struct({
  name: Text,
  plan: Schema.optionalKey(Text).annotate(described("A slug; default the first plan that runs the image")),
  image: Schema.optionalKey(Schema.Union([Text, Schema.Int])).annotate(
    described("Slug or id of a public image; default Ubuntu-24.04, or the first one that runs on the plan")
  ),
  // `created` starts provisioning, `terminate` starts terminating.
  status: Schema.optionalKey(Schema.Literals([...forcedStatuses, "terminate"])).annotate(
    described("Its status at the start; default running, unless its rules say otherwise")
  ),
  id: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxGivenId }))).annotate(
    described("Default: the next free one")
  ),
  /** Milliseconds since the epoch. Default: just long enough before the world's start for the node's status. */
  createdAt: Schema.optionalKey(Instant),
  locked: Schema.optionalKey(Schema.Boolean).annotate(described("Default false")),
  backups: Schema.optionalKey(Schema.Boolean).annotate(described("Default false")),
  project: Schema.optionalKey(Place.fields.projectId).annotate(
    described('Only with dialect "today": the id of its project; default 1')
  ),
  location: Schema.optionalKey(Place.fields.location).annotate(
    described('Only with dialect "today": where it is; default Delhi')
  )
})

/** The settings that a snapshot stores unchanged. */
export const PlainSettings = Schema.Struct({
  seed: Schema.Int,
  clock: Schema.Union([Schema.Literals(["real", "frozen"]), Schema.Struct({ times: Rate })]),
  /** When the world's time starts, in milliseconds since the epoch. Default: 2026-01-01 if frozen, otherwise the real time. */
  startAt: Schema.NullOr(StartTime),
  lifecycle: Lifecycle,
  rateLimit: RateLimit,
  auth: Schema.Literals(authModes),
  deleteStyle: Schema.Literals(deleteStyles),
  /** Whether a create with a name in use is refused. Default: false, because the interface does not forbid it (A14). */
  uniqueNames: Schema.Boolean,
  scenario: Schema.Union([
    Schema.Literals(["empty", "small"]),
    Schema.Struct({ fleet: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxFleetNodes })) })
  ]),
  /** Initial nodes in addition to the nodes of the scenario. Default: none. */
  nodes: Schema.Array(GivenNode).check(Schema.isMaxLength(maxGivenNodes)),
  /** Present if the world imitates the service of 2026 instead of the documented interface. */
  today: Schema.optionalKey(Today)
})

/** The complete settings of a world. */
export interface WorldSettings extends Schema.Schema.Type<typeof PlainSettings> {
  readonly account: Account
  /** The faults that are armed from the start. Default: none. */
  readonly faults: ReadonlyArray<AnyFault>
  /** The images and plans of a profile. Default: the images and plans of the seed. */
  readonly catalogue?: Catalogue | undefined
}

/** The settings of a world without options. */
export const defaults: WorldSettings = {
  account: { apiKey: Redacted.make("berth-key"), accessToken: Redacted.make("berth-token") },
  seed: 1,
  clock: "real",
  startAt: null,
  lifecycle: defaultLifecycle,
  rateLimit: { limit: 1200, windowMillis: 3_600_000, algorithm: "fixed-window" },
  auth: "strict",
  deleteStyle: "documented",
  uniqueNames: false,
  scenario: "empty",
  nodes: [],
  faults: []
}
