/**
 * Lays records out as a table. Pure: what it may use of the width and whether there is colour comes in, text comes out.
 */
import { cut, fill, width } from "./cells.ts"
import type { Column } from "./Column.ts"
import { escapeControls } from "./escapeControls.ts"
import { styled } from "./style.ts"

/** A table and the titles of the columns that did not fit. */
export interface Table {
  readonly text: string
  readonly hidden: ReadonlyArray<string>
}

const gap = 2

interface Lane<A> {
  readonly column: Column<A>
  readonly cells: ReadonlyArray<string>
  readonly natural: number
}

const total = (widths: ReadonlyArray<number>) =>
  widths.reduce((sum, each) => sum + each, 0) + gap * Math.max(0, widths.length - 1)

/** The widths that fit into `available`, cutting the widest cuttable column first; undefined when none do. */
const fit = <A>(lanes: ReadonlyArray<Lane<A>>, available: number): ReadonlyArray<number> | undefined => {
  const widths = lanes.map(({ natural }) => natural)
  const floors = lanes.map(({ column, natural }) => Math.min(natural, Math.max(column.shrinkTo ?? natural, 1)))
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

/** The lane that leaves first, if any may. */
const firstToLeave = <A>(lanes: ReadonlyArray<Lane<A>>): Lane<A> | undefined =>
  lanes
    .filter(({ column }) => column.leaves !== undefined)
    .reduce<Lane<A> | undefined>(
      (first, lane) => (first === undefined || lane.column.leaves! < first.column.leaves! ? lane : first),
      undefined
    )

/** The records as a table with a header, at most `available` cells wide where that is possible. */
export const table = <A>(
  columns: ReadonlyArray<Column<A>>,
  records: ReadonlyArray<A>,
  options: { readonly available: number; readonly colour: boolean }
): Table => {
  let lanes: ReadonlyArray<Lane<A>> = columns.map((column) => {
    const cells = records.map((record) => escapeControls(column.value(record)))
    return { column, cells, natural: cells.reduce((most, cell) => Math.max(most, width(cell)), width(column.title)) }
  })
  const hidden: Array<string> = []
  let widths = fit(lanes, options.available)
  for (
    let leaving = firstToLeave(lanes);
    widths === undefined && leaving !== undefined;
    leaving = firstToLeave(lanes)
  ) {
    const left = leaving
    hidden.push(left.column.title)
    lanes = lanes.filter((lane) => lane !== left)
    widths = fit(lanes, options.available)
  }
  // Narrower than the least there is to say: the terminal wraps the lines.
  const settled = widths ?? lanes.map(({ column, natural }) => Math.min(natural, column.shrinkTo ?? natural))

  const line = (cell: (lane: Lane<A>) => string, colour: (text: string, lane: Lane<A>) => string) =>
    lanes
      .map((lane, index) => {
        const align = lane.column.align ?? "left"
        const text = cut(cell(lane), settled[index]!)
        const filled = fill(text, settled[index]!, align)
        // Colour the text alone, and end no line with blanks.
        const blanks = filled.length - text.length
        const last = index === lanes.length - 1 && align === "left"
        return align === "right"
          ? " ".repeat(blanks) + colour(text, lane)
          : colour(text, lane) + (last ? "" : " ".repeat(blanks))
      })
      .join(" ".repeat(gap))
      .trimEnd()

  const lines = [
    line(
      ({ column }) => column.title,
      (text) => styled(text, "strong", options.colour)
    ),
    ...records.map((record, index) =>
      line(
        ({ cells }) => cells[index]!,
        (text, { column }) => styled(text, column.style?.(record), options.colour)
      )
    )
  ]
  return { text: lines.map((each) => `${each}\n`).join(""), hidden }
}

/** One record as a card: a line for each column. */
export const card = <A>(
  columns: ReadonlyArray<Column<A>>,
  record: A,
  options: { readonly colour: boolean }
): string => {
  const titles = columns.reduce((most, { title }) => Math.max(most, width(title)), 0)
  return columns
    .map((column) => {
      const title = styled(column.title, "strong", options.colour) + " ".repeat(titles - width(column.title) + gap)
      return `${title}${styled(escapeControls(column.value(record)), column.style?.(record), options.colour)}\n`
    })
    .join("")
}
