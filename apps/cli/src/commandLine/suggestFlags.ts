/**
 * Which flag a word that is none may have meant: the nearest spelling, a flag of another tool, or one that begins with the letter.
 */
import { nearest } from "@berth/terminal/usage"
import type { FlagDescription } from "./CommandDescription.ts"
import { flagsLike } from "./otherTools.ts"

/** At most so many are suggested. */
const maxSuggestions = 3

/** Suggestions with their dashes, the likeliest first. */
export const suggestFlags = (written: string, flags: ReadonlyArray<FlagDescription>): ReadonlyArray<string> => {
  const word = written.replace(/^--?/, "")
  const names = Array.from(new Set(flags.map(({ name }) => name)))
  const spelled = names.map((name) => `--${name}`)
  if (word.length === 1) {
    return spelled.filter((name) => name.startsWith(`--${word.toLowerCase()}`)).slice(0, maxSuggestions)
  }
  const like = flagsLike(word, spelled)
  return (like.length > 0 ? like : nearest(word, names).map((name) => `--${name}`)).slice(0, maxSuggestions)
}
