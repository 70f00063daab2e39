/**
 * Decides which create made a node, and recognises that node later. All rules for the proof are here. A create made a
 * node if all of these are true: the node's id is above the highest id before the create; no other create has the node;
 * the node shows what was asked for, in any spelling that services use; and the node was made between the send and the
 * last instant at which the service can have processed the request. A field that a service leaves out proves nothing,
 * in either direction.
 */
import { Predicate } from "effect"
import type { Node } from "../../domain/Node.ts"
import type { Image } from "../../domain/Image.ts"
import { imageFinder, isSamePlan } from "../../domain/Price.ts"
import { isOfOneBoot, maxStepMillis, millisBetween } from "../files/Stamp.ts"
import type { Instant, Intent } from "./IntentStore.ts"

/**
 * The times that a service states may be off by this much: the service writes whole seconds, in `Date` as well; it may read its clock a
 * moment after it chose the id; and a mock's clock may stand still between two creates.
 */
export const blurMillis = 2000

/**
 * If the list shows no node this long after the send, the create was not processed and may be sent again. Gateways and workers may
 * process a request for ten minutes after its client is gone. Half a minute is added for the request to leave its process, and for the
 * list to show the node.
 */
export const quietMillis = 630_000

/** For this long after a create, the service may not find the node by its id, because some of its servers do not know it yet. */
export const newMillis = 60_000

/** Whether a clock without steps can measure the time between two instants. */
export const isTimed = (earlier: Instant, now: Instant): boolean =>
  isOfOneBoot(earlier, now) || (earlier.serviceMillis > 0 && now.serviceMillis > 0)

/** The minimum time since an earlier instant, by the clock of the boot or the service, but never by a wall clock, because that may step. */
export const millisSince = (earlier: Instant, now: Instant): number => {
  if (isOfOneBoot(earlier, now)) return millisBetween(earlier, now)
  return earlier.serviceMillis > 0 && now.serviceMillis > 0
    ? Math.max(0, now.serviceMillis - earlier.serviceMillis - blurMillis)
    : 0
}

/** Whether the service has certainly stopped processing a create that was sent then. */
export const isQuiet = (sentAt: Instant, now: Instant): boolean => millisSince(sentAt, now) >= quietMillis

/**
 * The time at which another machine sent a create, on the only clock that the machine recorded: the service's, otherwise its own wall
 * clock.
 */
export interface Told {
  readonly millis: number
  readonly isOfService: boolean
}

/**
 * Like `isQuiet`, for a create of another machine. If only wall clocks are known, either may have stepped, so the largest step is
 * subtracted.
 */
export const isQuietElsewhere = ({ isOfService, millis }: Told, now: Instant): boolean =>
  isOfService && now.serviceMillis > 0
    ? now.serviceMillis - millis - blurMillis >= quietMillis
    : now.wallMillis - millis - maxStepMillis >= quietMillis

/**
 * Like `isQuiet`, for a call that would otherwise wait indefinitely. After a reboot, if the service states no time,
 * only the wall clock is left, so Berth uses the wall clock minus its largest step. The machine must also have run for
 * `quietMillis`, because without a battery its clock may jump by years when the machine starts.
 */
export const isQuietAtLast = (sentAt: Instant, now: Instant): boolean =>
  isTimed(sentAt, now)
    ? isQuiet(sentAt, now)
    : isQuietElsewhere({ millis: sentAt.wallMillis, isOfService: false }, now) &&
      (now.bootClock === null || now.bootMillis >= quietMillis)

/** The maximum time since an earlier instant, by the same clocks as `millisSince`. */
const maxMillisSince = (earlier: Instant, now: Instant): number => {
  if (isOfOneBoot(earlier, now)) return millisBetween(earlier, now)
  return earlier.serviceMillis > 0 && now.serviceMillis > 0
    ? now.serviceMillis - earlier.serviceMillis + blurMillis
    : Number.POSITIVE_INFINITY
}

/** An earlier instant on the service's clock; undefined if it was not known then and cannot be counted back from now. */
const serviceMillisAt = (earlier: Instant, now: Instant): number | undefined => {
  if (earlier.serviceMillis > 0) return earlier.serviceMillis
  return now.serviceMillis > 0 && isOfOneBoot(earlier, now)
    ? now.serviceMillis - millisBetween(earlier, now)
    : undefined
}

