/** Commands for people to copy: makes any text one word of a command for a POSIX shell. Pure, so pages use it, too. */

/** A string as one word. */
export const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

/** A flag with its value: `--nodes 'web-*'`. A value that begins with a dash is attached, because it looks like a flag. */
export const quotedFlag = (name: string, value: string): string =>
  `--${name}${value.startsWith("-") ? "=" : " "}${quoted(value)}`
