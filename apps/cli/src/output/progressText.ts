/**
 * What progress shows, as text: what is waited for, and what holds the requests up. Pure; `progress.ts` keeps the state and shows it.
 */
import type { KnownAllowance } from "@berthkit/core/domain/Allowance"
import { DateTime } from "effect"
import { capitalized, elapsed } from "./format.ts"

/** What is waited for. */
export interface Goal {
  /** Such as `running`. */
  readonly goal: string
  /** How many things are waited for. */
  readonly total: number
}

/** A wait for several things to come to one goal. */
export interface Waiting extends Goal {
  readonly startedAt: number
  /** The states of each thing that was seen, one after the other. */
  readonly states: ReadonlyMap<string, ReadonlyArray<string>>
}

/** A call that is under way. */
export interface Call {
  readonly operation: string
  readonly startedAt: number
}

/** An attempt that failed, while its call goes on. */
export interface FailedAttempt {
  readonly operation: string
  readonly status: number | null
  readonly outcome: string
  readonly number: number
}

/**
 * Why a create goes on after its request: its reply was lost, is a refusal that need not mean that nothing was made, or came and does not
 * say which node it made, if any.
 */
export type Unsettled = "lost" | "refused" | "unclear"

/** What the request path does at the moment. */
export interface Activity {
  readonly calls: ReadonlyArray<Call>
  readonly requests: number
  readonly failed: FailedAttempt | undefined
  /** Of a create that goes on after its request. */
  readonly unsettled: Unsettled | undefined
}

/** With more things than this only their number is shown. */
export const maxNamed = 3

/** How many have reached the goal. */
export const reachedOf = ({ goal, states }: Waiting): number => {
  const end = goal === "deleted" ? "gone" : goal
  return Array.from(states.values()).filter((seen) => seen.at(-1) === end).length
}

/** `web (12): created → running`, or `112 of 1112 running`. */
const waitText = (waiting: Waiting): string => {
  const { goal, states, total } = waiting
  if (total > maxNamed) return `${reachedOf(waiting)} of ${total} ${goal}`
  if (states.size === 0) return `waiting for ${goal}`
  const things = Array.from(states, ([what, seen]) => `${what}: ${seen.slice(-2).join(" → ")}`)
  return `${things.join(", ")}; waiting for ${goal}`
}

/** A create between its calls: it waits until the list has its node. */
export const settling = "nodes.create as a whole"

/** What each operation does, for people. */
const doing: Readonly<Record<string, string>> = {
  [settling]: "looking for the node of a create",
  "nodes.list": "reading the list of nodes",
  "nodes.get": "reading a node",
  "nodes.create": "creating",
  "nodes.delete": "deleting",
  "commitments.set": "setting the commitment",
  "images.list": "reading the images",
  "images.saved": "reading the saved images"
}

const other = "waiting for the service"

/** What the innermost call does, in words. */
const doingOf = (calls: ReadonlyArray<Call>): string => doing[calls.at(-1)?.operation ?? ""] ?? other

/** The line for a wait that nothing else reports. */
export const silentText = (waiting: Waiting | undefined, { calls }: Activity, sinceMillis: number): string =>
  `${capitalized(waiting === undefined ? doingOf(calls) : waitText(waiting))} (${elapsed(sinceMillis)})`

/** How long nothing is sent because of the rate limit; undefined when nothing waits for it. */
export const pauseMillisOf = ({ calls }: Activity, allowance: KnownAllowance): number | undefined => {
  if (allowance.pausedMillis > 0 && calls.length > 0) return allowance.pausedMillis
  // Without a known reset, requests wait for the first reply and not for the rate limit.
  return allowance.waiting > 0 && (allowance.resetInMillis ?? 0) > 0 ? (allowance.resetInMillis ?? 0) : undefined
}

const timeOfDay = (millis: number): string => DateTime.formatIso(DateTime.makeUnsafe(millis)).slice(11, 19)

/** Until when the rate limit holds requests up. */
export const pauseText = (pauseMillis: number, now: number): string =>
  `waiting for the rate limit until ${timeOfDay(now + pauseMillis)} UTC (${elapsed(pauseMillis)})`

/** Why an attempt failed, in short. A reply that broke off has the status of a success, and so has one with an error in its body. */
const reasonText = ({ outcome, status }: FailedAttempt): string => {
  if (status !== null && status >= 400) return String(status)
  if (outcome === "TimedOut") return "no reply in time"
  if (status === null) return "no reply"
  return outcome === "Unreachable" ? "the reply broke off" : `an error in a reply with ${status}`
}

/** Why a call is sent again. */
export const retryText = (attempt: FailedAttempt): string =>
  `${doing[attempt.operation] ?? other}: attempt ${attempt.number} failed (${reasonText(attempt)}), trying again`

/** What goes on after the request of a create. */
export const unsettledText: Readonly<Record<Unsettled, string>> = {
  lost: "the reply to the create was lost: reading the list for its node",
  refused: "the create was refused for the rate limit: looking for its node before it is sent again",
  unclear: "the reply to the create leaves open which node it made, if any: reading the list for its node"
}

/** What the last attempt of a create means for it. A reply that broke off is lost. */
export const unsettledOf = (last: FailedAttempt | undefined): Unsettled => {
  if (last?.outcome === "RateLimited") return "refused"
  return last === undefined || last.status === null || last.outcome === "Unreachable" || last.outcome === "TimedOut"
    ? "lost"
    : "unclear"
}

/** The live line, without its spinner; undefined when there is nothing to show yet. */
export const liveText = (
  waiting: Waiting | undefined,
  activity: Activity,
  pause: number | undefined,
  now: number
): string | undefined => {
  const failed = activity.failed && retryText(activity.failed)
  const held =
    pause !== undefined ? pauseText(pause, now) : (failed ?? (activity.unsettled && unsettledText[activity.unsettled]))
  if (waiting !== undefined) {
    return [elapsed(now - waiting.startedAt), waitText(waiting), held].filter((text) => text !== undefined).join("  ")
  }
  const [first] = activity.calls
  if (first === undefined) return undefined
  const age = now - first.startedAt
  // What is soon over is not worth a line.
  if (age < 1000) return undefined
  const requests = activity.requests > 1 ? [`${activity.requests} requests`] : []
  return [elapsed(age), held ?? doingOf(activity.calls), ...requests].join("  ")
}
