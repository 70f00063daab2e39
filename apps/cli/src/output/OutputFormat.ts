/**
 * The formats of data, and which one a command line asks for.
 */
import { Flag, GlobalFlag } from "effect/cli"

const formats = ["table", "json", "ndjson", "yaml", "csv", "id", "name"] as const
export type Format = (typeof formats)[number]

const isFormat = (value: string | undefined): value is Format => (formats as ReadonlyArray<unknown>).includes(value)

/** The format of a command's data. */
export const OutputFormat = GlobalFlag.Setting("output")({
  flag: Flag.Literals("output", formats).pipe(
    Flag.withAlias("o"),
    Flag.withMetavar("FORMAT"),
    Flag.withDescription("Default table"),
    Flag.withDefault<Format>("table")
  )
})

/**
 * The format that a command line asks for, also one that cannot be parsed: its reader expects the error in that format.
 */
export const requestedFormat = (args: ReadonlyArray<string>): Format => {
  const end = args.indexOf("--")
  const flags = end === -1 ? args : args.slice(0, end)
  for (const [index, arg] of flags.entries()) {
    const value = arg === "-o" || arg === "--output" ? flags[index + 1] : /^(?:-o|--output)=(.*)$/.exec(arg)?.[1]
    if (isFormat(value)) return value
  }
  return "table"
}

/** Whether errors are for programs in this format: one line of JSON. */
export const hasJsonErrors = (format: Format): boolean => format === "json" || format === "ndjson"
