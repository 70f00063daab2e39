/**
 * The record of one create, written before and while it is sent, so that this process or a later one can find out which node
 * came of it.
 */
import type { NodeId } from "../../domain/Node.ts"
import { millisBetween, type Stamp } from "../files/Boot.ts"

/** An instant on every clock there is, because none of them alone can be trusted later. */
export interface Instant extends Stamp {
  /** The service's clock had certainly reached this, since the epoch; 0 when nothing is known of it. */
  readonly serviceMillis: number
}

/** The service's clock is known to a second or two. */
const serviceClockMillis = 2000

/** Least time since an earlier instant, by the clock of a boot or by the service's; never by a wall clock, which steps. */
export const millisSince = (earlier: Instant, now: Instant): number => {
  if (earlier.bootClock !== null && earlier.bootClock === now.bootClock) return millisBetween(earlier, now)
  return earlier.serviceMillis > 0 && now.serviceMillis > 0
    ? Math.max(0, now.serviceMillis - earlier.serviceMillis - serviceClockMillis)
    : 0
}

/** The version of the record: in a later one a field may mean something else. */
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
  readonly sentAt: Instant | null
  /**
   * What became of it: it is about to leave (`open`), or has left (`left`), and its reply may still come; it has left, and
   * its reply was lost (`lost`); its process was killed before it was known to have left (`killed`). Without a reply, what came of
   * the create shows in the list alone.
   */
  readonly fate: "open" | "left" | "lost" | "killed"
  /** The node that came of it; null until that is known. */
  readonly nodeId: NodeId | null
}

/** An intent that was sent. */
export type SentIntent = Intent & { readonly sentAt: Instant }

/** A sent intent to which no reply can come any more. */
export type UnansweredIntent = SentIntent & { readonly fate: "lost" | "killed" }

export const isSent = (intent: Intent): intent is SentIntent => intent.sentAt !== null

/** Whether a reply to it may still come. */
export const mayBeAnswered = (intent: Intent): intent is SentIntent & { readonly fate: "open" | "left" } =>
  isSent(intent) && intent.nodeId === null && (intent.fate === "open" || intent.fate === "left")

/** The intent once no reply can come any more. `unlessLeft` is the fate of one that is not known to have left. */
export const unanswered = (intent: SentIntent, unlessLeft: "lost" | "killed"): UnansweredIntent => ({
  ...intent,
  fate: intent.fate === "open" ? unlessLeft : intent.fate === "left" ? "lost" : intent.fate
})

type Shown = Pick<Intent, "name" | "plan" | "image">

/** Whether two creates differ in nothing that a node shows: whose node is whose does not matter among them. */
export const isAlike = (a: Shown, b: Shown): boolean => a.name === b.name && a.plan === b.plan && a.image === b.image
