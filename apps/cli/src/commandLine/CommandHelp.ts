/**
 * The help of a command as data, for help text, `--help -o json` and completions. `helpOf.ts` derives it from the
 * command and its place in the tree. Modules that must not load Effect import only the types from here.
 */
import { Schema } from "effect"

const parameter = {
  name: Schema.String,
  description: Schema.String,
  /** The only accepted values; empty if every value is accepted. */
  choices: Schema.Array(Schema.String),
  required: Schema.Boolean,
  repeatable: Schema.Boolean
}

/** A positional argument. */
const ArgumentHelp = Schema.Struct(parameter)
export interface ArgumentHelp extends Schema.Schema.Type<typeof ArgumentHelp> {}

const FlagHelp = Schema.Struct({
  ...parameter,
  aliases: Schema.Array(Schema.String).annotate({
    description: "Other names of the flag; a single letter is its short form."
  }),
  /** The placeholder of its value. */
  metavar: Schema.NullOr(Schema.String).annotate({ description: "Null for a flag that is on or off." }),
  bare: Schema.optionalKey(Schema.String).annotate({
    description: "The value used when the flag is given without one; absent if a value is required."
  }),
  list: Schema.Boolean.annotate({ description: "Whether its value may be several, with commas between them." })
})
export interface FlagHelp extends Schema.Schema.Type<typeof FlagHelp> {}

/** A titled group of flags. Global groups belong to every command. */
const FlagGroup = Schema.Struct({ isGlobal: Schema.Boolean, title: Schema.String, flags: Schema.Array(FlagHelp) })
export interface FlagGroup extends Schema.Schema.Type<typeof FlagGroup> {}

/** A working command line, and what it does. */
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
    description: "The columns that --columns accepts, in addition to all; empty for a command that prints no records."
  }),
  /** The `columns` that are also in the JSON output. */
  sortColumns: Schema.Array(Schema.String).annotate({ description: "What --sort takes." }),
  /** The commands of a group; empty for an action. */
  commands: Schema.Array(Schema.Struct({ name: Schema.String, summary: Schema.String }))
})
export interface CommandHelp extends Schema.Schema.Type<typeof CommandHelp> {}
