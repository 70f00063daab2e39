/**
 * `--query`: a JMESPath expression over the JSON of a command, as in the command lines of other clouds.
 */
import { Effect, Result } from "effect"
import { compile, type JSONValue, TreeInterpreter } from "@jmespath-community/jmespath"
import { UsageFault } from "../failure/CliFailure.ts"
import type { Format } from "./OutputFormat.ts"
import { jsonBlock, jsonLine } from "./json.ts"
import { yamlText } from "./yaml.ts"

const fault = (error: unknown) =>
  new UsageFault({
    message: `--query is not usable: ${(error instanceof Error ? error.message : String(error)).replace(/\.$/, "")}.`,
    hint: "It is a JMESPath expression over the JSON, such as '[].name'; see jmespath.org."
  })

/** What the expression makes of the value, as text: JSON, unless NDJSON or YAML was asked for. */
export const queried = (expression: string, value: unknown, format: Format): Effect.Effect<string, UsageFault> =>
  Effect.fromResult(
    Result.try({
      try: () => {
        const found = TreeInterpreter.search(compile(expression), value as JSONValue)
        if (format === "yaml") return yamlText(found)
        if (format !== "ndjson") return `${jsonBlock(found)}\n`
        return (Array.isArray(found) ? found : [found]).map((each) => `${jsonLine(each)}\n`).join("")
      },
      catch: fault
    })
  )

/** Fails for an expression that cannot be parsed. */
export const checkQuery = (expression: string): Effect.Effect<void, UsageFault> =>
  Effect.asVoid(Effect.fromResult(Result.try({ try: () => compile(expression), catch: fault })))
