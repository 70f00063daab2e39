/**
 * Tells the person who looks after the process something, on stderr. Whatever came from outside is made safe first: what
 * would move a cursor, start a new line or turn the writing direction is written out instead.
 */
import { Console, type Effect } from "effect"

/** C0 and C1 controls, DEL, line separators, direction overrides, and halves of surrogate pairs. */
const unsafe =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Surrogate}/gu

const written = (character: string): string => {
  const code = (character.codePointAt(0) ?? 0).toString(16)
  return code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u${code.padStart(4, "0")}`
}

/** The text on one line, with every control character written out, such as `\x1b`. */
const escapeControls = (text: string): string => text.replace(unsafe, written)

/** Writes one line for each text. */
export const say = (...lines: ReadonlyArray<string>): Effect.Effect<void> =>
  Console.error(lines.map(escapeControls).join("\n"))
