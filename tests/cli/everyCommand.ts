/** One working command line for each command, from the rows of the matrix. A test compares the rows with the tree of commands. */
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fleetArgs } from "./matrix/fleetFile.ts"
import { type Row, rows } from "./matrix/rows.ts"

/**
 * For each command, the first row that is no dry run and does not depend on another row. `run` is left out, because its node has to start
 * (see `machine/run.machine.ts`).
 */
export const everyCommand: ReadonlyArray<Row> = Map.groupBy(
  rows.filter(({ args, command, follows }) => command !== "run" && follows !== true && !args("").includes("--dry-run")),
  ({ command }) => command
)
  .values()
  .map(([first]) => first!)
  .toArray()

/** The command line of a row: its path, further flags, and its arguments. Nodes are named after `own`. */
export const lineOf = (row: Row, own: string, flags: ReadonlyArray<string> = []): ReadonlyArray<string> => [
  ...row.command.split(" "),
  ...flags,
  ...row.args(own),
  ...fleetArgs(row, folderOf(), `f${randomUUID().slice(0, 8)}`)
]

/** The folder for the folders of commands, which is removed when the process ends. */
let root: string | undefined

const rootOf = (): string => {
  if (root !== undefined) return root
  const made = mkdtempSync(join(tmpdir(), "berth-commands-"))
  process.once("exit", () => rmSync(made, { recursive: true, force: true }))
  return (root = made)
}

/** A new folder, which is removed when the process ends. */
const folderOf = (): string => mkdtempSync(join(rootOf(), "command-"))

/** Whether the command needs the home folder, because it must keep something there. */
export const needsHome = ({ fleet }: Row): boolean => fleet === true

/** A state folder, if the command needs one. */
export const stateOf = (row: Row): Readonly<Record<string, string>> =>
  needsHome(row) ? { XDG_STATE_HOME: folderOf() } : {}

/** The same command line without a profile. */
export const withoutProfile = (line: ReadonlyArray<string>): ReadonlyArray<string> =>
  line.filter((word, at) => word !== "--profile" && line[at - 1] !== "--profile")

/** Whether the command sends no request to the service. A reap sends none if no run left a node behind. */
export const isLocal = ({ command }: Row): boolean =>
  /^(?:profile|completion|schema|auth logout|auth token|reap)/.test(command)

/** Whether the command prints its findings before it fails. */
export const printsFindings = ({ command }: Row): boolean => command === "doctor" || command === "auth status"
