/**
 * Describes a failed call for users of the command line: what happened, which node remains, and what to do. Where a program would call a
 * method, the hint has a command to type.
 */
import { isPostgres } from "@berthkit/terminal/postgresAddress"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import { mayBeUnlisted, type StateUnavailable } from "@berthkit/core/domain/ErrorReason"
import { fileRemedyOf } from "@berthkit/core/domain/fileReason"
import { isAboutPlace, placeHint } from "@berthkit/terminal/placeHint"
import { quoted } from "@berthkit/terminal/quoted"

/** The flags of a wait that differ from their defaults. */
interface WaitFlags {
  readonly goal?: string | undefined
  readonly timeoutMinutes?: number | undefined
}

/** The command that continues a wait, for the end of a hint. Each element of `given` names one node, or is a pattern for several. */
export const waitCommand = (given: ReadonlyArray<string>, { goal, timeoutMinutes }: WaitFlags): string => {
  const flags = [
    ...(goal === undefined ? [] : ["--for", goal]),
    ...(timeoutMinutes === undefined ? [] : ["--timeout", `${timeoutMinutes}m`])
  ]
  const nodes = given.map(quoted)
  const words = given.some((word) => word.startsWith("-")) ? [...flags, "--", ...nodes] : [...nodes, ...flags]
  return `To continue waiting: ${["berth node wait", ...words].join(" ")}`
}

export const isBilled = "The node exists and is billed."

/** The service does not say when the billing of a deleted node ends. */
export const isBeingDeleted = "The node is being deleted; it may be billed until it is gone."

/** A sentence about the node that a call waited for; undefined if its state is unknown or the call was no wait. */
const nodeLeft = ({ reason }: BerthError): string | undefined => {
  if (reason._tag !== "StatusNotReached" || reason.impossible || reason.seen.length === 0) return undefined
  return reason.last === "terminate" ? isBeingDeleted : isBilled
}

/** The time that a wait still has after the allowance has refilled: the default timeout of a wait. */
const afterRefillMinutes = 10

/**
 * The command that continues a failed wait. If the rate limit ended the wait, the timeout in the command reaches beyond the next refill.
 */
export const goOnWaiting = (id: number, goal: string | undefined, { reason }: BerthError): string => {
  const refillsInMillis = reason._tag === "StatusNotReached" ? reason.refillsInMillis : null
  const timeoutMinutes = refillsInMillis === null ? undefined : Math.ceil(refillsInMillis / 60_000) + afterRefillMinutes
  return waitCommand([String(id)], { goal, timeoutMinutes })
}

/** Operations that change nothing. */
const isRead = (operation: string): boolean => /\.(?:list|listPage|get|saved)$/.test(operation)

const notTheService = "Check that the base URL is the service's and not a proxy's or a login page's: berth doctor"

/** For operations whose reply was longer than berth reads: how to ask for less. */
const readLess: Readonly<Record<string, string>> = {
  raw: "Ask for less at once, such as: berth api /nodes/ -q per_page=20",
  "nodes.list": "Read it page by page: berth node list --page 1 --per-page 20",
  "images.list": "Ask the service for a part of it: berth plan list --series SERIES --os OS --cpu N --ram GB"
}

/** Only a first run may go without the idempotency key. Without it, berth cannot find a create that an earlier run has sent. */
const firstRun = "only a first run may omit --idempotency-key."

/** What the user can do so that creates can be recorded again, as the beginning of a sentence. */
export const stateRemedy = ({ code, path }: Pick<StateUnavailable, "code" | "path">): string => {
  if (code !== null) return fileRemedyOf(code) ?? "Make it readable and writable"
  if (isPostgres(path ?? "")) return "Check the database (without tables: berth state migrate)"
  return path === null ? "Set HOME or XDG_STATE_HOME to a writable folder" : "Repair that file"
}

