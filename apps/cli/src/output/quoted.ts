/**
 * An argument as a shell takes it back, for commands that are shown to be typed.
 */
export const quoted = (argument: string): string =>
  /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`
