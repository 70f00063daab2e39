/**
 * Which flag a word that is none may have meant: the nearest spelling, a flag of another tool, or one that begins with the letter.
 */
import { nearest } from "@berthkit/terminal/usage"
import type { FlagHelp } from "./CommandHelp.ts"
import { flagsLike } from "./otherTools.ts"

/** Suggestions with their dashes, the likeliest first. */
export const suggestFlags = (written: string, flags: ReadonlyArray<FlagHelp>): ReadonlyArray<string> => {
  const word = written.replace(/^--?/, "")
  const names = Array.from(new Set(flags.map(({ name }) => name)))
  const spelled = names.map((name) => `--${name}`)
  const like = flagsLike(word, spelled)
  if (like.length > 0) return like
  if (word.length === 1) return spelled.filter((name) => name.startsWith(`--${word.toLowerCase()}`))
  return nearest(word, names).map((name) => `--${name}`)
}
