/**
 * The format that errors are printed in, and data where no flag names another: the flag's, or that of BERTH_OUTPUT. Known before the
 * command line is parsed.
 */
import { readVariable } from "@berthkit/terminal/Connection"
import { variables } from "@berthkit/terminal/variables"
import { Effect, Option, Redacted } from "effect"
import { type Format, isFormat } from "../output/OutputFormat.ts"

export interface AskedFormat {
  /** The format that the command line asks for, also one that cannot be parsed. */
  readonly asked: Format
  /** What BERTH_OUTPUT is set to; undefined where the command line names a format, or nothing does. */
  readonly fromEnvironment: string | undefined
}

export const formatOf = Effect.fnUntraced(function* (flag: string | undefined): Effect.fn.Return<AskedFormat> {
  const set = Option.map(yield* readVariable(variables.output), (value) => Redacted.value(value).trim())
  const fromEnvironment = flag === undefined ? Option.getOrUndefined(set) : undefined
  const wanted = flag ?? fromEnvironment
  return { asked: isFormat(wanted) ? wanted : "table", fromEnvironment }
})
