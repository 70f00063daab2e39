/**
 * `berth schema`: prints the JSON Schema of what a command prints with `-o json`. Without a command it prints the schemas of all commands
 * and of errors, and every exit code. `berth schema fleet` prints the schema of a fleet file.
 */
import * as reasons from "@berthkit/core/domain/ErrorReason"
import { exitCode } from "@berthkit/terminal/exitCode"
import { Effect, Predicate, Schema } from "effect"
import { command, Commands } from "../command.ts"
import { CommandHelp } from "../../commandLine/CommandHelp.ts"
import { verbsOf } from "../../commandLine/CommandTree.ts"
import { argumentsFrom, text } from "../../commandLine/Parameter.ts"
import { readRequest } from "../../commandLine/Request.ts"
import * as failures from "../../failure/CliFailure.ts"
import { UsageFault } from "../../failure/CliFailure.ts"
import { printValue } from "../../output/print.ts"
import { recordNamed } from "../describe.ts"

const dialect = "https://json-schema.org/draft/2020-12/schema"

/** The schema of a record with its definitions. */
const recordSchema = Effect.fnUntraced(function* (name: string) {
  const { schema } = yield* Effect.promise(() => recordNamed(name))
  const { definitions, schema: record } = Schema.toJsonSchemaDocument(schema)
  return { definitions, schema: name.endsWith("[]") ? { type: "array", items: record } : record }
})

/** One schema for everything in `prints`; null if the command prints no records. */
export const schemaOf = Effect.fnUntraced(function* (prints: ReadonlyArray<string>) {
  const records = yield* Effect.forEach(prints, recordSchema)
  const schemas = records.map(({ schema }) => schema)
  if (schemas.length === 0) return null
  const definitions = Object.assign({}, ...records.map(({ definitions }) => definitions)) as object
  return {
    ...(schemas.length === 1 ? schemas[0] : { anyOf: schemas }),
    ...(Object.keys(definitions).length > 0 && { $defs: definitions })
  }
})

/** The tags of the error classes that a module exports. */
const tagsOf = (module: object): ReadonlyArray<string> =>
  Object.entries(module)
    .filter(([, member]) => Predicate.isFunction(member) && member.prototype instanceof Error)
    .map(([name]) => name)

/** The schema of `{"error": …}`, one line on stderr. */
const errorSchema = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["code", "message", "hint", "httpStatus", "retryable", "details"],
      properties: {
        code: { enum: [...tagsOf(reasons), ...tagsOf(failures), "SettingFault", "StdoutFailed", "Fault"].toSorted() },
        message: { type: "string" },
        hint: { type: "string" },
        httpStatus: { type: ["integer", "null"] },
        retryable: { type: "boolean" },
        details: { type: "object" }
      }
    }
  }
}

const all = Effect.gen(function* () {
  const commands = yield* Effect.forEach(verbsOf(yield* Commands), ({ path, verb }) =>
    Effect.map(schemaOf(verb.prints), (schema) => [path.join(" "), schema] as const)
  )
  return {
    $schema: dialect,
    commands: Object.fromEntries(commands),
    help: Schema.toJsonSchemaDocument(CommandHelp).schema,
    error: errorSchema,
    exitCodes: exitCode
  }
})

const one = Effect.fnUntraced(function* (words: ReadonlyArray<string>) {
  const request = readRequest(yield* Commands, words)
  const command = words.join(" ")
  if (request._tag !== "Run" || request.args.length > 0) {
    return yield* new UsageFault({
      message: `There is no command ${command} that prints data.`,
      hint: "For example: berth schema node list; berth --help lists the commands."
    })
  }
  const schema = yield* schemaOf(request.verb.prints)
  if (schema !== null) return { $schema: dialect, ...schema }
  return yield* new UsageFault({
    message: `berth ${command} prints no records.`,
    hint: "Run berth schema to see every command that does."
  })
})

/** The schema of the fleet file, which users write and no command prints. */
const fleetFile = Effect.map(
  Effect.promise(() => import("../../fleet/FleetFile.ts")),
  ({ fleetSchema }) => ({ $schema: dialect, ...fleetSchema() })
)

export const schema = command(
  {
    words: argumentsFrom(
      0,
      "COMMAND",
      text(""),
      "A command, such as node list, or fleet for the fleet file; default all commands"
    )
  },
  Effect.fnUntraced(function* ({ words }) {
    const isFleetFile = words.length === 1 && words[0] === "fleet"
    const found = isFleetFile ? yield* fleetFile : words.length === 0 ? yield* all : yield* one(words)
    yield* printValue(found)
  })
)
