/**
 * Help for people, 80 columns wide: usage, arguments, flags by group, examples. It looks the same in all three programs.
 * This module is pure and does not load Effect, so that `berth --help` starts fast.
 */

/** A positional argument. */
interface ArgumentHelp {
  readonly name: string
  readonly description: string
  /** The only accepted values; empty if any value is accepted. */
  readonly choices: ReadonlyArray<string>
}

interface FlagHelp extends ArgumentHelp {
  readonly required: boolean
  readonly repeatable: boolean
  readonly aliases: ReadonlyArray<string>
  /** The name of the flag's value; null if the flag takes none. */
  readonly metavar: string | null
}

/** A titled group of flags. Every command has the global groups. */
interface FlagGroup {
  readonly isGlobal: boolean
  readonly title: string
  readonly flags: ReadonlyArray<FlagHelp>
}

/** The content of a command's help. */
export interface HelpPage {
  /** The command's words, such as `berth node list`. */
  readonly command: string
  readonly summary: string
  readonly usage: string
  readonly aliases: ReadonlyArray<string>
  readonly arguments: ReadonlyArray<ArgumentHelp>
  /** Global groups come last. */
  readonly flagGroups: ReadonlyArray<FlagGroup>
  readonly examples: ReadonlyArray<{ readonly command: string; readonly description: string }>
  /** The subcommands; empty for a command without any. */
  readonly commands: ReadonlyArray<{ readonly name: string; readonly summary: string }>
}

const columns = 80
const indent = 2
/**
 * Maximum width of a term that shares its line with its description. The description of a longer term starts on the next
 * line.
 */
const maxTermWidth = 30

/** Fills lines of at most `width` characters with words. A longer word gets its own line. */
const filled = (words: ReadonlyArray<string>, width: number, gap: string): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  for (const word of words) {
    if (line !== "" && line.length + gap.length + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === "" ? word : line + gap + word
  }
  return [...lines, line]
}

const wrapped = (text: string, width: number): ReadonlyArray<string> => filled(text.split(" "), width, " ")

type Row = readonly [term: string, description: string]

/** Terms and their descriptions, in two columns. */
const rows = (entries: ReadonlyArray<Row>): string => {
  const widths = entries.map(([term]) => term.length).filter((width) => width <= maxTermWidth)
  const at = indent + Math.max(0, ...widths) + 2
  return entries
    .map(([term, description]) => {
      const [first = "", ...more] = wrapped(description, columns - at)
      const head = " ".repeat(indent) + term
      const begin = term.length > maxTermWidth ? `${head}\n${" ".repeat(at)}` : head.padEnd(at)
      return [`${begin}${first}`.trimEnd(), ...more.map((line) => " ".repeat(at) + line)].join("\n")
    })
    .join("\n")
}

const term = ({ aliases, metavar, name }: FlagHelp): string => {
  const letters = aliases.filter((alias) => alias.length === 1).map((letter) => `-${letter}`)
  const words = aliases.filter((alias) => alias.length > 1).map((alias) => `--${alias}`)
  const spellings = [...letters, `--${name}`, ...words].join(", ")
  return `${letters.length === 0 ? "    " : ""}${spellings}${metavar === null ? "" : ` ${metavar}`}`
}

/** A flag without its description. */
const briefly = ({ aliases, metavar, name }: FlagHelp): string => {
  const spelling = aliases.length === 0 ? `--${name}` : `-${aliases[0]}, --${name}`
  return metavar === null ? spelling : `${spelling} ${metavar}`
}

/** A command line, wrapped if necessary. `end` is written at the end of every line except the last. */
const commandLines = (command: string, end: string): string =>
  wrapped(command, columns - 6 - end.length)
    .map((line, at) => (at === 0 ? `  ${line}` : `      ${line}`))
    .join(`${end}\n`)

/** Whether a description already names every choice, most likely together with its meaning. */
const namesAll = (description: string, choices: ReadonlyArray<string>): boolean => {
  const words = new Set(description.split(/[\s,;:()]+/))
  return choices.every((choice) => words.has(choice))
}

/**
 * A description with everything that follows its text: the choices, unless it names them all itself, and marks such as
 * (required).
 */
const described = (description: string, choices: ReadonlyArray<string>, marks: ReadonlyArray<string | false>): string =>
  [description, !namesAll(description, choices) && `(${choices.join(", ")})`, ...marks].filter(Boolean).join(" ")

/** Whether a description already says that a flag is repeatable. */
const repeats = (description: string) => /repeatable/.test(description)

/** The text of `--help`, including its last line feed. `colour` makes the titles bold. */
export const helpText = (command: HelpPage, colour: boolean): string => {
  const title = (text: string) => (colour ? `\u001b[1m${text}\u001b[0m` : text)
  const sections: Array<string> = [wrapped(`${command.summary}.`, columns).join("\n")]
  const section = (heading: string, body: string) => sections.push(`${title(heading)}\n${body}`)

  const also = command.aliases.length === 0 ? "" : `\n  also: ${command.aliases.join(", ")}`
  section("USAGE", `${commandLines(command.usage, "")}${also}`)
  if (command.commands.length > 0)
    section("COMMANDS", rows(command.commands.map(({ name, summary }) => [name, summary])))
  if (command.arguments.length > 0) {
    section(
      "ARGUMENTS",
      rows(command.arguments.map(({ choices, description, name }) => [name, described(description, choices, [])]))
    )
  }
  const flagSection = ({ flags, title: heading }: FlagGroup) =>
    section(
      heading,
      rows(
        flags.map((flag) => [
          term(flag),
          described(flag.description, flag.choices, [
            flag.required && "(required)",
            flag.repeatable && !repeats(flag.description) && "(repeatable)"
          ])
        ])
      )
    )
  for (const group of command.flagGroups) if (!group.isGlobal) flagSection(group)
  if (command.examples.length > 0) {
    section(
      "EXAMPLES",
      command.examples
        .map((example) => `  # ${example.description}\n${commandLines(example.command, " \\")}`)
        .join("\n")
    )
  }
  const global = command.flagGroups.filter(({ isGlobal }) => isGlobal)
  if (command.commands.length > 0) global.forEach(flagSection)
  else {
    const lines = filled(
      global.flatMap(({ flags }) => flags.map(briefly)),
      columns - indent,
      "  "
    )
    section(
      "GLOBAL FLAGS",
      `${lines.map((line) => `  ${line}`).join("\n")}\n  See ${command.command.split(" ", 1)[0]} --help.`
    )
  }
  return `${sections.join("\n\n")}\n`
}
