/**
 * The flags that shape data, besides `--output`: `--columns`, `--sort`, `--no-header`, `--query`.
 */
import { Effect, Option } from "effect"
import { Flag, GlobalFlag } from "effect/cli"
import { wordsOf } from "./Selection.ts"

/** The fields to show, in this order. */
const Columns = GlobalFlag.Setting("columns")({
  flag: Flag.String("columns").pipe(
    Flag.withMetavar("A,B|all"),
    Flag.withDescription("Columns of table and csv"),
    Flag.optional
  )
})

/** The fields to sort by. */
const Sort = GlobalFlag.Setting("sort")({
  flag: Flag.String("sort").pipe(
    Flag.withMetavar("A,-B"),
    Flag.withDescription("Sort by columns; - before one reverses it"),
    Flag.optional
  )
})

const NoHeader = GlobalFlag.Setting("no-header")({
  flag: Flag.Boolean("no-header").pipe(
    Flag.withoutNegation,
    Flag.withDescription("No line of titles in table and csv"),
    Flag.withDefault(false)
  )
})

/** A JMESPath expression over the JSON. */
const Query = GlobalFlag.Setting("query")({
  flag: Flag.String("query").pipe(
    Flag.withMetavar("JMESPATH"),
    Flag.withDescription("Part of the JSON, such as '[].name'"),
    Flag.optional
  )
})

/** All of them, for `Command.withGlobalFlags`. */
export const outputFlags = [Columns, Sort, NoHeader, Query] as const

const words = (list: Option.Option<string>) => Option.match(list, { onNone: () => [], onSome: wordsOf })

/** What they were set to. */
export const OutputOptions = Effect.gen(function* () {
  return {
    columns: words(yield* Columns),
    sort: words(yield* Sort),
    header: !(yield* NoHeader),
    query: Option.getOrUndefined(yield* Query)
  }
})
