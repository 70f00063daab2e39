/**
 * An entry of the log of changes: who requested which change of which node, when, and the outcome. The entries are records of the kind
 * `change` in the account's state. `noteChanges.ts` writes the log. The daemon reads it to say why a node was deleted.
 */
import { DateTime, Option, Schema, Struct } from "effect"
import { commitmentSettings } from "../../domain/Commitment.ts"
import { millisOfKey, type StateRecord } from "./RecordStore.ts"

const actions = ["create", "delete", "commitment", "request"] as const
const outcomes = ["created", "adopted", "deleted", "set", "sent", "failed", "unknown"] as const

export const Change = Schema.Struct({
  at: Schema.String.annotate({ description: "When it was noted, in UTC, by the clock of the store." }),
  action: Schema.Literals(actions).annotate({ description: "`request`: any other request that berth api sent." }),
  node: Schema.NullOr(Schema.Int).annotate({ description: "Id of the node; null while it is unknown." }),
  name: Schema.NullOr(Schema.String).annotate({ description: "Name of a node that was to be created." }),
  asked: Schema.String.annotate({ description: "What was requested, such as the plan and the image." }),
  outcome: Schema.Literals(outcomes).annotate({
    description:
      "`adopted`: an earlier create with the key had made the node; `unknown`: no reply reported its outcome."
  }),
  why: Schema.NullOr(Schema.String).annotate({ description: "Why it failed, or why the outcome is unknown." }),
  command: Schema.String.annotate({ description: "The command of berth, or the file name of a program." }),
  fleet: Schema.NullOr(Schema.String).annotate({ description: "The fleet whose file requested it." }),
  lease: Schema.NullOr(Schema.String).annotate({ description: "The lease of `berth run` that it ended." }),
  user: Schema.NullOr(Schema.String),
  host: Schema.String,
  job: Schema.NullOr(Schema.String).annotate({ description: "The job of a CI system that ran the command." })
})
export interface Change extends Schema.Schema.Type<typeof Change> {}

const settingOfCreate = new RegExp(` with (${commitmentSettings.join("|")})$`)

/** What a change set for the end of the node's commitment, such as `auto_terminate`; undefined if it set nothing. */
export const settingIn = ({ action, asked }: Change): string | undefined => {
  if (action === "commitment") return asked.split(" ", 1)[0]
  return action === "create" ? settingOfCreate.exec(asked)?.[1] : undefined
}

const Stored = Schema.fromJsonString(
  Schema.Struct({ version: Schema.Literal(1), ...Struct.omit(Change.fields, ["at"]) })
)
const decode = Schema.decodeUnknownOption(Stored)

/** The readable changes, newest first. The time of a change is in its key: the clocks of the machines that share a database may differ. */
export const readChanges = (records: ReadonlyArray<StateRecord>): ReadonlyArray<Change> =>
  records
    .flatMap(({ key, value }) => {
      const at = DateTime.make(millisOfKey(key))
      return Option.toArray(
        Option.map(Option.all([at, decode(value)]), ([at, change]): Change => ({
          at: DateTime.formatIso(at),
          ...change
        }))
      )
    })
    .toReversed()
