/**
 * Why a node was deleted. Polling shows only that a node is gone, but `berth` records who asked for a deletion, and which
 * commitment or lease ended. Pure.
 */
import { createdMillisOf, type Node } from "@berthkit/core/domain/Node"
import type { Change } from "@berthkit/core/client/state/Change"
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
      fleet: text("The fleet whose file asked for it."),
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

/** What `berth` recorded about a commitment at whose end the service deletes the node. */
export interface Ending {
  readonly setMillis: number
  /** The end of the period; null if `berth` does not know it. */
  readonly untilMillis: number | null
}

/** The clocks of the machines that share the log, and the service's clock, may differ by this much. */
const clockToleranceMillis = 15 * 60_000

/**
 * The service deletes within minutes. If the node was still seen alive this long after a delete with an unknown outcome, that
 * delete does not explain the deletion.
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

/** The change that made the node end with its commitment. This may be the node's create. */
const settingOf = (deletion: Deletion, changes: ReadonlyArray<Change>): Change | undefined =>
  changes.find(
    ({ action, at, asked, node, outcome }) =>
      node === deletion.before.id &&
      outcome !== "failed" &&
      isInLife(deletion, millisOf(at)) &&
      (action === "create" || (action === "commitment" && asked.startsWith("auto_terminate")))
  )

/**
 * Explains a deletion. `changes`: the log of changes, newest first. `ending`: the recorded end of the node's commitment, if
 * there is one.
 */
export const explain = (deletion: Deletion, changes: ReadonlyArray<Change>, ending: Ending | undefined): Explained => {
  const sent = deleteOf(deletion, changes)
  if (sent !== undefined) {
    return { cause: sent.lease === null ? "requested" : "lease", causedBy: noted(sent, millisOf(sent.at)) }
  }
  if (ending === undefined || !isEnded(deletion, ending)) return unexplained
  const { setMillis } = ending
  const setting = settingOf(deletion, changes)
  const nobody = { command: null, fleet: null, lease: null, user: null, host: null, job: null }
  return {
    cause: "commitment",
    causedBy: setting === undefined ? { at: DateTime.makeUnsafe(setMillis), ...nobody } : noted(setting, setMillis)
  }
}
