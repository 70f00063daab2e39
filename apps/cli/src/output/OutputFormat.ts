/**
 * The format of a command's data: `-o table|json|…`.
 */
import { Effect } from "effect"
import { GlobalSettings } from "../commandLine/GlobalSettings.ts"
import { formats } from "../commandLine/globalFlags.ts"

export type Format = (typeof formats)[number]

/** Whether a word is the name of a format. */
export const isFormat = (value: string | undefined): value is Format =>
  (formats as ReadonlyArray<unknown>).includes(value)

/** The format of a command's data. */
export const OutputFormat = Effect.map(GlobalSettings, ({ output }) => output)

/** Whether errors are for programs in this format: one line of JSON. */
export const hasJsonErrors = (format: Format): boolean => format === "json" || format === "ndjson"
