/**
 * `--query`: a JMESPath expression over the JSON of a command, as in the command lines of other clouds.
 */
import { Effect, Result } from "effect"
import { compile, type JSONValue, TreeInterpreter } from "@jmespath-community/jmespath"
import { UsageFault } from "../failure/CliFailure.ts"
import type { Format } from "./OutputOptions.ts"
import { jsonBlock, jsonLine } from "./json.ts"
import { yamlText } from "./yaml.ts"

const fault = (error: unknown) =>
  new UsageFault({
    message: `--query is not usable: ${(error instanceof Error ? error.message : String(error)).replace(/\.$/, "")}.`,
    hint: "It is a JMESPath expression over the JSON, such as '[].name'; see jmespath.org."
  })

/** What the expression makes of the value. */
export const search = (expression: string, value: unknown): Effect.Effect<unknown, UsageFault> =>
  Effect.fromResult(
    Result.try({ try: (): unknown => TreeInterpreter.search(compile(expression), value as JSONValue), catch: fault })
  )

/** A result as it is, in a format that has any; undefined for those of rows. */
export const structured = (found: unknown, format: Format): string | undefined => {
  switch (format) {
    case "json":
      return `${jsonBlock(found)}\n`
    case "ndjson":
      return (Array.isArray(found) ? found : [found]).map((each) => `${jsonLine(each)}\n`).join("")
    case "yaml":
      return yamlText(found)
    default:
      return undefined
  }
}

/** Fails for an expression that cannot be parsed. */
export const checkQuery = (expression: string): Effect.Effect<void, UsageFault> =>
  Effect.asVoid(Effect.fromResult(Result.try({ try: () => compile(expression), catch: fault })))
