/**
 * Finds out why nodes were deleted, from two records of `berth` about the account: its log of changes, and the commitments that it set.
 * Both are read only after a deletion. The daemon writes neither.
 */
import { readChanges } from "@berthkit/core/client/state/Change"
import { changeKind } from "@berthkit/core/client/state/noteChanges"
import { keyAt, type RecordStore } from "@berthkit/core/client/state/RecordStore"
import { Clock, Effect, Option, Schema } from "effect"
import {
  type Deletion,
  type Ending,
  explainByCommitment,
  explainByDelete,
  type Explained,
  unexplained
} from "../diff/Cause.ts"
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

/**
 * The end of a commitment at which the service deletes the node; undefined if the node stays. A setting whose request got no
 * reply counts, because the service may have carried it out.
 */
const endingOf = ({ entry, open }: typeof Commitment.Type): Ending | undefined => {
  if (entry?.setting === terminating) return entry
  return open?.setting === terminating ? { setMillis: open.sentMillis, untilMillis: null } : undefined
}

const endingsIn = (commitments: ReadonlyArray<typeof Commitment.Type>): ReadonlyMap<number, Ending> =>
  new Map(
    commitments.flatMap((each) => {
      const ending = endingOf(each)
      return ending === undefined ? [] : [[each.id, ending] as const]
    })
  )

/** The kind of records with the commitments. */
const commitmentKind = "commitment"

/** If there are more nodes than this, the commitments of all nodes are read at once. */
const maxSingle = 20

/** Reads the log from this long before the node was last seen, because the whole log takes a quarter of a second. */
const dayMillis = 86_400_000

type Notes = Pick<RecordStore, "get" | "list" | "placeOf">

/** Maximum time for reading. The event about the deletion waits for it. */
const maxRead = "3 seconds"

/** After a failure, nothing is read for this long. Otherwise a database that cannot be reached would hold up every deletion. */
const pauseMillis = 30_000

/**
 * Returns a function that explains deletions of the account. The causes are unknown if there are no records, or they cannot be
 * read.
 */
export const makeExplain = (account: string, records: Notes | undefined) => {
  let failedMillis: number | null = null
  let isReported = false

  const warn = Effect.fnUntraced(function* (why: string) {
    if (isReported) return
    isReported = true
    yield* report(`berth-watch: account ${account}: What berth changed cannot be read: ${why}`)
  })

  const read = Effect.fnUntraced(function* (deletions: ReadonlyArray<Deletion>, { get, list, placeOf }: Notes) {
    const firstMillis = Math.min(...deletions.map(({ fromMillis }) => fromMillis)) - dayMillis
    const recent = yield* list(changeKind, keyAt(firstMillis))
    const changes = readChanges(recent)
    const explained = deletions.map((each) => explainByDelete(each, changes))
    const left = deletions.filter((_, at) => explained[at] === undefined).map(({ before }) => String(before.id))
    if (left.length === 0) return { damaged: null, explained: explained.map((each) => each ?? unexplained) }
    // Treat a record that cannot be read as damaged. It affects only the cause of its own node.
    const getOne = (key: string) =>
      Effect.orElseSucceed(get(commitmentKind, key), () => Option.some("")).pipe(
        Effect.map(Option.map((value) => ({ key, value })))
      )
    const found =
      left.length > maxSingle
        ? yield* list(commitmentKind)
        : (yield* Effect.forEach(left, getOne)).flatMap(Option.toArray)
    const endings = endingsIn(found.flatMap(({ value }) => Option.toArray(decode(value))))
    const [damaged = null] = yield* Effect.all([
      ...recent.filter((record) => readChanges([record]).length === 0).map(({ key }) => placeOf(changeKind, key)),
      ...found.filter(({ value }) => Option.isNone(decode(value))).map(({ key }) => placeOf(commitmentKind, key))
    ])
    // Read the whole log, because the commitment may have been set long ago.
    const all = readChanges(yield* list(changeKind))
    return {
      damaged,
      explained: explained.map((known, at) => {
        const deletion = deletions[at]!
        return known ?? explainByCommitment(deletion, all, endings.get(deletion.before.id)) ?? unexplained
      })
    }
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
      if (damaged === null) isReported = false
      else if (explained.includes(unexplained)) yield* warn(`${damaged} is damaged.`)
      return explained
    }
    failedMillis = nowMillis
    yield* warn(
      result._tag === "Failure" ? `${result.failure.detail}. ${result.failure.hint}` : `no answer within ${maxRead}.`
    )
    return unknown
  })
}