/**
 * Normalises what services change in a string: case, Unicode form, spaces and `_` for `-`, repeated separators, and separators at both
 * ends.
 */
export const plain = (text: string): string =>
  text
    .normalize("NFKD")
    // Upper case merges more letters than lower case: ß becomes SS, and both small sigmas become one.
    .toUpperCase()
    .normalize("NFKD")
    .replaceAll(/[\s_\p{Pd}]+/gu, "-")
    .replaceAll(/^-|-$/g, "")

/** Services that cut names keep at least forty characters. The first and the last may be separators, which `plain` removes. */
const cutLength = 38

/** A cut name has at least this many letters and digits, even if every third character is a separator. */
const minCutLetters = 25

/** Whether the service may show this name for the requested one. */
export const isSpelling = (shown: string, asked: string): boolean => {
  if (shown === asked) return true
  const plainShown = plain(shown)
  const plainAsked = plain(asked)
  return plainShown === plainAsked || (plainShown.length >= cutLength && plainAsked.startsWith(plainShown))
}

/** What a service may keep of a name: its letters and digits, or only those of ASCII. */
const kept: ReadonlyArray<(name: string) => string> = [
  (name) => plain(name).replaceAll(/[^\p{L}\p{N}]/gu, ""),
  (name) => name.replaceAll(/[^a-z\d]/gi, "").toUpperCase()
]

/**
 * Whether the service may have made this name of the requested one by a rule that Berth does not know: services may drop characters, and
 * cut what is left. Such a name never proves who made a node, but a create is not sent again beside it.
 */
const mayBeRenamed = (shown: string, asked: string): boolean =>
  kept.some((of) => {
    const [left, whole] = [of(shown), of(asked)]
    return left !== "" && (left === whole || (left.length >= minCutLetters && whole.startsWith(left)))
  })

/** A string that is equal for all names that the service may show in the same way. */
export const spellingGroup = (name: string): string => plain(name).slice(0, cutLength)

/** Whether the service may show this image or region for the requested one. It may leave the field out. */
export const mayShow = (shown: string | null, asked: string): boolean =>
  shown === null || shown === asked || plain(shown) === plain(asked)

/** The plans in the image list: the SKU of each slug, and the operating system of each image. */
export type KnownPlans = ReadonlyArray<Pick<Image, "plan" | "sku" | "image" | "name" | "os">>

/** Whether the service may show this plan for the requested one, as far as the image list was read. */
export const mayShowPlan = (shown: string | null, asked: string, plans: KnownPlans = []): boolean =>
  mayShow(shown, asked) || isSamePlan(asked, shown!, plans)

/** The operating system that a node states: today's API states it in place of the image. */
export const systemOf = ({ extra = {}, image }: Pick<Shown, "extra" | "image">): Record<string, unknown> | undefined =>
  image === null && Predicate.isObject(extra["os_info"]) ? extra["os_info"] : undefined

/** Whether a node states another operating system than the image has. A value that one of the two leaves out counts as equal. */
export const isOtherSystem = (
  stated: Record<string, unknown>,
  image: string | number,
  images: ReadonlyArray<Pick<Image, "image" | "name" | "os">>
): boolean => {
  const textOf = (value: unknown) => (Predicate.isString(value) ? plain(value) : undefined)
  const [name, version] = [textOf(stated["name"]), textOf(stated["version"])]
  const records = imageFinder(images)(image)
  return (
    records.length > 0 &&
    records.every(({ image, os }) => {
      // If a record of the image list states no operating system, its `os.name` is the text of the image.
      const isOtherName = name !== undefined && os.name !== image && plain(os.name) !== name
      return isOtherName || (version !== undefined && os.version !== null && plain(os.version) !== version)
    })
  )
}

const isNumber = (text: string) => /^\d+$/.test(text)

/**
 * Whether the service may show this image for the requested one. A number and a name cannot be compared, so they may mean the same image.
 */
export const mayShowImage = (shown: string | null, asked: string): boolean =>
  shown === null || isNumber(shown) !== isNumber(asked) || mayShow(shown, asked)

/** The order and time of a create. */
export type Asked = Pick<Intent, "name" | "plan" | "image" | "newerThan" | "newest"> & { readonly sentAt: Instant }

