/**
 * Explains to people why stdout cannot be written. Does not load Effect, because answers that are printed without loading Effect, such as
 * the version, can fail in this way too.
 */

/** Shortens `ENOSPC: no space left on device, write` to the part for users. */
const reasonOf = (message: string): string => message.replace(/^[A-Z]+: /, "").replace(/, write$/, "")

export const outputFault = ({ message }: Pick<Error, "message">) => ({
  message: `The output cannot be written: ${reasonOf(message)}.`,
  hint: "Check the disk or the program that reads the output."
})
