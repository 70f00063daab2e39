/**
 * Text measured and cut in terminal cells, not in characters. Effect measures; cutting is ours.
 */
import { CliOutput } from "effect/cli"

const plain = /^[\u0020-\u007e]*$/
const ellipsis = "…"
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/** How many cells the text takes. */
export const width = (text: string): number => (plain.test(text) ? text.length : CliOutput.displayWidth(text))

/** The text in at most `cells` cells; what is cut off is shown by an ellipsis. */
export const cut = (text: string, cells: number): string => {
  if (width(text) <= cells) return text
  if (cells <= 1) return cells === 1 ? ellipsis : ""
  let kept = ""
  let room = cells - 1
  for (const { segment } of graphemes.segment(text)) {
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
