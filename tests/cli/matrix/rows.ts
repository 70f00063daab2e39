/**
 * The expected output of every command in every format, in a pipe and on a terminal: one row for each kind of output. The tests run every
 * row, and `docs/cli-output.md` shows them.
 */
import { placeFlags } from "../../account.ts"
import { formats } from "@berthkit/cli/globalFlags"

export { formats }
export type Format = (typeof formats)[number]

/** What stdout is: a pipe or a terminal. */
export type Place = "pipe" | "terminal"

/** The kind of output on stdout. */
type Kind =
  /** One record: a card for people. */
  | "record"
  /** One record; people get only one value of it. */
  | "bare"
  /** One record, which is a row of a table if several are named. */
  | "row"
  /** Several records: a table for people. */
  | "records"
  /** Records as they come; a table that repaints itself on a terminal. */
  | "changes"
  /** A value that is not a record, such as a schema. */
  | "value"
  /** Text for another program, which has no formats. */
  | "text"
  | "nothing"

export interface Row {
  /** The command's path. */
  readonly command: string
  /** The arguments of the command. Each format has its own nodes, named `own`, so that the formats of a row do not collide. */
  readonly args: (own: string) => ReadonlyArray<string>
  readonly kind: Kind
  /** The name of the record in the tree of commands; undefined if the output is not a record. */
  readonly prints?: string
  /**
   * What stderr shows if nothing fails. Progress is a line that disappears on a terminal. Changes are not in the data, so programs get them
   * as lines of JSON.
   */
  readonly notes: "none" | "lines" | "progress" | "changes"
  /** Which of the formats `id` and `name` the record has no field for. */
  readonly lacks?: ReadonlyArray<Format>
  /** Whether the record has no id yet. */
  readonly isWithoutId?: true
  /** The text on stdin. */
  readonly input?: string
  /** Whether the row gets a fleet file with `-f`. */
  readonly fleet?: true
  /** Whether the row needs the result of an earlier row. */
  readonly follows?: true
}

const plan = "C-2VCPU-8RAM-50DISK"
const order = ["--plan", plan, "--image", "Ubuntu-22.04"]

const row = (
  command: string,
  args: Row["args"] | ReadonlyArray<string>,
  kind: Kind,
  { notes = "none", ...more }: Partial<Omit<Row, "command" | "args" | "kind">> = {}
): Row => ({ command, args: typeof args === "function" ? args : () => args, kind, notes, ...more })

/** All rows, in the order in which they run, because later rows use nodes that earlier rows have made. */
export const rows: ReadonlyArray<Row> = [
  row("node create", (own) => [own, ...order, "--dry-run"], "record", { prints: "proposal", isWithoutId: true }),
  row("node create", (own) => [own, ...order, "--count", "2", "--dry-run"], "records", {
    prints: "proposal[]",
    isWithoutId: true
  }),
  row("node create", (own) => [own, ...order], "record", { prints: "creation", notes: "lines" }),
  row("node create", (own) => [own, ...order, "--count", "3", "--yes"], "records", {
    prints: "creation[]",
    notes: "lines"
  }),
  row("node list", [], "records", { prints: "node[]" }),
  row("node get", (own) => [own], "record", { prints: "node" }),
  row("node get", (own) => [`${own}-*`], "records", { prints: "node[]" }),
  row("node wait", (own) => [own, "--for", "created"], "row", { prints: "outcome", notes: "progress" }),
  row("node wait", (own) => [`${own}-*`, "--for", "created"], "records", { prints: "outcome[]", notes: "progress" }),
  row("node ip", (own) => [own], "bare", { prints: "address" }),
  row("node ssh", (own) => [own, "--", "uptime"], "text"),
  row("apply", ["--dry-run"], "records", { prints: "fleetChange[]", notes: "lines", isWithoutId: true, fleet: true }),
  row("apply", ["--yes"], "records", { prints: "fleetChange[]", notes: "lines", fleet: true }),
  row("diff", [], "records", { prints: "fleetChange[]", notes: "lines", fleet: true, follows: true }),
  row("fleet adopt", (own) => [own, "--as", "spare-1"], "record", { prints: "fleetMember", fleet: true }),
  row("fleet forget", ["spare-1"], "record", { prints: "fleetMember", notes: "lines", fleet: true, follows: true }),
  row("fleet list", [], "records", { prints: "fleet[]", follows: true }),
  row("destroy", ["--yes"], "records", { prints: "fleetChange[]", notes: "lines", fleet: true, follows: true }),
  row("commitment set", (own) => [own, "auto_terminate", "--dry-run"], "record", { prints: "proposal" }),
  row("commitment set", (own) => [own, "auto_terminate", "--yes"], "record", { prints: "commitment", notes: "lines" }),
  row("commitment get", (own) => [own], "record", { prints: "ownCommitment", notes: "lines" }),
  row("cost", [], "records", { prints: "cost[]", notes: "lines" }),
  row("node delete", (own) => [own, "--dry-run"], "record", { prints: "proposal" }),
  row("node delete", (own) => [`${own}-*`, "--dry-run"], "records", { prints: "proposal[]" }),
  row("node watch", (own) => [own, "--interval", "1s"], "changes", { prints: "nodeChange" }),
  row("node delete", (own) => [`${own}-1`, "--yes"], "row", { prints: "outcome", notes: "lines" }),
  row("node delete", (own) => [`${own}-2`, `${own}-3`, "--yes"], "records", { prints: "outcome[]", notes: "lines" }),
  row("inventory", ["--ansible"], "value"),
  row("ssh-config", [], "text"),
  row("run", (own) => [...order, "--name", own, "--dry-run", "--", "true"], "record", {
    prints: "proposal",
    isWithoutId: true
  }),
  row("run", (own) => [...order, "--name", own, "--reuse", "--", "echo", own], "text", { notes: "changes" }),
  row("reap", ["--within", "1h", "--dry-run"], "records", { prints: "proposal[]" }),
  row("reap", ["--within", "1h"], "records", { prints: "outcome[]" }),
  row("image list", ["--plan", plan], "records", { prints: "imageWithPlans[]" }),
  row("image saved", [], "records", { prints: "image[]" }),
  row("plan list", ["--ram", "8"], "records", { prints: "plan[]" }),
  row("plan get", [plan], "record", { prints: "plan" }),
  row("history", (own) => [own], "records", { prints: "change[]", follows: true }),
  row("limits", [], "record", { prints: "limits", lacks: ["id", "name"] }),
  row("doctor", [], "records", { prints: "check[]" }),
  row("auth login", (own) => ["--profile", own, ...placeFlags], "record", {
    prints: "profile",
    notes: "lines",
    input: "berth-key\nberth-token\n"
  }),
  row("auth status", (own) => ["--profile", own], "record", { prints: "account" }),
  row("auth token", (own) => ["--profile", own], "text"),
  row("profile list", [], "records", { prints: "profile[]" }),
  row("profile show", (own) => [own], "record", { prints: "profile" }),
  row("profile use", (own) => [own], "record", { prints: "profile" }),
  row("auth logout", (own) => ["--profile", own], "nothing", { notes: "lines" }),
  row("profile remove", ["spare"], "nothing", { notes: "lines" }),
  row("schema", ["node", "list"], "value"),
  row("api", ["/nodes/", "-q", "per_page=1"], "value"),
  row("completion", ["bash"], "text")
]

