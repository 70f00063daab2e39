/**
 * A value that is no record as text, such as a schema or a reply of the service: JSON, one line of it, or YAML.
 */
import { Effect } from "effect"
import { UsageFault } from "../failure/CliFailure.ts"
import { jsonBlock, jsonLine } from "./json.ts"
import type { Format } from "./OutputOptions.ts"

/** Formats of records alone: they need rows. */
const needsRecords: ReadonlySet<Format> = new Set(["csv", "id", "name"])

/** Fails for a format that a value cannot have. `what` it is stands in the sentence, such as `a schema`. */
export const checkValueFormat = (format: Format, what: string): Effect.Effect<void, UsageFault> =>
  needsRecords.has(format)
    ? Effect.fail(
        new UsageFault({
          message: `--output cannot be ${format}: ${what} has no rows.`,
          hint: "Use -o json, ndjson or yaml."
        })
      )
    : Effect.void

/** The value in a format that it can have, with its last line feed. For people it is JSON. */
export const valueText = (value: unknown, format: Format): Effect.Effect<string> =>
  format === "yaml"
    ? Effect.map(
        Effect.promise(() => import("./yaml.ts")),
        ({ yamlText }) => yamlText(value)
      )
    : Effect.succeed(`${format === "ndjson" ? jsonLine(value) : jsonBlock(value)}\n`)
