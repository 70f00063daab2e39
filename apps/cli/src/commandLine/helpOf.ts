/**
 * Derives the help of a command as data. The help of a single command comes from its parameters and its place in the tree. The help of a
 * group of commands comes from the tree alone. This module does not load Effect, so help prints at once.
 */
import type { ArgumentHelp, CommandHelp, FlagGroup, FlagHelp } from "./CommandHelp.ts"
import { type CommandTree, type Noun, type Verb, verbsOf } from "./CommandTree.ts"
import { globalFlagGroups, programFlagGroups } from "./globalFlags.ts"
import type { Parameters } from "./Parameter.ts"

/** The word of an argument in the usage line, after `--` if the argument is another program's command line. */
const argumentWord = ({ name, repeatable, required }: ArgumentHelp, dashes = "") => {
  // Some arguments are two words, such as `[METHOD] PATH`.
  if (name.includes(" ")) return name
  const word = `${dashes}${name}${repeatable ? "…" : ""}`
  return required ? word : `[${word}]`
}

const requiredWord = ({ metavar, name }: FlagHelp) => (metavar === null ? `--${name}` : `--${name} ${metavar}`)

/** The flags of a command in the groups that the tree defines. Flags without a group come first. */
const groupsOf = (verb: Verb<unknown>, flags: ReadonlyArray<FlagHelp>): ReadonlyArray<FlagGroup> => {
  const grouped = Object.entries(verb.groups).map(([title, names]) => ({
    isGlobal: false,
    title: `${title.toUpperCase()} FLAGS`,
    flags: names.flatMap((name) => flags.filter((flag) => flag.name === name))
  }))
  const rest = flags.filter((flag) => grouped.every((group) => !group.flags.includes(flag)))
  const own = new Set(flags.map(({ name }) => name))
  const global = globalFlagGroups.map((group) => ({
    ...group,
    flags: group.flags.filter(({ name }) => !own.has(name))
  }))
  return [{ isGlobal: false, title: "FLAGS", flags: rest }, ...grouped, ...global].filter(
    ({ flags }) => flags.length > 0
  )
}

/** The help of a single command. `columns` are the columns of its output. */
export const helpOfVerb = (
  path: ReadonlyArray<string>,
  verb: Verb<unknown>,
  parameters: Parameters,
  columns: Pick<CommandHelp, "columns" | "sortColumns">
): CommandHelp => {
  const name = ["berth", ...path].join(" ")
  const needed = <A extends { readonly name: string; readonly required: boolean }>(each: A): A => ({
    ...each,
    required: each.required || verb.needs.includes(each.name)
  })
  const all = Object.values(parameters)
  const flags = all.flatMap(({ help, kind }) => (kind === "flag" ? [needed(help)] : []))
  const args = all.flatMap(({ help, kind }): ReadonlyArray<ArgumentHelp> => {
    const { choices, description, name, repeatable, required } = help
    return kind === "argument" ? [needed({ name, description, choices, required, repeatable })] : []
  })
  const required = flags.filter((flag) => flag.required).map(requiredWord)
  const last = args.length - (verb.wraps ? 1 : 0)
  const words = args.slice(0, last).map((each) => argumentWord(each))
  const wrapped = args.slice(last).map((each) => argumentWord(each, "-- "))
  return {
    command: name,
    summary: verb.summary,
    usage: [name, ...words, ...required, "[flags]", ...wrapped].join(" "),
    aliases: verb.aliases,
    arguments: args,
    flagGroups: groupsOf(verb, flags),
    examples: verb.examples,
    ...columns,
    commands: []
  }
}

const answered = [
  { name: "help [COMMAND…]", summary: "Show the help of a command" },
  { name: "version", summary: "Show the version" }
]

/** How many examples a group's help shows, each for a different command. */
const maxExamples = 3

/** The help of a group of commands; of berth itself if `noun` is undefined. */
export const helpOfGroup = <C>(tree: CommandTree<C>, noun: Noun<C> | undefined): CommandHelp => {
  const command = noun === undefined ? "berth" : `berth ${noun.name}`
  const entries: CommandTree<C> = noun === undefined ? tree : noun.verbs
  const verbs = noun === undefined ? verbsOf(tree) : noun.verbs.map((verb) => ({ verb }))
  return {
    command,
    summary: noun?.summary ?? "Manage the nodes of an account",
    usage: `${command} COMMAND [flags]`,
    aliases: noun?.aliases ?? [],
    arguments: [],
    flagGroups: noun === undefined ? programFlagGroups : globalFlagGroups,
    examples: verbs.flatMap(({ verb }) => verb.examples.slice(0, 1)).slice(0, maxExamples),
    columns: [],
    sortColumns: [],
    commands: [...entries.map(({ name, summary }) => ({ name, summary })), ...(noun === undefined ? answered : [])]
  }
}
