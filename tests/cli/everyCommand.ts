/** One command line that does the work of each command, from the rows of the matrix. The rows are checked against the tree of commands. */
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fleetArgs } from "./matrix/fleetFile.ts"
import { type Row, rows } from "./matrix/rows.ts"

/**
 * The first row of each command that is no dry run and needs none before it; without `run`, which needs a node that comes to run
 * (`machine/run.machine.ts`).
 */
export const everyCommand: ReadonlyArray<Row> = Map.groupBy(
  rows.filter(({ args, command, follows }) => command !== "run" && follows !== true && !args("").includes("--dry-run")),
  ({ command }) => command
)
  .values()
  .map(([first]) => first!)
  .toArray()

/** Its command line: its path, further flags, and its arguments, about what is named `own`. */
export const lineOf = (row: Row, own: string, flags: ReadonlyArray<string> = []): ReadonlyArray<string> => [
  ...row.command.split(" "),
  ...flags,
  ...row.args(own),
  ...fleetArgs(row, folderOf(), `f${randomUUID().slice(0, 8)}`)
]

/** Where folders of commands are, until the process ends. */
let root: string | undefined

const rootOf = (): string => {
  if (root !== undefined) return root
  const made = mkdtempSync(join(tmpdir(), "berth-commands-"))
  process.once("exit", () => rmSync(made, { recursive: true, force: true }))
  return (root = made)
}

/** A folder of its own, until the process ends. */
const folderOf = (): string => mkdtempSync(join(rootOf(), "command-"))

/** Whether it keeps something in the home folder that it cannot do without. */
export const needsHome = ({ fleet }: Row): boolean => fleet === true

/** A state folder for a command that cannot do without one. */
export const stateOf = (row: Row): Readonly<Record<string, string>> =>
  needsHome(row) ? { XDG_STATE_HOME: folderOf() } : {}

/** The same without a profile. */
export const withoutProfile = (line: ReadonlyArray<string>): ReadonlyArray<string> =>
  line.filter((word, at) => word !== "--profile" && line[at - 1] !== "--profile")

/** Whether it sends no request to the service, such as a reap if no run left a node behind. */
export const isLocal = ({ command }: Row): boolean =>
  /^(?:profile|completion|schema|auth logout|auth token|reap)/.test(command)

/** Whether it prints what it found before it fails. */
export const printsFindings = ({ command }: Row): boolean => command === "doctor" || command === "auth status"
