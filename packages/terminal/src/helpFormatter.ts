/** Formats the help of `berth-server` and `berth-watch`, whose command lines `effect/cli` parses, like the help of `berth`. */
import { Layer, Option } from "effect"
import { CliOutput, type HelpDoc } from "effect/cli"
import { helpText, type HelpPage } from "./helpText.ts"

type FlagDoc = HelpDoc.FlagDoc

/** Names of types, which `effect/cli` shows if a flag has no metavar. This formatter then shows the flag's name: `--host` takes a HOST. */
const types = new Set([
  "string",
  "integer",
  "float",
  "number",
  "choice",
  "date",
  "file",
  "directory",
  "path",
  "redacted"
])

/** Splits a description into its text and the choices that `effect/cli` has appended. */
const choicesIn = (description: string): readonly [text: string, choices: ReadonlyArray<string>] => {
  const [, text = description, list] = /^(.*?) ?\(choices: ([^)]*)\)$/s.exec(description) ?? []
  return [text, list?.split(", ") ?? []]
}

const metavarOf = ({ name, type }: FlagDoc): string | null => {
  if (type === "boolean") return null
  return types.has(type) || type.includes("|") ? name.replaceAll("-", "_").toUpperCase() : type
}

const flagOf = (flag: FlagDoc): HelpPage["flagGroups"][number]["flags"][number] => {
  const [description, choices] = choicesIn(Option.getOrElse(flag.description, () => ""))
  return {
    name: flag.name,
    description,
    choices,
    // `effect/cli` marks repeatable flags as required, although they are optional.
    required: flag.required && !description.includes("repeatable"),
    repeatable: false,
    aliases: flag.aliases.map((alias) => alias.replace(/^-+/, "")),
    metavar: metavarOf(flag)
  }
}

const pageOf = (doc: HelpDoc.HelpDoc): HelpPage => {
  const group = (title: string, flags: ReadonlyArray<FlagDoc> = [], isGlobal = false) =>
    flags.length === 0 ? [] : [{ title, isGlobal, flags: flags.map(flagOf) }]
  return {
    command: doc.usage,
    summary: doc.description,
    usage: doc.usage.replace("<subcommand>", "COMMAND").replace(/<([^>]+)>/g, (_, name: string) => name.toUpperCase()),
    aliases: [],
    arguments: (doc.args ?? []).map(({ description, name }) => {
      const [text, choices] = choicesIn(Option.getOrElse(description, () => ""))
      return { name: name.toUpperCase(), description: text, choices }
    }),
    flagGroups: [
      ...group("FLAGS", doc.flags),
      ...group("FLAGS OF THE COMMANDS ABOVE", doc.inheritedFlags),
      ...group("GLOBAL FLAGS", doc.globalFlags, true)
    ],
    examples: (doc.examples ?? []).map(({ command, description = "" }) => ({ command, description })),
    commands: (doc.subcommands ?? []).flatMap(({ commands }) =>
      commands.map(({ description, name, shortDescription = description }) => ({
        name,
        summary: shortDescription ?? ""
      }))
    )
  }
}

/** Replaces the formatter of `effect/cli` for help and versions. Titles are bold if stdout is a terminal. */
export const helpLayer = Layer.sync(CliOutput.Formatter, () => {
  const colour = process.stdout.isTTY && (process.env["NO_COLOR"] ?? "") === ""
  return {
    ...CliOutput.defaultFormatter({ colors: colour }),
    formatVersion: (name, version) => `${name} ${version}`,
    formatHelpDoc: (doc) => helpText(pageOf(doc), colour).trimEnd()
  }
})
