/** Makes a page for each command of `berth`, from the data of its help (`apps/cli/src/commands/tree.ts`). */
import { isNoun, verbsOf } from "@berthkit/cli/commandTree"
import { tree } from "@berthkit/cli/commands"
import type { CommandHelp, FlagHelp } from "@berthkit/cli/commandHelp"
import type { Page } from "./Page.ts"
import { address } from "./place.ts"

/** Escapes the text of a cell or a definition, so that no part of it is read as Markdown or HTML. */
const plain = (text: string): string =>
  text
    .replaceAll(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]!)
    .replaceAll(/[*_`|[\]\\]/g, "\\$&")

const slugOfCommand = (name: string): string => `cli/${name.replaceAll(" ", "-")}`

const notes = ({ choices, list, repeatable, required }: FlagHelp): string =>
  [
    ...(required ? ["Required."] : []),
    ...(choices.length > 0 ? [`One of ${choices.map((choice) => `\`${choice}\``).join(", ")}.`] : []),
    ...(list ? ["Several with commas between them."] : []),
    ...(repeatable ? ["May be given again."] : [])
  ].join(" ")

const flagRow = (flag: FlagHelp): string => {
  const names = [...flag.aliases.map((alias) => (alias.length === 1 ? `-${alias}` : `--${alias}`)), `--${flag.name}`]
  const spelled = `${names.join(", ")}${flag.metavar === null ? "" : ` ${flag.metavar}`}`.replaceAll("|", "\\|")
  return `| \`${spelled}\` | ${plain(flag.description)}. ${notes(flag)} |`
}

const flagTable = (flags: ReadonlyArray<FlagHelp>): string =>
  ["| flag | what it does |", "|---|---|", ...flags.map(flagRow)].join("\n")

const sentenceCase = (title: string): string => title[0]! + title.slice(1).toLowerCase()

const columnsOf = ({ columns, sortColumns }: CommandHelp): string => {
  if (columns.length === 0) return ""
  const unsortable = columns.filter((name) => !sortColumns.includes(name)).map((name) => `\`${name}\``)
  const sorting = unsortable.length === 0 ? "" : ` \`--sort\` takes all of them but ${unsortable.join(", ")}.`
  return `## Columns\n\n\`--columns\` takes ${columns.map((name) => `\`${name}\``).join(", ")}, or \`all\`.${sorting}`
}

const commandPage = (help: CommandHelp): Page => {
  const groups = help.flagGroups.map(({ flags, title }) => `## ${sentenceCase(title)}\n\n${flagTable(flags)}`)
  const examples = help.examples.map(({ command, description }) => `# ${description}\n${command}`).join("\n\n")
  const args = help.arguments.map(
    ({ choices, description, name }) =>
      `| \`${name}\` | ${plain(description)}.${choices.length > 0 ? ` One of ${choices.map((each) => `\`${each}\``).join(", ")}.` : ""} |`
  )
  return {
    slug: slugOfCommand(help.command.replace(/^berth /, "")),
    title: help.command,
    description: `${help.summary}.`,
    markdown: [
      `${help.summary}.`,
      `\`\`\`sh frame="none" wrap\n${help.usage}\n\`\`\``,
      help.aliases.length > 0 ? `Also: ${help.aliases.map((alias) => `\`${alias}\``).join(", ")}.` : "",
      examples === "" ? "" : `## Examples\n\n\`\`\`sh frame="none" wrap\n${examples}\n\`\`\``,
      args.length > 0 ? `## Arguments\n\n| argument | what it is |\n|---|---|\n${args.join("\n")}` : "",
      ...groups,
      columnsOf(help)
    ]
      .filter(Boolean)
      .join("\n\n")
  }
}

/** The meaning of each exit code, by its name. */
const meanings: Readonly<Record<string, string>> = {
  done: "It worked.",
  fault: "A bug in the program.",
  usage: "The command line, or a setting that it needs, is wrong.",
  denied: "Not authenticated, or not allowed.",
  notFound: "What was asked for does not exist.",
  rejected: "The service refused the request: it is invalid, or in conflict with the present state.",
  rateLimited: "The rate limit is used up, or the wait for it would outlast the deadline.",
  unavailable: "The service cannot be reached, failed, or took too long.",
  outcomeUnknown: "The reply to a create was lost, and Berth could not find out what became of it.",
  someFailed: "Some of several failed.",
  localFile: "A local file or the output cannot be read or written.",
  different: "`berth diff`: the nodes differ from the fleet file.",
  hungUp: "The terminal was closed (SIGHUP).",
  interrupted: "Ctrl-C, or you answered no.",
  terminated: "SIGTERM."
}

interface Schemas {
  readonly exitCodes: Readonly<Record<string, number>>
  readonly error: {
    readonly properties: {
      readonly error: { readonly properties: { readonly code: { readonly enum: ReadonlyArray<string> } } }
    }
  }
}

const exitCodePage = ({ error, exitCodes }: Schemas): Page => {
  const rows = Object.entries(exitCodes).map(([name, code]) => {
    const meaning = meanings[name]
    if (meaning === undefined) throw new Error(`the exit code ${name} has no sentence on its page`)
    return `| ${code} | \`${name}\` | ${meaning} |`
  })
  const codes = error.properties.error.properties.code.enum.map((code) => `\`${code}\``).join(", ")
  return {
    slug: "cli/exit-codes",
    title: "Exit codes and errors",
    description: "What the exit codes of berth and berth-watch mean, and the codes of errors in JSON.",
    markdown: `The numbers never change: scripts rely on them. \`berth-watch\` uses the same ones, \`berth-server\` the first three; its \`learn --check\` exits with 1 if the service has changed.

| exit code | name | meaning |
|---|---|---|
${rows.join("\n")}

## Errors in JSON

With \`-o json\`, an error on stderr is \`{"error":{"code","message","hint","httpStatus","retryable","details"}}\`. \`code\` is one of ${codes}.

\`berth schema\` prints this as JSON Schema, with that of every command.`
  }
}

/** The pages, and the navigation of them. */
export const commandPages = (helps: Readonly<Record<string, CommandHelp>>, schemas: Schemas) => {
  const overview = tree.map((entry) => {
    const verbs = isNoun(entry) ? verbsOf([entry]) : verbsOf([entry])
    const lines = verbs.map(({ path, verb }) => {
      const name = path.join(" ")
      return `| [\`berth ${name}\`](${address(slugOfCommand(name))}/) | ${plain(verb.summary)} |`
    })
    return { lines, title: isNoun(entry) ? entry.summary : undefined }
  })
  const table = (lines: ReadonlyArray<string>) => `| command | what it does |\n|---|---|\n${lines.join("\n")}`
  const single = overview.filter(({ title }) => title === undefined).flatMap(({ lines }) => lines)
  const index: Page = {
    slug: "cli/commands",
    title: "All commands of berth",
    description: "Every command of berth, with a page for each.",
    markdown: [
      "`berth help COMMAND` prints the same at the terminal.",
      ...overview.flatMap(({ lines, title }) => (title === undefined ? [] : [`## ${title}\n\n${table(lines)}`])),
      `## Account, service, shell\n\n${table(single)}`
    ].join("\n\n")
  }
  const described = verbsOf(tree).map(({ path }) => {
    const help = helps[path.join(" ")]
    if (help === undefined) throw new Error(`berth describes no command ${path.join(" ")}`)
    return commandPage(help)
  })
  return [index, exitCodePage(schemas), ...described] as const
}
