/**
 * Formats a value that is not a record, such as a schema or a raw reply, as JSON, one line of JSON, or YAML.
 */
import { Effect } from "effect"
import { UsageFault } from "../failure/CliFailure.ts"
import { jsonBlock, jsonLine } from "./json.ts"
import type { Format } from "./OutputOptions.ts"

/** Formats that need rows. */
const needsRecords: ReadonlySet<Format> = new Set(["csv", "id", "name"])

/** Fails for a format that needs rows. `what` names the value in the sentence, such as `a schema`. */
export const checkValueFormat = (format: Format, what: string): Effect.Effect<void, UsageFault> =>
  needsRecords.has(format)
    ? Effect.fail(
        new UsageFault({
          message: `--output cannot be ${format}: ${what} has no rows.`,
          hint: "Use -o json, ndjson or yaml."
        })
      )
    : Effect.void

/** The value in the given format, with a line feed at the end. People get indented JSON. */
export const valueText = (value: unknown, format: Format): Effect.Effect<string> =>
  format === "yaml"
    ? Effect.map(
        Effect.promise(() => import("./yaml.ts")),
        ({ yamlText }) => yamlText(value)
      )
    : Effect.succeed(`${format === "ndjson" ? jsonLine(value) : jsonBlock(value)}\n`)
