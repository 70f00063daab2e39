/**
 * What `--help -o json` prints, as a schema. The interface of the same is in `commandLine/CommandDescription.ts`, which has no Effect.
 */
import { Schema } from "effect"
import type { CommandDescription } from "../../commandLine/CommandDescription.ts"

const Parameter = {
  name: Schema.String,
  description: Schema.String,
  choices: Schema.Array(Schema.String),
  required: Schema.Boolean,
  repeatable: Schema.Boolean
}

const Flag = Schema.Struct({
  ...Parameter,
  aliases: Schema.Array(Schema.String).annotate({ description: "Other spellings: one letter is short for it." }),
  metavar: Schema.NullOr(Schema.String).annotate({ description: "Null for a flag that is on or off." }),
  list: Schema.Boolean.annotate({ description: "Whether its value may be several, with commas between them." })
})

export const helpSchema: Schema.Codec<CommandDescription> = Schema.Struct({
  command: Schema.String,
  summary: Schema.String,
  usage: Schema.String,
  aliases: Schema.Array(Schema.String),
  arguments: Schema.Array(Schema.Struct(Parameter)),
  flagGroups: Schema.Array(
    Schema.Struct({ isGlobal: Schema.Boolean, title: Schema.String, flags: Schema.Array(Flag) })
  ),
  examples: Schema.Array(Schema.Struct({ command: Schema.String, description: Schema.String })),
  columns: Schema.Array(Schema.String).annotate({
    description: "What --columns takes, besides all; empty for a command that prints no records."
  }),
  sortColumns: Schema.Array(Schema.String).annotate({ description: "What --sort takes." }),
  commands: Schema.Array(Schema.Struct({ name: Schema.String, summary: Schema.String }))
})
