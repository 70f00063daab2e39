/**
 * Why a node was deleted. Polling shows only that a node is gone, but `berth` records who asked for a deletion, and which
 * commitment or lease ended. Pure.
 */
import { createdMillisOf, type Node } from "@berthkit/core/domain/Node"
import { type Change, settingIn } from "@berthkit/core/client/state/Change"
import { DateTime, Option, Schema } from "effect"

export const causes = ["requested", "commitment", "lease", "unknown"] as const
export type Cause = (typeof causes)[number]

const text = (description: string) => Schema.NullOr(Schema.String).annotate({ description })

/** The cause of a deletion, as fields of its event. */
export const causeFields = {
  cause: Schema.Literals(causes).annotate({
    description:
      "`requested`: somebody asked for it with berth or with a program. `lease`: berth ended the lease of the node. " +
      "`commitment`: the node was to end with its commitment. `unknown`: nobody noted any of these, so the deletion may be " +
      "unexpected."
  }),
  causedBy: Schema.NullOr(
    Schema.Struct({
      at: Schema.DateTimeUtc.annotate({
        description: "When somebody asked for it."
      }),
      command: text("The command of berth, such as `node delete`, or the file name of the program."),
      fleet: text("The fleet whose file requested it."),
      lease: text("The lease of `berth run` that ended."),
      user: text("The user who ran the command."),
      host: text("The machine on which it ran."),
      job: text("The job of a CI system that ran it.")
    })
  ).annotate({
    description:
      "Who asked for it, or set the end of the commitment; null if the cause is unknown. Fields that berth does not know are null."
  })
}
const Explained = Schema.Struct(causeFields)
export type Explained = typeof Explained.Type

export const unexplained: Explained = { cause: "unknown", causedBy: null }

/** A deletion that was observed. */
export interface Deletion {
  readonly before: Node
  readonly fromMillis: number
  readonly toMillis: number
}

/** What `berth` recorded about a commitment that ends with the deletion of the node. */
export interface Ending {
  readonly setMillis: number
  /** The end of the period; null if `berth` does not know it. */
  readonly untilMillis: number | null
}

/** The clocks of the machines that share the log, and the service's clock, may differ by this much. */
const clockToleranceMillis = 15 * 60_000

/**
 * The service deletes within minutes. A delete with an unknown outcome does not explain the deletion if the node was
 * still alive this long after it.
 */
const unknownMillis = 3_600_000

const millisOf = (at: string): number =>
  Option.match(DateTime.make(at), { onNone: () => Number.NaN, onSome: DateTime.toEpochMillis })

/** Whether a record from this time is about this node, and not about an earlier node with the same id. */
const isInLife = ({ before }: Deletion, millis: number): boolean =>
  millis >= (createdMillisOf(before) ?? -Infinity) - clockToleranceMillis

const noted = ({ command, fleet, host, job, lease, user }: Change, atMillis: number): Explained["causedBy"] => ({
  at: DateTime.makeUnsafe(atMillis),
  command,
  fleet,
  lease,
  user,
  host,
  job
})

/** The delete that explains the deletion. A delete that is known to have succeeded is preferred to one without a reply. */
const deleteOf = (deletion: Deletion, changes: ReadonlyArray<Change>): Change | undefined => {
  const { before, fromMillis } = deletion
  const found = changes.filter(({ action, at, node, outcome }) => {
    const millis = millisOf(at)
    if (action !== "delete" || node !== before.id || outcome === "failed" || !isInLife(deletion, millis)) return false
    return outcome !== "unknown" || before.status === "terminate" || millis >= fromMillis - unknownMillis
  })
  return found.find(({ outcome }) => outcome !== "unknown") ?? found[0]
}

/** Whether the service may have deleted the node at the end of its commitment. */
const isEnded = (deletion: Deletion, { setMillis, untilMillis }: Ending): boolean =>
  isInLife(deletion, setMillis) && (untilMillis === null || deletion.toMillis >= untilMillis - clockToleranceMillis)

/** The setting at which the service deletes the node when the period ends. */
const terminating = "auto_terminate"

/** The changes that set what happens at the end of the node's commitment, newest first. The node's create may have set it. */
const settingsOf = (deletion: Deletion, changes: ReadonlyArray<Change>) =>
  changes.flatMap((change) => {
    const atMillis = millisOf(change.at)
    const setting = settingIn(change)
    const isOfNode = change.node === deletion.before.id && isInLife(deletion, atMillis)
    return setting !== undefined && isOfNode && change.outcome !== "failed" ? [{ change, atMillis, setting }] : []
  })

/** The create of the node. */
const createOf = (deletion: Deletion, changes: ReadonlyArray<Change>): Change | undefined =>
  changes.find(
    ({ action, at, node }) => action === "create" && node === deletion.before.id && isInLife(deletion, millisOf(at))
  )

/**
 * Explains the deletion by a delete in the log; undefined if there is none. `changes`: recent entries of the log, newest
 * first.
 */
export const explainByDelete = (deletion: Deletion, changes: ReadonlyArray<Change>): Explained | undefined => {
  const sent = deleteOf(deletion, changes)
  if (sent === undefined) return undefined
  return { cause: sent.lease === null ? "requested" : "lease", causedBy: noted(sent, millisOf(sent.at)) }
}

/**
 * Explains the deletion by the end of the node's commitment; undefined if it cannot. `changes`: the log,
 * newest first. `ending`: the end that `berth` has recorded, if any. Programs write only to the log.
 */
export const explainByCommitment = (
  deletion: Deletion,
  changes: ReadonlyArray<Change>,
  ending: Ending | undefined
): Explained | undefined => {
  const settings = settingsOf(deletion, changes)
  // A newer setting without a reply may not have been accepted.
  const last = settings.find(({ change, setting }) => setting === terminating || change.outcome !== "unknown")
  if (last !== undefined && last.setting !== terminating && last.atMillis > (ending?.setMillis ?? -Infinity))
    return undefined
  const found = ending ?? (last === undefined ? undefined : { setMillis: last.atMillis, untilMillis: null })
  if (found === undefined || !isEnded(deletion, found)) return undefined
  const set = settings.find(({ setting }) => setting === terminating)
  // The log has the store's time; the commitment has the time of the machine that set it.
  const atMillis = set?.atMillis ?? found.setMillis
  const by = set?.change ?? createOf(deletion, changes)
  const nobody = { command: null, fleet: null, lease: null, user: null, host: null, job: null }
  const causedBy = by === undefined ? { at: DateTime.makeUnsafe(atMillis), ...nobody } : noted(by, atMillis)
  return { cause: "commitment", causedBy }
}
