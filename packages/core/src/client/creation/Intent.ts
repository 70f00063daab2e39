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

/**
 * A create that shows no node this long after it was sent was not processed, and may be sent again: ten minutes, in which gateways
 * and workers may process a request whose client is long gone; and half a minute, in which a request leaves its process and a
 * node comes to be listed.
 */
export const quietMillis = 630_000

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
  /** Digest of all that was asked for (`specDigest`); null in an intent of an older Berth, which kept none. */
  readonly spec: string | null
  /** Highest node id known before sending; what comes of it is higher (A11). */
  readonly newerThan: number
  /** When it was sent last; null while it was certainly not sent, or what was sent was certainly not processed. */
  readonly sentAt: Instant | null
  /**
   * What became of it: its reply may still come, as long as its process runs (`open`); the service refused it for its rate limit,
   * and need not have made nothing (`refused`); its reply was lost, or its process ended (`lost`); it was lost and its caller, who
   * has no key to ask again with, was told so (`reported`). Without a reply, what came of the create shows in the list alone.
   */
  readonly fate: "open" | "refused" | "lost" | "reported"
  /** The node that came of it; null until that is known. */
  readonly nodeId: NodeId | null
}

/** An intent that was sent. */
export type SentIntent = Intent & { readonly sentAt: Instant }

/** A sent intent to which no reply can come any more. */
export type UnansweredIntent = SentIntent & { readonly fate: Exclude<Intent["fate"], "open"> }

export const isSent = (intent: Intent): intent is SentIntent => intent.sentAt !== null

/** Whether a reply to it may still come. */
export const mayBeAnswered = (intent: Intent): intent is SentIntent & { readonly fate: "open" } =>
  isSent(intent) && intent.nodeId === null && intent.fate === "open"

/** The intent once no reply can come any more. */
export const unanswered = (intent: SentIntent): UnansweredIntent => ({
  ...intent,
  fate: intent.fate === "open" ? "lost" : intent.fate
})

type Shown = Pick<Intent, "name" | "plan" | "image">

/** Whether the nodes of two creates look the same in the list. */
export const isAlike = (a: Shown, b: Shown): boolean => a.name === b.name && a.plan === b.plan && a.image === b.image

type Asked = Shown & Pick<Intent, "spec">

/** Whether two creates ask for the same in every field: whose node is whose does not matter among them. */
export const isSame = (a: Asked, b: Asked): boolean =>
  isAlike(a, b) && (a.spec === b.spec || a.spec === null || b.spec === null)
