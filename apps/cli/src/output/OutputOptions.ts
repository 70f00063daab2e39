/**
 * The options of output: the format from `-o table|json|…` or BERTH_OUTPUT, and the flags `--columns`, `--sort`, `--no-header`, `--raw`,
 * `--query`.
 */
import { readVariable } from "@berthkit/terminal/Connection"
import { variables } from "@berthkit/terminal/variables"
import { Effect, Option, Redacted } from "effect"
import { GlobalSettings } from "../commandLine/Parameter.ts"
import { formats } from "../commandLine/globalFlags.ts"
import { wordsOf } from "../commandLine/words.ts"

export type Format = (typeof formats)[number]

/** Whether a word is the name of a format. */
export const isFormat = (value: string | undefined): value is Format =>
  (formats as ReadonlyArray<unknown>).includes(value)

/** The format of a command's data. */
export const OutputFormat = Effect.map(GlobalSettings, ({ output }) => output)

/** Whether this format prints errors as one line of JSON. */
export const hasJsonErrors = (format: Format): boolean => format === "json" || format === "ndjson"

/** The values of the output flags. */
export const askedBy = ({ columns, noHeader, output, query, raw, sort }: GlobalSettings["Service"]) => ({
  format: output,
  columns: wordsOf(columns ?? ""),
  sort: wordsOf(sort ?? ""),
  header: !noHeader,
  raw,
  query
})

export const OutputOptions = Effect.map(GlobalSettings, askedBy)

export interface AskedFormat {
  /** The format that the command line asks for, even if the rest of it cannot be parsed. */
  readonly asked: Format
  /** The value of BERTH_OUTPUT; undefined if it is unset or the command line names a format. */
  readonly fromEnvironment: string | undefined
}

export const formatOf = Effect.fnUntraced(function* (flag: string | undefined): Effect.fn.Return<AskedFormat> {
  const set = Option.map(yield* readVariable(variables.output), (value) => Redacted.value(value).trim())
  const fromEnvironment = flag === undefined ? Option.getOrUndefined(set) : undefined
  const wanted = flag ?? fromEnvironment
  return { asked: isFormat(wanted) ? wanted : "table", fromEnvironment }
})
