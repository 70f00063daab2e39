/**
 * Whether `--columns`, `--sort` and `--query` mean something for what a command prints: before it begins, so that no command changes
 * something and then fails for want of a column.
 */
import { Effect, Result } from "effect"
import { UsageFault } from "../failure/CliFailure.ts"
import type { FlagHelp } from "../commandLine/CommandHelp.ts"
import { globalFlags } from "../commandLine/globalFlags.ts"
import { type Words, wordsOf } from "../commandLine/words.ts"
import { selectFields, sorted } from "../output/Selection.ts"
import { type AnyRecord, recordNamed } from "./recordList.ts"

/** Fails where none of the records takes the words. */
const anyTakes = (
  records: ReadonlyArray<AnyRecord>,
  take: (record: AnyRecord) => Result.Result<unknown, UsageFault>
): Effect.Effect<void, UsageFault> => {
  const taken = records.map(take)
  const [first] = taken.filter(Result.isFailure)
  return first !== undefined && taken.every(Result.isFailure) ? Effect.fail(first.failure) : Effect.void
}

/** Checks the arguments of a command that prints these records. */
export const checkSelection = Effect.fnUntraced(function* (
  prints: ReadonlyArray<string>,
  { flags }: Words
): Effect.fn.Return<void, UsageFault> {
  const valueOf = (flag: FlagHelp) => flags.get(flag)?.[0]
  const [columns, sort, query] = [valueOf(globalFlags.columns), valueOf(globalFlags.sort), valueOf(globalFlags.query)]
  if (prints.length > 0 && query !== undefined) {
    const { checkQuery } = yield* Effect.promise(() => import("../output/query.ts"))
    yield* checkQuery(query)
  }
  if (columns === undefined && sort === undefined) return
  const records = yield* Effect.promise(() => Promise.all(prints.map(recordNamed)))
  if (columns !== undefined && records.every(({ hasMoreFields }) => hasMoreFields !== true)) {
    yield* anyTakes(records, ({ fields }) => selectFields(fields([]), wordsOf(columns)))
  }
  if (sort !== undefined) {
    yield* anyTakes(records, ({ fields }) => sorted({ fields, encode: (record) => record }, [], wordsOf(sort)))
  }
})
