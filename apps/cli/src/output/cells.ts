/**
 * Text in terminal cells, which are not characters: measured, cut, filled up and coloured. Effect measures; the rest is ours.
 */
import { CliOutput } from "effect/cli"

const plain = /^[\u0020-\u007e]*$/
const ellipsis = "…"

/** Made when the first text is cut: that takes 10 ms, and most texts fit. */
let segmenter: Intl.Segmenter | undefined

const graphemes = (text: string) =>
  (segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" })).segment(text)

/** How many cells the text takes. */
export const width = (text: string): number => (plain.test(text) ? text.length : CliOutput.displayWidth(text))

/** How many lines of a terminal this wide the text takes, where those that are too long are wrapped. */
export const rowsOf = (text: string, columns: number): number =>
  text.split("\n").reduce((rows, line) => rows + Math.max(1, Math.ceil(width(line) / columns)), 0)

/** The text in at most `cells` cells; what is cut off is shown by an ellipsis. */
export const cut = (text: string, cells: number): string => {
  if (width(text) <= cells) return text
  if (cells <= 1) return cells === 1 ? ellipsis : ""
  let kept = ""
  let room = cells - 1
  for (const { segment } of graphemes(text)) {
    room -= width(segment)
    if (room < 0) break
    kept += segment
  }
  return kept + ellipsis
}

/** The text filled up with blanks to `cells` cells, on the left when it is flush right. */
export const fill = (text: string, cells: number, align: "left" | "right"): string => {
  const blanks = " ".repeat(Math.max(0, cells - width(text)))
  return align === "right" ? blanks + text : text + blanks
}

/** Each colour has one meaning. Whether colour is wanted at all is decided by the `Output` service. */
const codes = { good: 32, bad: 31, waiting: 33, faint: 2, strong: 1 } as const

/** What a colour means. */
export type Style = keyof typeof codes

/** The text in the style's colour; unchanged without a style or a text, or where colour is off. */
export const styled = (text: string, style: Style | undefined, colour: boolean): string =>
  colour && style !== undefined && text !== "" ? `\u001b[${codes[style]}m${text}\u001b[0m` : text
