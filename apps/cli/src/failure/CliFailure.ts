/**
 * Failures of commands that do not come from the service: an impossible command line, a missing setting, a partial failure. Each failure
 * has its exit code and the `details` of `-o json`. Failures of the service and of the connection are core's `BerthError`s.
 */
import type { BerthError } from "@berthkit/core/domain/BerthError"
import { mayBeUnlisted } from "@berthkit/core/domain/ErrorReason"
import type { Exit } from "@berthkit/terminal/exitCode"
import { didYouMean, nearest } from "@berthkit/terminal/usage"
import { Data } from "effect"
import { quoted } from "@berthkit/terminal/quoted"
import { goOnWaiting, isBeingDeleted, isBilled } from "./callInWords.ts"

/** The wording of a failure: a sentence, and what to do next. */
interface Words {
  readonly message: string
  readonly hint: string
}

/** The command line asks for something impossible. Nothing was changed. */
export class UsageFault extends Data.TaggedError("UsageFault")<Words> {
  readonly exit = "usage"
}

/** The service states more elements or pages of a list than it shows. */
export class PagesEndEarly extends Data.TaggedError("PagesEndEarly")<{
  readonly what: "elements" | "pages"
  readonly stated: number
  readonly read: number
}> {
  readonly exit = "unavailable"
  readonly details = { what: this.what, stated: this.stated, read: this.read }
  readonly hint = "Run the same command again. If the number stays different, the service does not show the whole list."
  override readonly message =
    this.what === "elements"
      ? `The service states ${this.stated} elements (total_count), and its pages have ${this.read}.`
      : `The service states ${this.stated} pages (total_page_number), and shows ${this.read}.`
}

/** The service refuses a page after others. The service may end its lists in this way, or refuse only that page. */
export class PageRefused extends Data.TaggedError("PageRefused")<{
  readonly page: number
  readonly error: BerthError
}> {
  readonly exit = this.error.reason.exit
  readonly hint = `The service refused page ${this.page}, perhaps because the list ends before it. Read the others one by one: -q page_no=${this.page - 1} without --paginate.`
  override readonly message = this.error.message
}

/** A name or pattern that matches no node. */
export class NameNotFound extends Data.TaggedError("NameNotFound")<{
  readonly name: string
  /** Names of nodes as they were last read, to suggest the nearest. */
  readonly names?: ReadonlyArray<string>
  /**
   * The argument that gives the text its other meaning: a name instead of a pattern, or a pattern instead of a name.
   */
  readonly other?: { readonly name: string } | { readonly pattern: string } | undefined
}> {
  readonly exit = "notFound"
  readonly details = { node: { id: null, name: this.name } }
  get hint() {
    const list = "List the nodes: berth node list"
    if (this.other === undefined) return list
    return "name" in this.other
      ? `${list}; for a node with exactly this name write ${quoted(this.other.name)}`
      : `${list}; for a pattern write ${quoted(this.other.pattern)}`
  }
  override get message() {
    // The names may be outdated. If exactly this name is among them, the node with that name is gone.
    const names = (this.names ?? []).filter((name) => name !== this.name)
    const near = new Set(nearest(this.name, names))
    return `No node matches ${this.name}${didYouMean(Array.from(near))}`
  }
}

/** The end of the list is uncertain, so a node of that name may be missing from it. */
export class ListNotWhole extends Data.TaggedError("ListNotWhole")<{
  /** The name or pattern; absent if there were several. */
  readonly given?: string | undefined
  /** Whether the command looks for no name but needs the whole list; default false. */
  readonly all?: boolean
  /** Whether the command creates a node only if none has the name; default false. */
  readonly ifAbsent?: boolean
  /** What to do next; by default a sentence for the fields above. */
  readonly next?: string
}> {
  readonly exit = "unavailable"
  readonly details = this.given === undefined ? {} : { node: { id: null, name: this.given } }
  readonly hint =
    this.next ??
    (this.all === true
      ? "Nothing was changed. If the list is usually whole, run it again in a minute. If it never is, a fleet cannot be used with this service: look in the account portal, and change single nodes: berth node create NAME, berth node delete ID"
      : this.ifAbsent === true
        ? "Nothing was created. Look for the name in the service's console. If no node has it, create one without --if-absent."
        : "Name the node by its id, which needs no list: berth node list shows the ids, and the account portal those that the list may lack.")
  override get message() {
    if (this.all === true)
      return "Berth cannot tell which nodes exist: the service's list cannot be read to its end, or counts more nodes than it contains."
    const node = this.given === undefined ? "which nodes have a name" : `whether a node matches ${this.given}`
    return `Berth cannot tell ${node}: the service's list cannot be read to its end, or counts more nodes than it contains.`
  }
}

