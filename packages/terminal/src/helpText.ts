/**
 * Help as text for people, 80 columns wide: usage, arguments, flags by group, examples. It looks the same in all three programs. Pure, and
 * without Effect: `berth --help` is to be as fast as its text is short.
 */

/** An argument that is no flag. */
interface ArgumentHelp {
  readonly name: string
  readonly description: string
  /** The only values that it takes; empty if it takes any. */
  readonly choices: ReadonlyArray<string>
}

interface FlagHelp extends ArgumentHelp {
  readonly required: boolean
  readonly repeatable: boolean
  readonly aliases: ReadonlyArray<string>
  /** What its value is called; null for a flag that is on or off. */
  readonly metavar: string | null
}

/** A group of flags under a title; global ones every command has. */
interface FlagGroup {
  readonly isGlobal: boolean
  readonly title: string
  readonly flags: ReadonlyArray<FlagHelp>
}

/** What the text shows of a command. */
export interface HelpPage {
  /** Such as `berth node list`. */
  readonly command: string
  readonly summary: string
  readonly usage: string
  readonly aliases: ReadonlyArray<string>
  readonly arguments: ReadonlyArray<ArgumentHelp>
  /** The global flags come last. */
  readonly flagGroups: ReadonlyArray<FlagGroup>
  readonly examples: ReadonlyArray<{ readonly command: string; readonly description: string }>
  /** The commands below it; empty for one that does something. */
  readonly commands: ReadonlyArray<{ readonly name: string; readonly summary: string }>
}

const columns = 80
const indent = 2
/** A term longer than this has its description on the next line. */
const maxTermWidth = 30

/** Words in lines of at most `width`; a longer one has a line of its own. */
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

/** A flag where there is no room to explain it. */
const briefly = ({ aliases, metavar, name }: FlagHelp): string => {
  const spelling = aliases.length === 0 ? `--${name}` : `-${aliases[0]}, --${name}`
  return metavar === null ? spelling : `${spelling} ${metavar}`
}

/** A command line over as many lines as it needs; `end` ends each but the last. */
const commandLines = (command: string, end: string): string =>
  wrapped(command, columns - 6 - end.length)
    .map((line, at) => (at === 0 ? `  ${line}` : `      ${line}`))
    .join(`${end}\n`)

/** A description ends with what it takes and how often. */
const described = (description: string, choices: ReadonlyArray<string>, marks: ReadonlyArray<string | false>): string =>
  [description, choices.length > 0 && `(${choices.join(", ")})`, ...marks].filter(Boolean).join(" ")

/** Whether a description states already that a flag may be repeated. */
const repeats = (description: string) => /repeatable/.test(description)

/** The description as the text of `--help`, with its last line feed. `colour` makes the titles bold. */
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