/** The expected output and exit code of a cell. */
export interface Cell {
  readonly code: number
  readonly stdout: string
}

const recordCells: Readonly<Record<Format, string>> = {
  table: "a card",
  json: "an object",
  ndjson: "a line",
  yaml: "a mapping",
  csv: "header, a row",
  id: "the id",
  name: "the name"
}

const cells: Readonly<Record<Kind, Readonly<Record<Format, string>>>> = {
  record: recordCells,
  row: { ...recordCells, table: "a table" },
  bare: { ...recordCells, table: "the value alone" },
  records: {
    table: "a table",
    json: "an array",
    ndjson: "lines",
    yaml: "a sequence",
    csv: "header, rows",
    id: "ids",
    name: "names"
  },
  changes: {
    table: "header, rows",
    json: "objects",
    ndjson: "lines",
    yaml: "documents",
    csv: "header, rows",
    id: "ids",
    name: "names"
  },
  value: { table: "JSON", json: "JSON", ndjson: "a line", yaml: "YAML", csv: "", id: "", name: "" },
  text: { table: "text", json: "text", ndjson: "text", yaml: "text", csv: "text", id: "text", name: "text" },
  nothing: { table: "", json: "", ndjson: "", yaml: "", csv: "", id: "", name: "" }
}

/** The formats csv, id and name need rows, which a plain value does not have. */
const isRefused = ({ kind, lacks = [] }: Row, format: Format): boolean =>
  lacks.includes(format) || (kind === "value" && ["csv", "id", "name"].includes(format))

/** Whether the output has colours on a terminal. */
export const isColoured = ({ kind }: Row, format: Format): boolean =>
  format === "table" && ["record", "row", "records", "changes"].includes(kind)

/** The expected cell of a row in a format. */
export const cellOf = (row: Row, format: Format, place: Place): Cell => {
  if (isRefused(row, format)) return { code: 2, stdout: "" }
  if (row.kind === "changes" && format === "table" && place === "terminal") return { code: 0, stdout: "a live table" }
  if (row.isWithoutId && format === "id") return { code: 0, stdout: "" }
  return { code: 0, stdout: cells[row.kind][format] }
}

/** Whether stderr has lines for people. Programs that read JSON from a pipe get only an error there. */
export const hasNotes = ({ notes }: Row, format: Format, stderr: Place): boolean =>
  stderr === "terminal"
    ? notes === "lines" || notes === "changes"
    : notes !== "none" && format !== "json" && format !== "ndjson"