/** A name that several nodes have, or that may be meant as a pattern. */
export class NameAmbiguous extends Data.TaggedError("NameAmbiguous")<{
  readonly name: string
  readonly candidates: ReadonlyArray<{ readonly id: number; readonly status: string }>
  /** Whether the argument may be meant as a pattern; default false. */
  readonly isPattern?: boolean
}> {
  readonly exit = "usage"
  readonly details = { name: this.name, candidates: this.candidates }
  get hint() {
    if (this.isPattern !== true) return "Name one of them by its id."
    const [name, pattern] = [quoted(`name:${this.name}`), quoted(`pattern:${this.name}`)]
    return `For the node with exactly this name write ${name}, for all that match write ${pattern}.`
  }
  override get message() {
    const shown = this.candidates.slice(0, 10).map(({ id, status }) => `${id} (${status})`)
    const nodes = `${shown.join(", ")}${this.candidates.length > shown.length ? ", …" : ""}`
    if (this.isPattern === true) return `${this.name} is both a pattern and the name of a node: ${nodes}.`
    return `${this.candidates.length} nodes are named ${this.name}: ${nodes}.`
  }
}

/** A node found by its name has another name in its own record. */
export class NameChanged extends Data.TaggedError("NameChanged")<{
  /** The argument that names the node. */
  readonly given: string
  readonly id: number
  /** The name that was read last. */
  readonly has: string
}> {
  readonly exit = "rejected"
  readonly details = { name: this.given, node: { id: this.id, name: this.has } }
  readonly hint = `Look at it with berth node get ${this.id}, and use its id to name it.`
  override readonly message = `Node ${this.id} was listed as ${this.given}, but its name is ${this.has}: it may be another node.`
}

/** A node of the name exists, but differs from the requested one. */
export class NodeDiffers extends Data.TaggedError("NodeDiffers")<{
  readonly name: string
  readonly id: number
  /** The field that differs: its value in the node (null if unknown), and the requested value. */
  readonly field: "plan" | "image"
  readonly has: string | null
  readonly wanted: string
}> {
  readonly exit = "rejected"
  readonly details = { node: { id: this.id, name: this.name }, field: this.field, has: this.has, wanted: this.wanted }
  // Berth does not know whose node it is, so it does not suggest a delete.
  readonly hint = `Choose another name, or see what the node is: berth node get ${this.id}`
  override readonly message =
    this.has === null
      ? `Node ${this.name} (${this.id}) exists, and it is not known whether its ${this.field} is ${this.wanted}.`
      : `Node ${this.name} (${this.id}) exists with the ${this.field} ${this.has}, not ${this.wanted}.`
}

/**
 * The whole name of an existing node is the beginning of the requested name. The node may be the requested one, because
 * some services cut long names.
 */
export class NameMayBeCut extends Data.TaggedError("NameMayBeCut")<{
  readonly name: string
  readonly id: number
  readonly has: string
}> {
  readonly exit = "rejected"
  readonly details = { node: { id: this.id, name: this.has }, wanted: this.name }
  readonly hint = `Use the name that the node has, or a shorter one: berth node get ${this.id}`
  override readonly message = `Node ${this.has} (${this.id}) may be ${this.name}: its name is the beginning of that, and services may cut names.`
}

/** A failed call about a node. */
interface FailedCall {
  readonly id: number
  readonly error: BerthError
}

/** The wait for a node that this command created has failed. The node exists, or existed before. */
export class CreatedNotReady extends Data.TaggedError("CreatedNotReady")<FailedCall> {
  readonly exit = this.error.reason.exit
  get hint() {
    const { reason } = this.error
    const next =
      reason._tag === "StatusNotReached" && reason.impossible
        ? `See it: berth node get ${this.id}`
        : goOnWaiting(this.id, undefined, this.error)
    return `${next}; to remove it: berth node delete ${this.id}`
  }
  override get message() {
    // A minute has passed since the create, so a node that is not found is gone, not too new to be visible.
    const isGone = this.error.reason._tag === "NodeNotFound"
    return `${this.error.message} ${isGone ? "It was created, and is gone or cannot be seen." : isBilled}`
  }
}

