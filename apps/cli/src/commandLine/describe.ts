/**
 * A command as plain data: its flags and arguments, and its place in the tree.
 */
import type { ArgumentDescription, CommandDescription, FlagDescription, FlagGroup } from "./CommandDescription.ts"
import { type Declared, flagsOf } from "./Command.ts"
import type { Verb } from "./CommandTree.ts"
import { globalFlagGroups } from "./globalFlags.ts"

/** The word of an argument in the usage line. */
const argumentWord = ({ name, repeatable, required }: ArgumentDescription) => {
  // Such as `[METHOD] PATH`, which is two words of a command line.
  if (name.includes(" ")) return name
  const word = repeatable ? `${name}…` : name
  return required ? word : `[${word}]`
}

const requiredWord = ({ metavar, name }: FlagDescription) => `--${name} ${metavar}`

/** The groups of a command's flags as its place in the tree has them, those that are in none first. */
const groupsOf = (verb: Verb<unknown>, flags: ReadonlyArray<FlagDescription>): ReadonlyArray<FlagGroup> => {
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

/** A command that does something; `columns` are those of what it prints. */
export const describeVerb = (
  path: ReadonlyArray<string>,
  verb: Verb<unknown>,
  { parameters }: Declared,
  columns: Pick<CommandDescription, "columns" | "sortColumns">
): CommandDescription => {
  const name = ["berth", ...path].join(" ")
  const needed = <A extends { readonly name: string; readonly required: boolean }>(each: A): A => ({
    ...each,
    required: each.required || verb.needs.includes(each.name)
  })
  const flags = flagsOf(parameters).map(needed)
  const args = Object.values(parameters).flatMap(({ description, kind }): ReadonlyArray<ArgumentDescription> => {
    const { choices, description: text, name, repeatable, required } = description
    return kind === "argument" ? [needed({ name, description: text, choices, required, repeatable })] : []
  })
  const required = flags.filter((flag) => flag.required).map(requiredWord)
  return {
    command: name,
    summary: verb.summary,
    usage: [name, ...args.map(argumentWord), ...required, "[flags]"].join(" "),
    aliases: verb.aliases,
    arguments: args,
    flagGroups: groupsOf(verb, flags),
    examples: verb.examples,
    ...columns,
    commands: []
  }
}
