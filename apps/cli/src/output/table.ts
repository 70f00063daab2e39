/**
 * The format `table`: a list as a table, a single record as a card. The layout is pure; the available width and colour are parameters.
 */
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { Clock, Effect } from "effect"
import { cut, fill, styled, width } from "./cells.ts"
import type { Field, RecordDescriptor } from "./RecordDescriptor.ts"
import { Output, printNote } from "./Output.ts"
import { fieldsFor } from "./Selection.ts"
import type { View, Writer } from "./Writer.ts"

/** A table, and the titles of the columns that did not fit. */
export interface Table {
  readonly text: string
  readonly hidden: ReadonlyArray<string>
}

/** Options of a table or card. */
interface Drawing {
  readonly colour: boolean
  /** Whether a table has a title line; default true. */
  readonly header?: boolean
  /** The time from which ages are measured; default the epoch, for records without ages. */
  readonly nowMillis?: number
}

const gap = 2

interface Column<A> {
  readonly field: Field<A>
  readonly cells: ReadonlyArray<string>
  readonly natural: number
}

const total = (widths: ReadonlyArray<number>) =>
  widths.reduce((sum, each) => sum + each, 0) + gap * Math.max(0, widths.length - 1)

/** The narrowest width of a column that may be cut: three characters and the ellipsis. */
const minWidth = 4

/** Computes the narrowest width to which a column may be cut. */
type Floor = <A>(column: Column<A>) => number

const useful: Floor = ({ field, natural }) => Math.max(field.shrinkTo ?? natural, 1)
const narrow: Floor = ({ field, natural }) => (field.shrinkTo === undefined ? natural : minWidth)
const anything: Floor = () => 1

/** Column widths that fit into `available`. Cuts the widest column first. Undefined if no widths fit. */
const fit = <A>(
  columns: ReadonlyArray<Column<A>>,
  available: number,
  floor: Floor
): ReadonlyArray<number> | undefined => {
  const widths = columns.map(({ natural }) => natural)
  const floors = columns.map((column) => Math.min(column.natural, floor(column)))
  if (total(floors) > available) return undefined
  for (let excess = total(widths) - available; excess > 0; excess--) {
    let widest = -1
    for (const [index, at] of widths.entries()) {
      if (at > floors[index]! && (widest === -1 || at > widths[widest]!)) widest = index
    }
    widths[widest] = widths[widest]! - 1
  }
  return widths
}

/** The records as a table with a header, at most `available` cells wide if possible. */
export const table = <A>(
  fields: ReadonlyArray<Field<A>>,
  records: ReadonlyArray<A>,
  options: Drawing & { readonly available: number }
): Table => {
  const { header = true, nowMillis = 0 } = options
  let columns: ReadonlyArray<Column<A>> = fields.map((field) => {
    const cells = records.map((record) => escapeControls(field.value(record, nowMillis)))
    const title = Math.max(header ? width(field.title) : 1, field.minWidth ?? 1)
    return { field, cells, natural: cells.reduce((max, cell) => Math.max(max, width(cell)), title) }
  })
  const hidden: Array<string> = []
  let fitting = fit(columns, options.available, useful)
  for (const { dropOrder, key, title } of fields.toSorted((a, b) => (a.dropOrder ?? 0) - (b.dropOrder ?? 0))) {
    if (fitting !== undefined) break
    if (dropOrder === undefined) continue
    hidden.push(title)
    columns = columns.filter(({ field }) => field.key !== key)
    fitting = fit(columns, options.available, useful)
  }
  // If the terminal is narrower still, cut strings further, and then drop columns from the right until the table fits or one column is
  // left.
  while (fitting === undefined) {
    fitting = fit(columns, options.available, columns.length > 1 ? narrow : anything)
    if (fitting !== undefined || columns.length <= 1) break
    hidden.push(columns.at(-1)!.field.title)
    columns = columns.slice(0, -1)
  }
  const widths = fitting ?? columns.map(() => Math.max(0, options.available))

  const line = (cell: (column: Column<A>) => string, colour: (text: string, column: Column<A>) => string) =>
    columns
      .map((column, index) => {
        const align = column.field.align ?? "left"
        const text = cut(cell(column), widths[index]!)
        const filled = fill(text, widths[index]!, align)
        // Colour only the text, and end no line with spaces.
        const blanks = filled.length - text.length
        const last = index === columns.length - 1 && align === "left"
        return align === "right"
          ? " ".repeat(blanks) + colour(text, column)
          : colour(text, column) + (last ? "" : " ".repeat(blanks))
      })
      .join(" ".repeat(gap))
      .trimEnd()

  const titles = () =>
    line(
      ({ field }) => field.title,
      (text) => styled(text, "strong", options.colour)
    )
  const lines = [
    ...(header ? [titles()] : []),
    ...records.map((record, index) =>
      line(
        ({ cells }) => cells[index]!,
        (text, { field }) => styled(text, field.style?.(record), options.colour)
      )
    )
  ]
  return { text: lines.map((each) => `${each}\n`).join(""), hidden }
}

/** One record as a card, with one line per field. */
export const card = <A>(fields: ReadonlyArray<Field<A>>, record: A, options: Drawing): string => {
  const titles = fields.reduce((max, { title }) => Math.max(max, width(title)), 0)
  return fields
    .map((field) => {
      const title = styled(field.title, "strong", options.colour) + " ".repeat(titles - width(field.title) + gap)
      return `${title}${styled(escapeControls(field.value(record, options.nowMillis ?? 0)), field.style?.(record), options.colour)}\n`
    })
    .join("")
}

/** Writes the rows, and returns the titles of the columns that did not fit. */
const writeRows = Effect.fnUntraced(function* <A>(
  descriptor: RecordDescriptor<A>,
  records: ReadonlyArray<A>,
  { columns, header }: View
) {
  const { data, stdout } = yield* Output
  const nowMillis = yield* Clock.currentTimeMillis
  const fields = yield* Effect.fromResult(fieldsFor(descriptor, records, columns))
  const shown = columns.length > 0 ? fields : fields.filter(({ cardOnly }) => !cardOnly)
  const { hidden, text } = table(shown, records, {
    available: stdout.columns,
    colour: stdout.colour,
    header,
    nowMillis
  })
  yield* data(text)
  return hidden
})

export const tableWriter: Writer = {
  /** Prints a note about dropped columns. */
  list: (descriptor, records, view) =>
    Effect.gen(function* () {
      if (records.length === 0) {
        yield* Effect.fromResult(fieldsFor(descriptor, records, view.columns))
        return yield* printNote(`There are ${descriptor.none}.`)
      }
      const hidden = yield* writeRows(descriptor, records, view)
      const { stdout } = yield* Output
      if (hidden.length === 0) return
      const titles = `Not shown at this width: ${hidden.join(", ")}.`
      yield* printNote(
        width(titles) <= stdout.columns
          ? titles
          : `${hidden.length} ${hidden.length === 1 ? "column" : "columns"} hidden.`
      )
    }),
  one: (descriptor, record, { columns }) =>
    Effect.gen(function* () {
      const { data, stdout } = yield* Output
      const nowMillis = yield* Clock.currentTimeMillis
      const fields = yield* Effect.fromResult(fieldsFor(descriptor, [record], columns))
      yield* data(card(fields, record, { colour: stdout.colour, nowMillis }))
    }),
  next: (descriptor, records, view) => Effect.asVoid(writeRows(descriptor, records, view)),
  inParts: false,
  hasColumns: true
}
