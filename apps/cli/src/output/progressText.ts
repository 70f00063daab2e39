/** Formats progress: what a command waits for, and what delays its requests. Pure; `progress.ts` keeps the state and shows it. */
import type { KnownAllowance } from "@berthkit/core/domain/Allowance"
import { DateTime } from "effect"
import { capitalized, elapsed } from "./format.ts"

/** The goal of a wait. */
export interface Goal {
  /** The goal of the things, for example `running`. */
  readonly goal: string
  /** The number of awaited things. */
  readonly total: number
  /** Whether a pipe gets a line only if the wait is long, and not for every state. Default: false. */
  readonly isQuiet?: boolean
}

/** A wait of several things for one goal. */
export interface Waiting extends Goal {
  readonly startedAt: number
  /** The states seen so far of each thing, in order. */
  readonly states: ReadonlyMap<string, ReadonlyArray<string>>
}

/** A running call. */
export interface Call {
  readonly operation: string
  readonly startedAt: number
}

/** A failed attempt of a running call. */
export interface FailedAttempt {
  readonly operation: string
  readonly status: number | null
  readonly outcome: string
  readonly number: number
}

/**
 * Why a create continues after its request: the reply was lost, the service rejected the request but may have made the node, or the reply
 * does not say which node was made.
 */
export type Unsettled = "lost" | "refused" | "unclear"

/** The current activity of the request path. */
export interface Activity {
  readonly calls: ReadonlyArray<Call>
  readonly requests: number
  readonly failed: FailedAttempt | undefined
  /** Why a create continues after its request; undefined if no create does. */
  readonly unsettled: Unsettled | undefined
}

/** If there are more things than this, only their count is shown. */
export const maxNamed = 3

/** How many of the awaited things have reached the goal. */
export const reachedOf = ({ goal, states }: Waiting): number => {
  const end = goal === "deleted" ? "gone" : goal
  return Array.from(states.values()).filter((seen) => seen.at(-1) === end).length
}

/** The text of a wait, for example `web (12): created → running`, or `112 of 1112 running`. */
const waitText = (waiting: Waiting): string => {
  const { goal, states, total } = waiting
  if (total > maxNamed) return `${reachedOf(waiting)} of ${total} ${goal}`
  if (states.size === 0) return `waiting for ${goal}`
  const things = Array.from(states, ([what, seen]) => `${what}: ${seen.slice(-2).join(" → ")}`)
  return `${things.join(", ")}; waiting for ${goal}`
}

/** The name of a create as a whole. Between its calls, the create waits until the list contains its node. */
export const settling = "nodes.create as a whole"

/** A phrase for each operation. */
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

/** The phrase for the innermost call. */
const doingOf = (calls: ReadonlyArray<Call>): string => doing[calls.at(-1)?.operation ?? ""] ?? other

/** The line for a wait that no other line reports. */
export const silentText = (waiting: Waiting | undefined, { calls }: Activity, sinceMillis: number): string => {
  const text = waiting === undefined ? doingOf(calls) : waitText(waiting)
  // The name of a node keeps its spelling.
  const isNamed = waiting !== undefined && waiting.states.size > 0 && waiting.total <= maxNamed
  return `${isNamed ? text : capitalized(text)} (${elapsed(sinceMillis)})`
}

/** How long the rate limit delays requests; undefined if it delays none. */
export const pauseMillisOf = ({ calls }: Activity, allowance: KnownAllowance): number | undefined => {
  if (allowance.pausedMillis > 0 && calls.length > 0) return allowance.pausedMillis
  // If the reset time is not known, requests wait for the first reply and not for the rate limit.
  return allowance.waiting > 0 && (allowance.resetInMillis ?? 0) > 0 ? (allowance.resetInMillis ?? 0) : undefined
}

const timeOfDay = (millis: number): string => DateTime.formatIso(DateTime.makeUnsafe(millis)).slice(11, 19)

/** The text of a rate-limit pause. */
export const pauseText = (pauseMillis: number, now: number): string =>
  `waiting for the rate limit until ${timeOfDay(now + pauseMillis)} UTC (${elapsed(pauseMillis)})`

/**
 * A short reason for a failed attempt. The status alone is not enough: a reply that broke off, or that has an error in its body, may have a
 * success status.
 */
const reasonText = ({ outcome, status }: FailedAttempt): string => {
  if (status !== null && status >= 400) return String(status)
  if (outcome === "TimedOut") return "no reply in time"
  if (status === null) return "no reply"
  return outcome === "Unreachable" ? "the reply broke off" : `an error in a reply with ${status}`
}

/** The text of a retry. */
export const retryText = (attempt: FailedAttempt): string =>
  `${doing[attempt.operation] ?? other}: attempt ${attempt.number} failed (${reasonText(attempt)}), trying again`

/** What a create does after its request. */
export const unsettledText: Readonly<Record<Unsettled, string>> = {
  lost: "the reply to the create was lost: reading the list for its node",
  refused: "the create was refused for the rate limit: looking for its node before it is sent again",
  unclear: "the reply to the create leaves open which node it made, if any: reading the list for its node"
}

/** Why the outcome of a create is unknown after its last attempt. A reply that broke off counts as lost. */
export const unsettledOf = (last: FailedAttempt | undefined): Unsettled => {
  if (last?.outcome === "RateLimited") return "refused"
  return last === undefined || last.status === null || last.outcome === "Unreachable" || last.outcome === "TimedOut"
    ? "lost"
    : "unclear"
}

/** The live line without its spinner; undefined if there is nothing to show. */
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
  // Short waits get no line.
  if (age < 1000) return undefined
  const requests = activity.requests > 1 ? [`${activity.requests} requests`] : []
  return [elapsed(age), held ?? doingOf(activity.calls), ...requests].join("  ")
}
