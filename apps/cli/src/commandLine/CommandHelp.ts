/**
 * A command as help shows it, as `--help -o json` prints it, and as completions offer it. Made from the command and its place in the tree
 * (`helpOf.ts`), so that nothing is stated twice. What has no Effect imports the types alone.
 */
import { Schema } from "effect"

const parameter = {
  name: Schema.String,
  description: Schema.String,
  /** The only values that it takes; empty if it takes any. */
  choices: Schema.Array(Schema.String),
  required: Schema.Boolean,
  repeatable: Schema.Boolean
}

/** An argument that is no flag. */
const ArgumentHelp = Schema.Struct(parameter)
export interface ArgumentHelp extends Schema.Schema.Type<typeof ArgumentHelp> {}

const FlagHelp = Schema.Struct({
  ...parameter,
  aliases: Schema.Array(Schema.String).annotate({ description: "Other spellings: one letter is short for it." }),
  /** What its value is called. */
  metavar: Schema.NullOr(Schema.String).annotate({ description: "Null for a flag that is on or off." }),
  bare: Schema.optionalKey(Schema.String).annotate({
    description: "What it stands for where no value follows it; left out where one has to."
  }),
  list: Schema.Boolean.annotate({ description: "Whether its value may be several, with commas between them." })
})
export interface FlagHelp extends Schema.Schema.Type<typeof FlagHelp> {}

/** A group of flags under a title; global ones every command has. */
const FlagGroup = Schema.Struct({ isGlobal: Schema.Boolean, title: Schema.String, flags: Schema.Array(FlagHelp) })
export interface FlagGroup extends Schema.Schema.Type<typeof FlagGroup> {}

/** A command line that works, and what it does. */
const Example = Schema.Struct({ command: Schema.String, description: Schema.String })
export interface Example extends Schema.Schema.Type<typeof Example> {}

export const CommandHelp = Schema.Struct({
  /** Such as `berth node list`. */
  command: Schema.String,
  summary: Schema.String,
  usage: Schema.String,
  aliases: Schema.Array(Schema.String),
  arguments: Schema.Array(ArgumentHelp),
  /** The global flags come last. */
  flagGroups: Schema.Array(FlagGroup),
  examples: Schema.Array(Example),
  columns: Schema.Array(Schema.String).annotate({
    description: "What --columns takes, besides all; empty for a command that prints no records."
  }),
  /** The same without columns that are not in the JSON. */
  sortColumns: Schema.Array(Schema.String).annotate({ description: "What --sort takes." }),
  /** The commands below it; empty for one that does something. */
  commands: Schema.Array(Schema.Struct({ name: Schema.String, summary: Schema.String }))
})
export interface CommandHelp extends Schema.Schema.Type<typeof CommandHelp> {}
