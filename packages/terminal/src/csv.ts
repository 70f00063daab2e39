/**
 * CSV for spreadsheets and programs, quoted as in RFC 4180. Lines end with a line feed only, because shell tools would keep a
 * carriage return (decision 0120).
 */

/** Matches characters that a spreadsheet may read as the start of a formula, also in their full-width forms. */
const formula = /^\s*[=+\-@\uff0b\uff0d\uff1d\uff20]/

/**
 * Makes a free text, such as a name, harmless in a spreadsheet: a leading apostrophe keeps the spreadsheet from running
 * the text as a formula.
 */
export const inert = (text: string): string => (formula.test(text) ? `'${text}` : text)

const quoted = (cell: string): string => (/[",]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)

/** A line of cells. Cells contain no line break, because `escapeControls` has escaped it. */
export const csvLine = (cells: ReadonlyArray<string>): string => `${cells.map(quoted).join(",")}\n`
