/**
 * The flags that every command takes, as plain data. `Parameter.ts` reads their values.
 */
import type { FlagHelp, FlagGroup } from "./CommandHelp.ts"

/** Output formats. */
export const formats = ["table", "json", "ndjson", "yaml", "csv", "id", "name"] as const

/** The values of `--color`. */
export const colours = ["auto", "always", "never"] as const

const flag = (
  name: string,
  metavar: string | null,
  description: string,
  { aliases = [], choices = [], list = false }: Partial<Pick<FlagHelp, "aliases" | "choices" | "list">> = {}
): FlagHelp => ({ name, aliases, metavar, description, choices, required: false, repeatable: false, list })

export const globalFlags = {
  output: flag("output", "FORMAT", "How data is printed; default $BERTH_OUTPUT or table", {
    aliases: ["o"],
    choices: formats
  }),
  columns: flag("columns", "A,B|all", "Columns of table and csv", { list: true }),
  sort: flag("sort", "A,-B", "Sort by columns; -A sorts A in descending order", { list: true }),
  noHeader: flag("no-header", null, "Omit the header row (table, csv)"),
  raw: flag("raw", null, "Do not escape spreadsheet formulas in CSV"),
  query: flag("query", "JMESPATH", "Filter the JSON with JMESPath, e.g. '[].name'"),
  profile: flag("profile", "NAME", "Profile to use, overriding variables; default $BERTH_PROFILE"),
  baseUrl: flag("base-url", "URL", "The service's address; default $BERTH_BASE_URL"),
  project: flag("project", "NUMBER", "Project of the nodes; default $BERTH_PROJECT"),
  location: flag("location", "NAME", "Location of the nodes, e.g. Delhi; default $BERTH_LOCATION"),
  userAgent: flag("user-agent", "TEXT", "User-Agent of requests; default $BERTH_USER_AGENT"),
  stateUrl: flag("state-url", "URL", "Database for the state that several machines share; default $BERTH_STATE_URL"),
  allowHttp: flag("allow-http", null, "Send credentials over plain http to another machine"),
  deadline: flag("deadline", "DURATION", "Limit for the whole command; default 60s per API call"),
  quiet: flag("quiet", null, "Print only errors on stderr, and changes that stdout does not show"),
  debug: flag("debug", null, "Show every request on stderr"),
  color: flag("color", "WHEN", "Colours; default auto", { choices: colours }),
  help: flag("help", null, "Show this help; -o json prints it as data", { aliases: ["h"] })
}

/** The groups in which help shows them. */
export const globalFlagGroups: ReadonlyArray<FlagGroup> = [
  {
    isGlobal: true,
    title: "OUTPUT FLAGS",
    flags: [
      globalFlags.output,
      globalFlags.columns,
      globalFlags.sort,
      globalFlags.noHeader,
      globalFlags.raw,
      globalFlags.query
    ]
  },
  {
    isGlobal: true,
    title: "GLOBAL FLAGS",
    flags: [
      globalFlags.profile,
      globalFlags.baseUrl,
      globalFlags.project,
      globalFlags.location,
      globalFlags.userAgent,
      globalFlags.stateUrl,
      globalFlags.allowHttp,
      globalFlags.deadline,
      globalFlags.quiet,
      globalFlags.debug,
      globalFlags.color,
      globalFlags.help
    ]
  }
]

/** The shells for which berth prints completion scripts. Some share the script of another shell. */
export const shells = ["bash", "zsh", "fish", "powershell", "sh", "pwsh"] as const

/** The flags of `berth` itself, which the other programs have, too. They replace a command. */
const flagsOfProgram = {
  version: flag("version", null, "Show version information", { aliases: ["v"] }),
  completions: flag("completions", "SHELL", "Print a shell completion script", { choices: shells })
}

/** The groups in the help of `berth` itself. */
export const programFlagGroups: ReadonlyArray<FlagGroup> = globalFlagGroups.map((group) =>
  group.flags.includes(globalFlags.help)
    ? { ...group, flags: [...group.flags, flagsOfProgram.version, flagsOfProgram.completions] }
    : group
)

export const globalFlagList: ReadonlyArray<FlagHelp> = Object.values(globalFlags)
