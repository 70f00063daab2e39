/** The page `docs/cli-output.md`, which shows the rows. `pnpm --filter @berthkit/tests cli-output` writes the page. */
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { cellOf, type Format, formats, hasNotes, isColoured, type Place, type Row, rows } from "./rows.ts"

/** The path of the page. */
export const pagePath = fileURLToPath(new URL("../../../docs/cli-output.md", import.meta.url))

const cellText = (row: Row, format: Format, place: Place): string => {
  const { code, stdout } = cellOf(row, format, place)
  if (code !== 0) return `exit ${code}`
  if (stdout === "") return "nothing"
  return place === "terminal" && isColoured(row, format) ? `${stdout}, in colour` : stdout
}

/** The text about stderr. In a pipe, programs that read JSON get none of it. */
const stderrText = (row: Row, place: Place): string => {
  if (place === "terminal" && row.notes === "progress") return "a progress line, cleared at the end"
  if (!hasNotes(row, "table", place)) return "nothing"
  const lines = row.notes === "progress" ? "a line per change" : "messages"
  const isJson = row.notes === "changes" && !hasNotes(row, "json", place)
  return isJson ? `${lines}; a line of JSON per change with \`json\` or \`ndjson\`` : lines
}

const line = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`

const tableOf = (place: Place): string =>
  [
    line(["command", "record", ...formats.map((format) => `\`${format}\``), "stderr"]),
    line(["---", "---", ...formats.map(() => "---"), "---"]),
    ...rows
      .toSorted((a, b) => (a.command < b.command ? -1 : a.command > b.command ? 1 : 0))
      .map((row) =>
        line([
          `\`${row.command}${row.args("NODE").includes("--dry-run") ? " --dry-run" : ""}\``,
          row.prints ?? "",
          ...formats.map((format) => cellText(row, format, place)),
          stderrText(row, place)
        ])
      )
  ].join("\n")

/** The page as it should be. */
export const page = (): string => `# What berth prints

These tables show what every command prints, in every format, in a pipe and on a terminal. If a cell says "exit" and a number, the command exits with that number. Otherwise it exits with 0.

In the column "record", \`[]\` means a list. \`berth schema COMMAND\` describes the JSON of a record. A card shows one record, one field per line. If a cell has a plural, such as "lines" or "ids", the command prints one line or id for each record.

\`pnpm --filter @berthkit/tests cli-output\` regenerates this page from the same table that the tests check.

- Data goes to stdout, everything else to stderr. In a pipe with \`json\` or \`ndjson\`, a successful command prints nothing to stderr, even if the "stderr" column says "messages". The only exceptions are rows whose "stderr" cell mentions \`json\` or \`ndjson\`, such as \`run\`.
- A failure prints two lines to stderr, \`error:\` and \`hint:\`; with \`json\` and \`ndjson\`, it prints one line of JSON instead. If the command has changed something before the failure, stdout shows it.
- With \`--quiet\`, stderr shows only errors, and changes that stdout does not show (such as the node that \`run\` creates).
- \`NO_COLOR\` and \`--color never\` turn colours off; \`FORCE_COLOR\` and \`--color always\` turn them on in a pipe.
- An empty list is \`[]\` in JSON and YAML; in CSV it is only the header row. In the other formats stdout is empty; for a table, a line on stderr says that the list is empty.
- If a terminal is too narrow for a table, berth leaves out columns, and names them in a line on stderr. In a pipe, a table has all its columns.

## In a pipe

${tableOf("pipe")}

## On a terminal

${tableOf("terminal")}
`

if (import.meta.main) writeFileSync(pagePath, page())
