/**
 * A command as plain data: from the flags and arguments that its parser has, and from its place in the tree.
 */
import { Option, Predicate } from "effect"
import { type Command, Param } from "effect/cli"
import type { ArgumentDescription, CommandDescription, FlagDescription, FlagGroup } from "./CommandDescription.ts"
import type { Verb } from "./CommandTree.ts"
import { globalFlagGroups } from "./globalFlags.ts"

/** What `effect/cli` keeps of a command; its types do not show it. A test holds every command against it. */
interface Parsed {
  readonly config: {
    readonly flags: ReadonlyArray<Param.AnyFlag>
    readonly arguments: ReadonlyArray<Param.AnyArgument>
  }
}

/** A parameter as `effect/cli` builds it: one value, within what makes it optional or repeatable. */
type Layered =
  | Param.Single<Param.ParamKind, unknown>
  | {
      readonly _tag: "Map" | "Transform" | "Optional" | "Variadic"
      readonly param: Layered
      readonly min?: Option.Option<number>
    }

interface Read {
  readonly single: Param.Single<Param.ParamKind, unknown>
  readonly required: boolean
  readonly repeatable: boolean
}

const isSwitch = ({ primitiveType }: Read["single"]): boolean => primitiveType._tag === "Boolean"

/** The words that a choice takes; its types do not show them either. */
const choicesOf = ({ primitiveType }: Read["single"]): ReadonlyArray<string> =>
  Predicate.hasProperty(primitiveType, "choiceKeys") ? (primitiveType.choiceKeys as ReadonlyArray<string>) : []

const read = (param: Layered): Read => {
  if (param._tag === "Single") {
    return { single: param, required: !isSwitch(param), repeatable: false }
  }
  const inner = read(param.param)
  if (param._tag === "Optional") return { ...inner, required: false }
  if (param._tag !== "Variadic") return inner
  return { ...inner, required: Option.exists(param.min ?? Option.none(), (min) => min > 0), repeatable: true }
}

/** What both kinds of parameters have. */
const common = ({ repeatable, required, single }: Read) => ({
  name: single.name,
  description: Option.getOrElse(single.description, () => ""),
  choices: choicesOf(single),
  required,
  repeatable
})

const flagOf = (param: Param.AnyFlag): FlagDescription => {
  const found = read(param as unknown as Layered)
  const { aliases, typeName } = found.single
  const metavar = isSwitch(found.single) ? null : (typeName ?? "VALUE")
  return { ...common(found), aliases, metavar, list: Predicate.hasProperty(found.single.primitiveType, "isList") }
}

const argumentOf = (param: Param.AnyArgument): ArgumentDescription => common(read(param as unknown as Layered))

/** The flags of a command, its own alone. */
export const flagsOf = (command: Command.Command.Any): ReadonlyArray<FlagDescription> =>
  (command as unknown as Parsed).config.flags.map(flagOf)

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
  command: Command.Command.Any,
  columns: Pick<CommandDescription, "columns" | "sortColumns">
): CommandDescription => {
  const name = ["berth", ...path].join(" ")
  const needed = <A extends { readonly name: string; readonly required: boolean }>(each: A): A => ({
    ...each,
    required: each.required || verb.needs.includes(each.name)
  })
  const flags = flagsOf(command).map(needed)
  const args = (command as unknown as Parsed).config.arguments.map(argumentOf).map(needed)
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
