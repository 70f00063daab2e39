/**
 * A command as plain data: what help shows, `--help -o json` prints and completions offer. Made from the command itself
 * (`describe.ts`), so that nothing is stated twice.
 */

/** A flag. */
export interface FlagDescription {
  readonly name: string
  /** Other spellings: one letter is short for it. */
  readonly aliases: ReadonlyArray<string>
  /** What its value is called; null for a flag that is on or off. */
  readonly metavar: string | null
  readonly description: string
  /** The only values that it takes; empty where it takes others. */
  readonly choices: ReadonlyArray<string>
  readonly required: boolean
  readonly repeatable: boolean
  /** Whether its value may be several, with commas between them. */
  readonly list: boolean
}

/** An argument that is no flag. */
export interface ArgumentDescription {
  readonly name: string
  readonly description: string
  readonly choices: ReadonlyArray<string>
  readonly required: boolean
  readonly repeatable: boolean
}

/** A command line that works, and what it does. */
export interface Example {
  readonly command: string
  readonly description: string
}

/** A group of flags, under a title. */
export interface FlagGroup {
  /** Whether every command has them. */
  readonly isGlobal: boolean
  readonly title: string
  readonly flags: ReadonlyArray<FlagDescription>
}

export interface CommandDescription {
  /** Such as `berth node list`. */
  readonly command: string
  readonly summary: string
  readonly usage: string
  readonly aliases: ReadonlyArray<string>
  readonly arguments: ReadonlyArray<ArgumentDescription>
  /** The global flags come last. */
  readonly flagGroups: ReadonlyArray<FlagGroup>
  readonly examples: ReadonlyArray<Example>
  /** What its `--columns` takes, besides `all`; empty for one that prints no records. */
  readonly columns: ReadonlyArray<string>
  /** What its `--sort` takes: the same without columns that are not in the JSON. */
  readonly sortColumns: ReadonlyArray<string>
  /** The commands below it; empty for one that does something. */
  readonly commands: ReadonlyArray<{ readonly name: string; readonly summary: string }>
}
