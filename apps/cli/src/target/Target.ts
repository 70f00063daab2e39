/**
 * What a NODE argument names: a node by its id, by its name, or several by a pattern. Pure; what it comes to in an
 * account is found by `resolve.ts`.
 */
import type { NodeId } from "@berth/core/domain/Node"
import { Glob } from "effect"

export type Target =
  | { readonly _tag: "Id"; readonly given: string; readonly id: NodeId }
  | { readonly _tag: "Name"; readonly given: string }

/** Digits are an id; everything else is a name, and a pattern when no node has exactly this name. */
export const parseTarget = (given: string): Target => {
  const number = Number(given)
  return /^[1-9]\d*$/.test(given) && Number.isSafeInteger(number)
    ? { _tag: "Id", given, id: number as NodeId }
    : { _tag: "Name", given }
}

/** Whether a text is a pattern rather than a plain name. */
export const isPattern = (text: string): boolean => /[*?[{]/.test(text)

/** Whether a name fits a pattern of `*`, `?`, `[…]` and `{…,…}`; a slash in a name is a letter like any other. */
export const nameMatcher = (pattern: string): ((name: string) => boolean) => {
  if (!isPattern(pattern)) return (name) => name === pattern
  // The patterns of Effect are for paths: no segment may begin at a slash here.
  const letter = (text: string) => text.replaceAll("/", "\0")
  const glob = Glob.make(letter(pattern), { dot: true })
  return (name) => Glob.match(glob, letter(name))
}
