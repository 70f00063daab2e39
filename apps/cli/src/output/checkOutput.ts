/**
 * Checks whether the output flags and BERTH_OUTPUT fit what the command prints. The runner does this once, before the
 * command begins: no command may change something and then fail because of an unknown column.
 */
import { Effect, Result } from "effect"
import { UsageFault } from "../failure/CliFailure.ts"
import type { Format } from "./OutputOptions.ts"
import type { RecordDescriptor } from "./RecordDescriptor.ts"
import { selectFields, sorted } from "./Selection.ts"
import { checkValueFormat } from "./valueText.ts"

export interface Printed {
  /** The command, such as `berth node list`. */
  readonly command: string
  /** The kinds of records that the command may print. In each run it prints one kind. */
  readonly records: ReadonlyArray<Pick<RecordDescriptor<never>, "fields" | "hasMoreFields" | "idKey" | "nameKey">>
  /** What the command prints instead of records, such as `a schema`. */
  readonly value: string | undefined
}

/** The output flags and the format. */
export interface Asked {
  readonly format: Format
  readonly columns: ReadonlyArray<string>
  readonly sort: ReadonlyArray<string>
  readonly query: string | undefined
}

const refuse = (message: string, hint: string) => Effect.fail(new UsageFault({ message, hint }))

/** Fails if `take` refuses every kind of record, for example because none has a column of that name. */
const anyTakes = <A>(
  records: ReadonlyArray<A>,
  take: (record: A) => Result.Result<unknown, UsageFault>
): Effect.Effect<void, UsageFault> => {
  const taken = records.map(take)
  const [first] = taken.filter(Result.isFailure)
  return first !== undefined && taken.every(Result.isFailure) ? Effect.fail(first.failure) : Effect.void
}

export const checkOutput = Effect.fnUntraced(function* (
  { command, records, value }: Printed,
  { columns, format, query, sort }: Asked
): Effect.fn.Return<void, UsageFault> {
  const rows = columns.length > 0 ? "--columns" : sort.length > 0 ? "--sort" : undefined
  if (records.length === 0 && value === undefined) {
    const flag = rows ?? (query === undefined ? undefined : "--query")
    if (flag === undefined) return
    return yield* refuse(`${flag} cannot be combined with ${command}: it prints no records.`, `Leave out ${flag}.`)
  }
  if (query !== undefined) {
    const { checkQuery } = yield* Effect.promise(() => import("./query.ts"))
    yield* checkQuery(query)
  }
  if (value !== undefined) {
    if (rows !== undefined) {
      return yield* refuse(`${rows} needs rows: ${value} has none.`, "Use --query to select parts of it.")
    }
    // The result of a query may have rows, so any format is allowed.
    return query === undefined ? yield* checkValueFormat(format, value) : undefined
  }
  if (columns.length > 0) {
    if (query !== undefined || (format !== "table" && format !== "csv")) {
      return yield* refuse(
        `--columns cannot be combined with ${query === undefined ? `-o ${format}` : "--query"}.`,
        "It selects columns of table and csv; --query selects parts of the JSON."
      )
    }
    if (records.every(({ hasMoreFields }) => hasMoreFields !== true)) {
      yield* anyTakes(records, ({ fields }) => selectFields(fields([]), columns))
    }
  }
  if (sort.length > 0) {
    yield* anyTakes(records, ({ fields }) => sorted({ fields, encode: (record) => record }, [], sort))
  }
  if (query !== undefined || (format !== "id" && format !== "name")) return
  const isNamed = records.some(({ fields, idKey = "id", nameKey = "name" }) =>
    fields([]).some(({ key }) => key === (format === "id" ? idKey : nameKey))
  )
  if (isNamed) return
  return yield* refuse(`--output cannot be ${format}: these records have none.`, "Use -o json, yaml, csv or table.")
})
