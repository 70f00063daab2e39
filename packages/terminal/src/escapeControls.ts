/**
 * Makes text from outside safe to show: escapes everything that would move a cursor, start a new line or change the writing
 * direction. JSON has its own escapes.
 */

/**
 * C0 and C1 controls, DEL, line separators, direction marks and overrides, lone surrogates, and invisible characters. With
 * an invisible character, one name can look like another, and language models read invisible tags (U+E0000 to U+E0FFF).
 * Joiners are not in this set, because Indian scripts need them.
 */
const unsafe =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]|\p{Surrogate}/gu

/** Matches most names. It avoids Unicode classes, because loading those takes milliseconds. */
const plain = /^[\u0020-\u007e]*$/

const spelled = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"]
])

const written = (character: string): string => {
  const known = spelled.get(character)
  if (known !== undefined) return known
  const code = character.codePointAt(0) ?? 0
  const digits = code.toString(16)
  if (code > 0xffff) return `\\u{${digits}}`
  return code <= 0xff ? `\\x${digits.padStart(2, "0")}` : `\\u${digits.padStart(4, "0")}`
}

/** The text with every control character escaped, such as `\x1b` or `\n`. */
export const escapeControls = (text: string): string => (plain.test(text) ? text : text.replace(unsafe, written))

/** The same for a string of several lines; the line feeds stay. */
export const escapeControlsInLines = (text: string): string => text.split("\n").map(escapeControls).join("\n")
