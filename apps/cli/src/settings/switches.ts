/**
 * Flags that are on or off. A switch never takes the word after it (`commandLine/Arguments.ts`).
 */
import { Flag } from "effect/cli"

/** The letters that are short for a switch, the same in every command. */
const letters: Readonly<Record<string, string>> = { include: "i", yes: "y" }

/** A flag that is on or off; default off. */
export const switchFlag = (name: string, description: string): Flag.Flag<boolean> => {
  const letter = letters[name]
  const flag = Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(description), Flag.withDefault(false))
  return letter === undefined ? flag : Flag.withAlias(flag, letter)
}