/** A node whose ssh server did not answer in time. */
interface SilentNode {
  readonly id: number
  readonly name: string
  /** Null if the node has no address. */
  readonly address: string | null
  readonly port: number
  readonly waitedMillis: number
}

/** The known facts, as a sentence. */
export const silentText = ({ address, id, name, port, waitedMillis }: SilentNode): string =>
  address === null
    ? `Node ${name} (${id}) runs, and has no address at which ssh could answer.`
    : `Node ${name} (${id}) runs, but no ssh server has answered at ${address}, port ${port}, within ${Math.round(waitedMillis / 1000)} seconds.`

/** A created node runs, but its ssh server did not answer in time. */
export class SshSilent extends Data.TaggedError("SshSilent")<SilentNode> {
  readonly exit = "unavailable"
  readonly details = { node: { id: this.id, name: this.name } }
  readonly hint = `Check that its image starts sshd and that its security group lets this machine in. Try again: berth node ssh ${this.id}; to remove it: berth node delete ${this.id}`
  override readonly message = `${silentText(this)} ${isBilled}`
}

/** The wait for a node's deletion has failed, but the node is being deleted. */
export class DeletedNotGone extends Data.TaggedError("DeletedNotGone")<FailedCall> {
  readonly exit = this.error.reason.exit
  readonly hint = goOnWaiting(this.id, "deleted", this.error)
  override readonly message = `${this.error.message} ${isBeingDeleted}`
}

/** A node without the public address that a command needs. */
export class NoAddress extends Data.TaggedError("NoAddress")<{
  readonly id: number
  readonly name: string
  readonly isRunning: boolean
}> {
  readonly exit = "notFound"
  readonly details = { node: { id: this.id, name: this.name } }
  readonly hint = this.isRunning
    ? `See which addresses it has: berth node get ${this.id}`
    : `Wait until it runs: berth node wait ${this.id}`
  override readonly message = `Node ${this.name} (${this.id}) has no public address.`
}

/** A create with a key that berth chose has failed. */
export class CreateFailed extends Data.TaggedError("CreateFailed")<Words & { readonly error: BerthError }> {
  readonly exit = this.error.reason.exit
}

/** The node of a lease was created but did not start, so the command of `berth run` was not run. */
export class LeasedNodeNotReady extends Data.TaggedError("LeasedNodeNotReady")<FailedCall> {
  readonly exit = this.error.reason.exit
  readonly hint = "Run the same command again; a node that takes longer to start needs --timeout 20m."
  override readonly message = `${this.error.message} The command was not started, and berth deletes the node.`
}

/** The time of a lease was over before the command had ended. */
export class LeaseOver extends Data.TaggedError("LeaseOver")<{
  /** Null if the node was not created yet. */
  readonly id: number | null
  readonly ttlMillis: number
}> {
  readonly exit = "unavailable"
  readonly details = { node: { id: this.id, name: null } }
  readonly hint = "Give it more time, such as --ttl 4h."
  override get message() {
    const what = this.id === null ? "The run was stopped" : `The command was stopped, and node ${this.id} is deleted`
    return `${what}: --ttl is ${this.ttlMillis / 1000} seconds.`
  }
}

/** A node with a lease's id is not the leased node. */
export class LeasedNodeDiffers extends Data.TaggedError("LeasedNodeDiffers")<{
  readonly id: number
  readonly name: string
  /** The current name of the node. */
  readonly has: string
}> {
  readonly exit = "rejected"
  readonly details = { node: { id: this.id, name: this.has }, name: this.name }
  readonly hint = `See it: berth node get ${this.id}; if it is yours to delete: berth node delete ${this.id}, and then berth reap`
  override get message() {
    const what = this.has === this.name ? "was created at another time" : `has the name ${this.has}`
    return `Node ${this.id} is not the leased node ${this.name}: it ${what}. It was not deleted.`
  }
}

/** What it costs to leave the node as it is, as a sentence to append; empty if unknown. */
const leftCosts = (perHourInr: number | null): string =>
  perHourInr === null ? "" : ` Leaving it costs ₹${perHourInr.toFixed(2)} per hour.`

/** The service accepted the delete of a leased node, but the node stays. */
export class LeasedNodeStays extends Data.TaggedError("LeasedNodeStays")<{
  readonly id: number
  readonly name: string
  /** Null if unknown. */
  readonly perHourInr: number | null
}> {
  readonly exit = "unavailable"
  readonly details = { node: { id: this.id, name: this.name } }
  readonly hint = `Try again: berth node delete ${this.id}, or berth reap`
  override readonly message = `Node ${this.name} (${this.id}) is still there although the service accepted its delete; it is billed.${leftCosts(this.perHourInr)}`
}

