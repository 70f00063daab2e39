/**
 * CSV for spreadsheets and programs, as RFC 4180 quotes it. Lines end with a line feed alone, because the tools of a shell would keep a
 * carriage return (decision 0120).
 */

/** What a spreadsheet takes for the beginning of a formula, in full width too. */
const formula = /^\s*[=+\-@\uff0b\uff0d\uff1d\uff20]/

/** A text of somebody's choice, such as a name: an apostrophe keeps a spreadsheet from running it. */
export const inert = (text: string): string => (formula.test(text) ? `'${text}` : text)

const quoted = (cell: string): string => (/[",]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)

/** These cells on a line. They have no line break: `escapeControls` writes it out. */
export const csvLine = (cells: ReadonlyArray<string>): string => `${cells.map(quoted).join(",")}\n`
