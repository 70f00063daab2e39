/**
 * Why data cannot be written to stdout, for people. Without Effect: quick answers fail like this, too.
 */

/** `ENOSPC: no space left on device, write` without what only a programmer needs. */
const reasonOf = (message: string): string => message.replace(/^[A-Z]+: /, "").replace(/, write$/, "")

export const outputFault = ({ message }: Pick<Error, "message">) => ({
  message: `The output cannot be written: ${reasonOf(message)}.`,
  hint: "Check the disk or the program that reads the output."
})