/** The node of a lease was not deleted, because a call failed or no node is proved to be the lease's. The lease stays. */
export class LeasedNodeNotDeleted extends Data.TaggedError("LeasedNodeNotDeleted")<{
  /** Null if it is unknown which node the create made. */
  readonly id: number | null
  readonly name: string
  /** Null if unknown. */
  readonly perHourInr: number | null
  readonly error: BerthError
  /** How a person removes the lease, as the end of a sentence, such as `remove FILE`; undefined if it is gone. */
  readonly removal: string | undefined
  /** The longest time from now until the service can no longer make the node, in words, such as `eleven minutes`. */
  readonly wait: string
}> {
  readonly exit = this.error.reason.exit
  get hint() {
    const { error, id, name, removal, wait } = this
    const { reason } = error
    if (id !== null) return `Delete the node: berth node delete ${id}; once that works, also run: berth reap`
    const { because, candidates } = reason._tag === "OutcomeUnknown" ? reason : { because: "", candidates: [] }
    const end = removal === undefined ? "" : ` Then ${removal}.`
    if (reason._tag === "OutcomeUnknown" && mayBeUnlisted(reason)) {
      return `Look for ${name} in the service's console, and delete it if it is there.${end}`
    }
    if (candidates.length === 0) {
      return removal === undefined
        ? `Look for node ${name} now and in ${wait}, because the service may still create it until then: berth node list --name ${quoted(name)}`
        : `Run berth reap in ${wait}: it deletes the node, which the service may still create until then.`
    }
    const [only, ...others] = candidates
    const look = `berth node get ${candidates.join(" ")}`
    if (["RateLimited", "InvalidRequest"].includes(because)) {
      return `The service refused the create, so a node of that name is probably not its own. Look at each, and delete only your own: ${look}.${end}`
    }
    return others.length === 0
      ? `See whether it is yours: ${look}; if it is: berth node delete ${only}.${end}`
      : `See which node is yours: ${look}; delete only that node with berth node delete.${end}`
  }
  override get message() {
    const { error, id, name, perHourInr } = this
    return id === null
      ? `${error.message}${perHourInr === null ? "" : ` Its plan costs ₹${perHourInr.toFixed(2)} per hour.`} If node ${name} is there, it is billed.`
      : `Node ${name} (${id}) was not deleted, and is billed: ${error.message}${leftCosts(perHourInr)}`
  }
}

/** It is unknown whether an earlier create of a name made a node, so no other create of that name was sent. */
export class CreateUnknown extends Data.TaggedError("CreateUnknown")<{
  readonly name: string
  /** When the earlier create was sent, as ISO 8601. */
  readonly sentAt: string
  /** The caller's idempotency key; undefined if there was none. */
  readonly key: string | undefined
  /** The nodes that the earlier create may have made, as far as they are known. */
  readonly candidates: ReadonlyArray<number>
  /** The longest time from now until the service can no longer make the node, in words, such as `eleven minutes`. */
  readonly wait: string
}> {
  readonly exit = "outcomeUnknown"
  readonly details = { name: this.name, candidates: this.candidates }
  get hint() {
    const { candidates, key, name, wait } = this
    if (candidates.length > 0)
      return `Look at the candidates, of which one may be ${name}: berth node get ${candidates.join(" ")}`
    return key === undefined
      ? `Run the same command again, in ${wait} at the latest: the service may create ${name} until then, and not later.`
      : `Run the command with the key of that create, which finds its node: --idempotency-key ${key}`
  }
  override readonly message = `An earlier create of ${this.name}, sent at ${this.sentAt}, may have made a node: nothing was created now.`
}

/** A node in a sentence. Its name is null if no reply has told it. */
export const whoOf = ({ id, name }: { readonly id: number; readonly name: string | null }): string =>
  name === null ? `node ${id}` : `${name} (${id})`

/** It is unknown whether a commitment was set, because its reply was lost. The request is not repeated. */
export class CommitmentUnknown extends Data.TaggedError("CommitmentUnknown")<{
  readonly id: number
  readonly name: string | null
  /** Why the outcome is unknown. */
  readonly because: string
  readonly hint: string
}> {
  readonly exit = "outcomeUnknown"
  readonly details = { node: { id: this.id, name: this.name } }
  override readonly message = `The commitment of ${whoOf(this)} may be set: ${this.because.replace(/\.$/, "")}.`
}

