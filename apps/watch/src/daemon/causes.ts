/**
 * Reads why nodes were deleted from what berth keeps of the account: its log of changes, and the commitments that it set. Both are read
 * after a deletion only. The daemon writes neither.
 */
import { changeKind, readChanges } from "@berthkit/core/client/state/Change"
import type { RecordStore } from "@berthkit/core/client/state/RecordStore"
import { Clock, Effect, Option, Schema } from "effect"
import { type Deletion, type Ending, explain, type Explained, unexplained } from "../diff/Cause.ts"
import { report } from "../process/report.ts"

const Commitment = Schema.fromJsonString(
  Schema.Struct({
    version: Schema.Literal(1),
    id: Schema.Int,
    entry: Schema.NullOr(
      Schema.Struct({
        setMillis: Schema.Int,
        setting: Schema.NullOr(Schema.String),
        untilMillis: Schema.NullOr(Schema.Int)
      })
    ),
    open: Schema.NullOr(Schema.Struct({ sentMillis: Schema.Int, setting: Schema.String }))
  })
)
const decode = Schema.decodeUnknownOption(Commitment)

const terminating = "auto_terminate"

/** When the service deletes the node, if that was set. A setting without a reply counts: it may have been carried out. */
const endingOf = ({ entry, open }: typeof Commitment.Type): Ending | undefined => {
  if (entry?.setting === terminating) return entry
  return open?.setting === terminating ? { setMillis: open.sentMillis, untilMillis: null } : undefined
}

/** Longest time for reading. The deletion is reported only afterwards. */
const maxRead = "3 seconds"

/** After a failure, nothing is read for this long, so that a database that is away does not hold up every deletion. */
const pauseMillis = 30_000

/** Returns a function that explains deletions of the account. Without a store, or if it cannot be read, their cause is unknown. */
export const makeExplain = (account: string, records: Pick<RecordStore, "list"> | undefined) => {
  let failedMillis: number | null = null
  let isReported = false

  const warn = Effect.fnUntraced(function* (why: string) {
    if (isReported) return
    isReported = true
    yield* report(`berth-watch: account ${account}: What berth changed cannot be read: ${why}`)
  })

  const read = Effect.fnUntraced(function* (deletions: ReadonlyArray<Deletion>, { list }: Pick<RecordStore, "list">) {
    const [found, commitments] = yield* Effect.all([list(changeKind), list("commitment")], { concurrency: 2 })
    const changes = readChanges(found)
    const endings = new Map(
      commitments.flatMap(({ value }) =>
        Option.match(decode(value), { onNone: () => [], onSome: (each) => [[each.id, endingOf(each)] as const] })
      )
    )
    const damaged = found.length - changes.length
    const explained = deletions.map((each) => explain(each, changes, endings.get(each.before.id)))
    return { damaged, explained }
  })

  return Effect.fnUntraced(function* (deletions: ReadonlyArray<Deletion>): Effect.fn.Return<ReadonlyArray<Explained>> {
    const unknown = deletions.map(() => unexplained)
    const nowMillis = yield* Clock.currentTimeMillis
    if (records === undefined || deletions.length === 0) return unknown
    if (failedMillis !== null && Math.abs(nowMillis - failedMillis) < pauseMillis) return unknown
    const result = yield* Effect.result(Effect.timeoutOption(read(deletions, records), maxRead))
    if (result._tag === "Success" && Option.isSome(result.success)) {
      const { damaged, explained } = result.success.value
      failedMillis = null
      if (damaged > 0 && explained.includes(unexplained))
        yield* warn(`${damaged} records are damaged. See: berth doctor`)
      else isReported = false
      return explained
    }
    failedMillis = nowMillis
    yield* warn(
      result._tag === "Failure" ? `${result.failure.detail}. ${result.failure.hint}` : `no answer within ${maxRead}.`
    )
    return unknown
  })
}
