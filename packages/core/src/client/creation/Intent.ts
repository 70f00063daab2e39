/**
 * What is written down of a create before and while it is sent, so that afterwards, in this process or a later one, it can be
 * told which node came of it.
 */
import { Predicate } from "effect"
import type { NodeId } from "../../domain/Node.ts"

/** When a request was sent: on every clock there is, for none of them alone can be trusted later. */
export interface SentAt {
  /** By the wall clock of the machine, since the epoch. */
  readonly wallMillis: number
  /** By the clock of its boot. */
  readonly bootMillis: number
  /** Names that clock; null where it cannot be named. */
  readonly bootClock: string | null
  /** The service's clock had certainly reached this, since the epoch; 0 when nothing is known of it. */
  readonly serviceMillis: number
}

/** The version of what is written: a later one may mean something else. */
export const intentVersion = 1

/** The record of one create. */
export interface Intent {
  readonly version: typeof intentVersion
  /** Names the create: the caller's own key, or one drawn for it. */
  readonly key: string
  readonly name: string
  readonly plan: string
  readonly image: string
  /** Highest node id known before sending; what comes of it is higher (decision 11). */
  readonly newerThan: number
  /** When it was sent last; null while it was certainly not sent, or what was sent was certainly not processed. */
  readonly sentAt: SentAt | null
  /**
   * What became of it: it is about to leave (`open`), or has left (`left`), and its reply may still come; it has left, and
   * its reply was lost (`lost`); its process was killed before it was known to have left (`killed`). Without a reply, what came of
   * the create shows in the list alone.
   */
  readonly fate: "open" | "left" | "lost" | "killed"
  /** The node that came of it; null until that is known. */
  readonly nodeId: NodeId | null
}

/** Whether a reply to it may still come. */
export const mayBeAnswered = ({ fate, nodeId, sentAt }: Intent): boolean =>
  sentAt !== null && nodeId === null && (fate === "open" || fate === "left")

/** The intent once no reply can come any more. `unless` is what becomes of one that is not known to have left. */
export const ended = (intent: Intent, unless: "lost" | "killed"): Intent & { readonly fate: "lost" | "killed" } => ({
  ...intent,
  fate: intent.fate === "open" ? unless : intent.fate === "left" ? "lost" : intent.fate
})

/** Checks of the fields of a record that another process wrote, in JSON. */
export type Checks<A> = { readonly [Name in keyof A]-?: (value: unknown) => boolean }

/** Whether a value has what each field has to have. What else it has is of no concern. */
export const meets = <A>(checks: Checks<A>, value: unknown): value is A =>
  Predicate.isObject(value) &&
  Object.entries<(value: unknown) => boolean>(checks).every(([name, check]) =>
    check((value as Readonly<Record<string, unknown>>)[name])
  )

const orNull = (check: (value: unknown) => boolean) => (value: unknown) => value === null || check(value)

const sentAtChecks: Checks<SentAt> = {
  wallMillis: Number.isFinite,
  bootMillis: Number.isFinite,
  bootClock: orNull(Predicate.isString),
  serviceMillis: Number.isFinite
}

export const intentChecks: Checks<Intent> = {
  version: (value) => value === intentVersion,
  key: Predicate.isString,
  name: Predicate.isString,
  plan: Predicate.isString,
  image: Predicate.isString,
  newerThan: Number.isSafeInteger,
  sentAt: orNull((value) => meets(sentAtChecks, value)),
  fate: (value) => value === "open" || value === "left" || value === "lost" || value === "killed",
  nodeId: orNull((value) => Number.isSafeInteger(value) && Number(value) >= 1)
}
