/** Makes strings for a page harmless and short, and writes numbers as people do. Pure. */

/** C0 and C1 controls, line separators, direction marks and overrides, lone surrogates: shown as escapes. */
const unsafe =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Surrogate}/gu

const written = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

const maxShown = 300

/** A string from outside, cut to 300 characters. */
export const plain = (text: string): string => {
  const shown = text.replace(unsafe, written)
  return shown.length <= maxShown ? shown : `${shown.slice(0, maxShown).replace(/\p{Surrogate}$/u, "")}…`
}

/** The same for a string of several lines, which is not cut. */
export const plainLines = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.replace(unsafe, written))
    .join("\n")

const counts = new Intl.NumberFormat("en")

/** `12,345` */
export const countText = (value: number): string => counts.format(value)

/** `1 node`, `2,000 nodes` */
export const pluralText = (value: number, noun: string): string =>
  `${countText(value)} ${noun}${value === 1 ? "" : "s"}`

/** `a, b and 3 more`: at most `max` of the names. */
export const listText = (names: ReadonlyArray<string>, max: number): string => {
  const rest = names.length - max
  return names.slice(0, max).join(", ") + (rest > 0 ? ` and ${countText(rest)} more` : "")
}
