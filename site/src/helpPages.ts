/** Makes one page for `berth-watch` and one for `berth-server`, from the `--help` of all their commands. */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { root } from "./navigation.ts"
import type { Page } from "./Page.ts"

const helpOf = async (app: "server" | "watch", words: ReadonlyArray<string>): Promise<string> => {
  const binary = join(root, `apps/${app}/bin/berth-${app}.mjs`)
  const { stdout } = await promisify(execFile)(process.execPath, [binary, ...words, "--help"], {
    env: { NO_COLOR: "1" }
  })
  return stdout.trim()
}

/** The subcommands that a help text lists. */
const commandsIn = (help: string): ReadonlyArray<string> =>
  Array.from(
    (/^SUBCOMMANDS\n((?: {2}.*\n?)+)/m.exec(help)?.[1] ?? "").matchAll(/^ {2}([a-z-]+) /gm),
    ([, name]) => name!
  )

/** The help of a command and of all its subcommands. */
const sectionsOf = async (app: "server" | "watch", words: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const help = await helpOf(app, words)
  // Show the global flags only once.
  const shown = words.length === 0 ? help : help.replace(/\n*^GLOBAL FLAGS\n(?: {2}.*\n?)+/m, "")
  const below = await Promise.all(commandsIn(help).map((name) => sectionsOf(app, [...words, name])))
  return [`## ${[`berth-${app}`, ...words].join(" ")}\n\n\`\`\`text wrap\n${shown.trim()}\n\`\`\``, ...below.flat()]
}

export const helpPages = async (): Promise<ReadonlyArray<Page>> => [
  {
    slug: "daemon/commands",
    title: "Commands of berth-watch",
    description: "Every command and flag of the daemon, as its help has them.",
    markdown: (await sectionsOf("watch", [])).join("\n\n")
  },
  {
    slug: "mock/flags",
    title: "Flags of berth-server",
    description: "Every flag of the mock server, as its help has them.",
    markdown: (await sectionsOf("server", [])).join("\n\n")
  }
]