/** The fields of a listed node. */
export interface Shown {
  readonly id: number
  readonly name: string
  readonly plan: string | null
  readonly image: string | null
  /** The other fields of its record. */
  readonly extra?: Readonly<Record<string, unknown>>
  /** Since the epoch; null if the service does not state it. */
  readonly createdMillis: number | null
}

/** Compares a node's creation time with the time in which a create can have made it. The list was read at `now`. */
const birthOf = (sentAt: Instant, createdMillis: number | null, now: Instant) => {
  const sentMillis = serviceMillisAt(sentAt, now)
  if (createdMillis === null || sentMillis === undefined) {
    // The node is listed already. If the allowed time is not over yet, the node was made within that time.
    return maxMillisSince(sentAt, now) <= quietMillis ? "meanwhile" : "unknown"
  }
  if (createdMillis + blurMillis < sentMillis) return "before"
  if (createdMillis <= sentMillis + quietMillis + blurMillis) {
    // The service's clock may have gone back. The node was made too late if the boot clock shows that more time has
    // passed since the send than the quiet time plus the node's age. The boot clock cannot prove the opposite, because
    // it stands still while the machine sleeps.
    return isOfOneBoot(sentAt, now) &&
      now.serviceMillis > 0 &&
      millisBetween(sentAt, now) > quietMillis + blurMillis + now.serviceMillis - createdMillis
      ? "unknown"
      : "meanwhile"
  }
  // A creation time in the future comes from another clock than the time of the send. If the boot clock shows less time
  // than that, a clock is wrong or the machine has slept. Neither case proves anything.
  const isPast = now.serviceMillis > 0 && createdMillis <= now.serviceMillis + blurMillis
  return isPast && !(isOfOneBoot(sentAt, now) && millisBetween(sentAt, now) <= quietMillis) ? "later" : "unknown"
}

/** Whether a create made a node, judged by the list. */
export type Kinship =
  /**
   * The node shows all that was asked for, and was made in time. If there are several such nodes, the create may have made any of those
   * that belong to no other create.
   */
  | "proven"
  /** The node shows all that was asked for, but its creation time is not reliable. */
  | "possible"
  /**
   * The node has the name, but its plan, image, id or age does not fit, or it has the letters and digits of the name. The create may still
   * have made the node, because a service may show these fields in another way.
   */
  | "differs"
  /** The node has another name, or was made when the service could no longer process the create. */
  | "none"

/** The relation of a node to a create. The list was read at `now`; `plans` comes from the image list. */
export const kinshipOf = (asked: Asked, shown: Shown, now: Instant, plans?: KnownPlans): Kinship => {
  const isNamed = isSpelling(shown.name, asked.name)
  if (!isNamed && !mayBeRenamed(shown.name, asked.name)) return "none"
  const birth = birthOf(asked.sentAt, shown.createdMillis, now)
  if (birth === "later" || (birth === "before" && !isNamed)) return "none"
  const system = systemOf(shown)
  const isDifferent =
    !isNamed ||
    (system !== undefined && isOtherSystem(system, asked.image, plans ?? [])) ||
    birth === "before" ||
    shown.id <= Math.max(asked.newerThan, asked.newest ?? 0) ||
    !mayShowPlan(shown.plan, asked.plan, plans) ||
    !mayShowImage(shown.image, asked.image)
  if (isDifferent) return "differs"
  return birth === "meanwhile" ? "proven" : "possible"
}

/** The fields that identify the proved node of a create. */
export type Proof = Pick<Shown, "id" | "name" | "createdMillis">

/** The fields by which a proved node is recognised later. */
export const proofOf = ({ createdAt, id, name }: Pick<Node, "id" | "name" | "createdAt">) => ({
  id,
  name,
  createdMillis: createdAt && createdAt.epochMilliseconds
})

/** Whether a node is the proved one: the same id and creation time, which no service changes, and the same name in any spelling. */
export const isSameNode = (proof: Proof, shown: Proof): boolean =>
  shown.id === proof.id &&
  (isSpelling(shown.name, proof.name) || isSpelling(proof.name, shown.name)) &&
  (proof.createdMillis === null ||
    shown.createdMillis === null ||
    Math.abs(shown.createdMillis - proof.createdMillis) <= blurMillis)
