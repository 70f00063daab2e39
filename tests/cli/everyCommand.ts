/**
 * One command line of every command, from the rows of the matrix, which are held against the tree of commands: that with which it
 * does its work.
 */
import { type Row, rows } from "./matrix/rows.ts"

/** The first row of each command that is no dry run; without `run`, which needs a node that comes to run (`machine/run.machine.ts`). */
export const everyCommand: ReadonlyArray<Row> = Map.groupBy(
  rows.filter(({ args, command }) => command !== "run" && !args("").includes("--dry-run")),
  ({ command }) => command
)
  .values()
  .map(([first]) => first!)
  .toArray()

/** Its command line: its path, further flags, and its arguments, about what is named `own`. */
export const lineOf = (
  { args, command }: Row,
  own: string,
  flags: ReadonlyArray<string> = []
): ReadonlyArray<string> => [...command.split(" "), ...flags, ...args(own)]

/** The same without a profile. */
export const withoutProfile = (line: ReadonlyArray<string>): ReadonlyArray<string> =>
  line.filter((word, at) => word !== "--profile" && line[at - 1] !== "--profile")

/** Whether it asks nothing of the service, as a reap where no run left a node behind. */
export const isLocal = ({ command }: Row): boolean =>
  /^(?:profile|completion|schema|auth logout|auth token|reap)/.test(command)

/** Whether it prints what it found before it fails. */
export const printsFindings = ({ command }: Row): boolean => command === "doctor" || command === "auth status"
