/**
 * An argument of a command to type.
 */

/** The argument as a shell takes it back. */
export const quoted = (argument: string): string =>
  /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`
