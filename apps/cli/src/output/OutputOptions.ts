/**
 * The flags that shape data, besides `--output`: `--columns`, `--sort`, `--no-header`, `--raw`, `--query`.
 */
import { Effect, Option } from "effect"
import { Flag, GlobalFlag } from "effect/cli"
import { globalFlags } from "../commandLine/globalFlags.ts"
import { wordsOf } from "./Selection.ts"

const text = (name: string) => Flag.optional(Flag.String(name))

/** The fields to show, in this order. */
const Columns = GlobalFlag.Setting("columns")({ flag: text(globalFlags.columns.name) })

/** The fields to sort by. */
const Sort = GlobalFlag.Setting("sort")({ flag: text(globalFlags.sort.name) })

const on = (name: string) => Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDefault(false))

const NoHeader = GlobalFlag.Setting("no-header")({ flag: on(globalFlags.noHeader.name) })

/** Whether CSV has texts as they are, also those that a spreadsheet would run. */
const Raw = GlobalFlag.Setting("raw")({ flag: on(globalFlags.raw.name) })

/** A JMESPath expression over the JSON. */
const Query = GlobalFlag.Setting("query")({ flag: text(globalFlags.query.name) })

/** All of them, for `Command.withGlobalFlags`. */
export const outputFlags = [Columns, Sort, NoHeader, Raw, Query] as const

const words = (list: Option.Option<string>) => Option.match(list, { onNone: () => [], onSome: wordsOf })

/** What they were set to. */
export const OutputOptions = Effect.gen(function* () {
  return {
    columns: words(yield* Columns),
    sort: words(yield* Sort),
    header: !(yield* NoHeader),
    raw: yield* Raw,
    query: Option.getOrUndefined(yield* Query)
  }
})