/** The same commitment was set before. Nothing is sent, because a second request may buy another period. */
export class CommitmentBought extends Data.TaggedError("CommitmentBought")<{
  readonly id: number
  readonly name: string | null
  readonly message: string
  readonly hint: string
}> {
  readonly exit = "rejected"
  readonly details = { node: { id: this.id, name: this.name } }
}

/** A program that berth ran has ended and has reported its failure itself. */
export class ProgramEnded extends Data.TaggedError("ProgramEnded")<{ readonly code: number }> {}

/** How many nodes or members failed, and how many there are. Each failure is reported separately. */
interface Share {
  readonly failed: number
  readonly of: number
}

/** Some of several nodes failed. */
export class SomeFailed extends Data.TaggedError("SomeFailed")<Share> {
  readonly exit = "someFailed"
  readonly details = { failed: this.failed, of: this.of }
  readonly hint = "See the errors above."
  override readonly message = `${this.failed} of ${this.of} failed.`
}

/** Some members of a fleet failed. */
export class MembersFailed extends Data.TaggedError("MembersFailed")<Share> {
  readonly exit = "someFailed"
  readonly details = { failed: this.failed, of: this.of }
  readonly hint = "See the errors above; then run the same command again to continue."
  override readonly message = `${this.failed} of ${this.of} changes failed.`
}

/** A plan that the service does not list. */
export class PlanNotFound extends Data.TaggedError("PlanNotFound")<{
  readonly plan: string
  readonly plans: ReadonlyArray<string>
}> {
  readonly exit = "notFound"
  readonly details = { plan: this.plan }
  readonly hint = "List the plans: berth plan list"
  override readonly message = `The service lists no plan ${this.plan}${didYouMean(nearest(this.plan, this.plans))}`
}

/** A proposal that does not exist in this account. */
export class ProposalNotFound extends Data.TaggedError("ProposalNotFound")<{ readonly proposal: string }> {
  readonly exit = "notFound"
  readonly details = { proposal: this.proposal }
  readonly hint = "Ask the agent to propose it again; berth auth status shows which account this command uses."
  override readonly message = `This account has no proposal ${this.proposal}.`
}

/** A proposal that cannot be executed: it has expired, was declined, or has changed. Nothing was sent. */
export class ProposalRefused extends Data.TaggedError("ProposalRefused")<Words & { readonly proposal: string }> {
  readonly exit = "rejected"
  readonly details = { proposal: this.proposal }
}

/** A local file that cannot be read or written. */
export class LocalFileFault extends Data.TaggedError("LocalFileFault")<Words & { readonly path: string }> {
  readonly exit = "localFile"
  readonly details = { path: this.path }
}

/** The daemon did not answer, or refused the request. */
export class DaemonNotAsked extends Data.TaggedError("DaemonNotAsked")<
  Words & {
    readonly exit: Exit
    /** The status of its reply; null without one. */
    readonly httpStatus: number | null
  }
> {}

/** A fleet cannot be changed as its file says, because something outside the fleet is in the way or contradicts its ledger. */
export class FleetConflict extends Data.TaggedError("FleetConflict")<Words> {
  readonly exit = "rejected"
}

/** A step for one member was not done, or its result could not be confirmed or recorded. The message says which. */
export class FleetStep extends Data.TaggedError("FleetStep")<Words & { readonly member: string; readonly id: number }> {
  readonly exit = "rejected"
  readonly details = { member: this.member, node: { id: this.id, name: null } }
}

/** A purchase of the plan costs more than was shown. */
export class PriceRisen extends Data.TaggedError("PriceRisen")<{
  /** The subject of the message, for example `The price of the commitment auto_renew 30d`. */
  readonly what: string
  readonly shown: string
  /** Null if unknown. */
  readonly now: string | null
}> {
  readonly exit = "rejected"
  readonly details = { shown: this.shown, now: this.now }
  readonly hint = "Run the same command again: it shows the current price."
  override readonly message = `${this.what} is ${this.now ?? "not known"} now, and ${this.shown} was shown: nothing was bought.`
}

/** The user answered no or stopped the command. */
export class Interrupted extends Data.TaggedError("Interrupted")<
  Words & {
    /** The changes so far, for a program; default none. */
    readonly details?: Readonly<Record<string, unknown>> | undefined
  }
> {
  readonly exit = "interrupted"
}
