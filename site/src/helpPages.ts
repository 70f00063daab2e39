/** What `berth-watch` and `berth-server` print for `--help`, of every command: a page each. */
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { root } from "./navigation.ts"
import type { Page } from "./Page.ts"

const helpOf = (app: "server" | "watch", words: ReadonlyArray<string>): string =>
  execFileSync(process.execPath, [join(root, `apps/${app}/bin/berth-${app}.mjs`), ...words, "--help"], {
    encoding: "utf8",
    env: { NO_COLOR: "1" }
  }).trim()

/** The commands below one, from its help. */
const commandsIn = (help: string): ReadonlyArray<string> =>
  Array.from(
    (/^SUBCOMMANDS\n((?: {2}.*\n?)+)/m.exec(help)?.[1] ?? "").matchAll(/^ {2}([a-z-]+) /gm),
    ([, name]) => name!
  )

/** The help of a command, and of all below it. */
const sectionsOf = (app: "server" | "watch", words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const help = helpOf(app, words)
  // The flags that every command has are shown once.
  const shown = words.length === 0 ? help : help.replace(/\n*^GLOBAL FLAGS\n(?: {2}.*\n?)+/m, "")
  return [
    `## ${[`berth-${app}`, ...words].join(" ")}\n\n\`\`\`text wrap\n${shown.trim()}\n\`\`\``,
    ...commandsIn(help).flatMap((name) => sectionsOf(app, [...words, name]))
  ]
}

export const helpPages = (): ReadonlyArray<Page> => [
  {
    slug: "daemon/commands",
    title: "Commands of berth-watch",
    description: "Every command and flag of the daemon, as its help has them.",
    markdown: sectionsOf("watch", []).join("\n\n")
  },
  {
    slug: "mock/flags",
    title: "Flags of berth-server",
    description: "Every flag of the mock server, as its help has them.",
    markdown: sectionsOf("server", []).join("\n\n")
  }
]