/** The hint if a create with a key could not be recorded. */
const stateHint = (reason: StateUnavailable): string => {
  const remedy = stateRemedy(reason)
  const { code, path } = reason
  const isDatabase = isPostgres(path ?? "")
  if (code !== null || isDatabase)
    return `${isDatabase ? "Nothing was sent. " : ""}${remedy}, and run the same command again; ${firstRun}`
  return path === null
    ? `${remedy}; without --idempotency-key you need none.`
    : `${remedy}, or use another --idempotency-key; before you remove it, see which node it made: berth node list`
}

/** Whether the client refused the key of a create before it sent anything. */
const isAboutKey = ({ reason }: BerthError): boolean =>
  reason._tag === "InvalidRequest" && reason.status === null && reason.fields["key"] !== undefined

/** What happened, with the command line's flag in place of the option `key`. Ends with a sentence about the node that remains. */
export const messageOf = (error: BerthError): string => {
  const { reason } = error
  if (reason._tag === "InvalidRequest" && isAboutKey(error)) {
    return `This --idempotency-key cannot be used: ${reason.detail}.`
  }
  const left = nodeLeft(error)
  return left === undefined ? error.message : `${error.message} ${left}`
}

/** What to do next, with a command to type if there is one. */
export const hintOf = (error: BerthError): string => {
  const { hint, operation, reason } = error
  const isSent = reason._tag !== "InvalidRequest" || reason.status !== null
  if (isSent && "detail" in reason && isAboutPlace(reason.detail)) return placeHint
  switch (reason._tag) {
    case "InvalidRequest":
      return isAboutKey(error) ? "Use another --idempotency-key for a new create." : hint
    case "PathNotFound":
      // A path that the user wrote is more likely to be wrong than the base URL.
      return operation === "raw"
        ? "Check the path and the ids in it; it begins below /myaccount/api/v1, such as /nodes/."
        : hint
    case "Unauthorized":
      return "See where the credentials come from: berth doctor; you make new ones in the account portal."
    case "NodeNotFound":
      return "List the nodes: berth node list"
    case "StatusNotReached":
      return reason.impossible
        ? `It will not become ${reason.wanted} by itself; look at it: berth node get ${reason.nodeId}`
        : goOnWaiting(reason.nodeId, reason.wanted, error)
    case "Forbidden":
      return hint.replace("userAgent or", "--user-agent or")
    case "OutcomeUnknown":
      if (reason.toldId !== null) {
        const { candidates, difference, toldId } = reason
        // If the reply states several nodes, it is unknown which one the create made.
        const [see, again] =
          difference === null && candidates.length > 1
            ? [`See them: berth node get ${candidates.join(" ")}`, "none of them is"]
            : [`See it: berth node get ${toldId}`, "that one is not"]
        return reason.keyed
          ? `${see}; nothing is sent again under its key: for another node use another --idempotency-key.`
          : `${see}; create it again only if ${again} yours.`
      }
      if (reason.keyed || mayBeUnlisted(reason)) return hint
      return reason.candidates.length === 0
        ? `Read the list in eleven minutes: berth node list --name ${quoted(reason.nodeName)}; the service may create the node until then, and not later.`
        : `Look at the candidates: berth node get ${reason.candidates.join(" ")}; one of them may be ${reason.nodeName}.`
    case "StateUnavailable":
      return stateHint(reason)
    case "Unreachable":
      if (reason.fault !== "network") return hint
      return reason.sent === "no" || isRead(operation) ? "Check the address and the network: berth doctor" : hint
    case "TimedOut":
      return isRead(operation) ? "Try again, or allow more time: --deadline 2m" : hint
    case "UnexpectedResponse":
      // The limits are options of programs, and no flag raises them.
      if (!/max(?:Nodes|Body\w+)/.test(reason.expected))
        return hint.replace("Report", "Look at the reply with berth api, and report")
      return readLess[operation] ?? notTheService
    case "PreconditionFailed":
      return hint.replace("slugs.", "slugs: berth plan get PLAN shows them.")
    case "RateLimited":
    case "WouldExceedDeadline":
      return `${hint} See: berth limits`
    default:
      return hint
  }
}
