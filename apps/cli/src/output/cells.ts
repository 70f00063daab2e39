/**
 * Measures, cuts, pads and colours text in terminal cells, which are not characters. Widths are the same as in
 * `effect/cli`. That module creates a segmenter when it is loaded, which took an eighth of the time of a short command,
 * so berth does not use it.
 */

/** Characters that take one cell each: Latin letters, punctuation, currency signs. */
const plain = /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u20a0-\u20bf]*$/
const ellipsis = "…"

/** Created at the first text that is not plain, because it takes 10 ms. */
let segmenter: Intl.Segmenter | undefined

const graphemes = (text: string) =>
  (segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" })).segment(text)

// oxlint-disable-next-line no-control-regex
const colours = /\u001b\[[0-9;]*m/g
const invisible = /[\p{Mark}\p{Control}\p{Default_Ignorable_Code_Point}]/gu
const emoji = /\p{Emoji_Presentation}|\ufe0f/u
/** East Asian characters that take two cells. */
const wide =
  /^[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3040-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f251}\u{20000}-\u{3fffd}]/u

const widthOf = (grapheme: string): number => {
  const visible = grapheme.replace(invisible, "")
  return visible === "" ? 0 : emoji.test(grapheme) || wide.test(visible) ? 2 : 1
}

/** The number of cells of a string without its colour codes. */
export const width = (text: string): number => {
  if (plain.test(text)) return text.length
  let cells = 0
  for (const { segment } of graphemes(text.replace(colours, ""))) cells += widthOf(segment)
  return cells
}

/** The number of terminal lines that a string takes, including wrapped lines. */
export const rowsOf = (text: string, columns: number): number =>
  text.split("\n").reduce((rows, line) => rows + Math.max(1, Math.ceil(width(line) / columns)), 0)

/** The text cut to `cells` cells; an ellipsis marks the cut. */
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

/** The text padded with spaces to `cells` cells, on the left if it is aligned right. */
export const fill = (text: string, cells: number, align: "left" | "right"): string => {
  const blanks = " ".repeat(Math.max(0, cells - width(text)))
  return align === "right" ? blanks + text : text + blanks
}

/** Each colour has one meaning. The `Output` service decides whether colour is used. */
const codes = { good: 32, bad: 31, waiting: 33, faint: 2, strong: 1 } as const

/** The meaning of a colour. */
export type Style = keyof typeof codes

/** The text in the style's colour. Unchanged if there is no style, if the text is empty, or if colour is off. */
export const styled = (text: string, style: Style | undefined, colour: boolean): string =>
  colour && style !== undefined && text !== "" ? `\u001b[${codes[style]}m${text}\u001b[0m` : text
