/**
 * The commands that berth suggests, for the account that the command line names: typed without its flags they would act on another one.
 */
import { quoted } from "./quoted.ts"
import type { RawFlags } from "./rawFlag.ts"

/** A quoted word, which is a name; or the beginning of a command that acts on an account, which its help does not. */
const suggested =
  /(?<=[ =])'(?:[^']|'\\'')*'|\bberth (?=(?:node|commitment|image|plan|cost|limits|doctor|api)\b(?![\w ]*--help))/g

/** Adds the flags that name the account to the commands in a hint. */
export const namingAccount = ({
  baseUrl,
  profile
}: Pick<RawFlags, "baseUrl" | "profile">): ((hint: string) => string) => {
  const flags = [
    ...(profile === undefined ? [] : [`--profile ${quoted(profile)} `]),
    ...(baseUrl === undefined ? [] : [`--base-url ${quoted(baseUrl)} `])
  ].join("")
  return (hint) => hint.replace(suggested, (found) => (found.startsWith("berth") ? found + flags : found))
}
