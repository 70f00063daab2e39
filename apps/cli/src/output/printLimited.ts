/**
 * The flag `--limit`, and the first records of a complete list in the requested order, with the total.
 */
import { Effect } from "effect"
import { flag, wholeNumber } from "../commandLine/Parameter.ts"
import { printNote } from "./Output.ts"
import { OutputOptions } from "./OutputOptions.ts"
import { printAll } from "./print.ts"
import type { RecordDescriptor } from "./RecordDescriptor.ts"
import { sorted } from "./Selection.ts"

/** The flag `--limit`. `what` names the listed things in its help. */
export const limitFlag = (what: string) => flag("limit", wholeNumber(1), `Maximum number of ${what}`)

export const printLimited = Effect.fnUntraced(function* <A>(
  descriptor: RecordDescriptor<A>,
  records: ReadonlyArray<A>,
  limit: number | undefined
) {
  if (limit === undefined) return yield* printAll(descriptor, records)
  const { sort } = yield* OutputOptions
  const ordered = yield* Effect.fromResult(sorted(descriptor, records, sort))
  yield* printAll(descriptor, ordered.slice(0, limit))
  if (ordered.length > limit) yield* printNote(`${limit} of ${ordered.length}.`)
})
