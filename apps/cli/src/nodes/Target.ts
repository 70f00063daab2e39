/**
 * What a NODE argument names: a node by its id or its name, or several by a pattern. Pure; `resolve.ts` finds the nodes of an
 * account that it names.
 */
import type { NodeId } from "@berthkit/core/domain/Node"
import { Glob } from "effect"
import { argument, argumentsFrom, text } from "../commandLine/Parameter.ts"

export type Target =
  /** Digits; `id` is undefined where no node can have them as its id, such as `007`. */
  | { readonly _tag: "Id"; readonly given: string; readonly id: NodeId | undefined }
  | { readonly _tag: "Name"; readonly given: string; readonly name: string }
  /** `isMarked` where it says of itself that it is one. */
  | { readonly _tag: "Pattern"; readonly given: string; readonly pattern: string; readonly isMarked: boolean }

/** Which arguments a command takes for what. */
export interface Naming {
  /** Whether a pattern names every node that it matches. Where it does not, its characters are those of a name. */
  readonly patterns: boolean
  /** Whether digits that are no node's id may be a name. Not where the wrong node could be changed. */
  readonly digitsMayBeName: boolean
  /** Whether the nodes are to be changed: that no other has the name is then proved now, by the list, and not by what was read before. */
  readonly change: boolean
}

/** For commands that only look. */
export const looking: Naming = { patterns: true, digitsMayBeName: true, change: false }

/** What is before a name that would be read as an id or a pattern, and before a pattern that would be read as a name. */
const namePrefix = "name:"
const patternPrefix = "pattern:"

/**
 * All digits are an id, and a text with `*` or `?` is a pattern; `name:` and `pattern:` mark what would be read as something else. It is so
 * whatever nodes there are: a change that is repeated names what it named before.
 */
export const parseTarget = (given: string, { patterns }: Pick<Naming, "patterns"> = { patterns: true }): Target => {
  if (/^\d+$/.test(given)) {
    const number = Number(given)
    const isId = /^[1-9]/.test(given) && Number.isSafeInteger(number)
    return { _tag: "Id", given, id: isId ? (number as NodeId) : undefined }
  }
  if (given.startsWith(namePrefix)) return { _tag: "Name", given, name: given.slice(namePrefix.length) }
  if (patterns && given.startsWith(patternPrefix)) {
    return { _tag: "Pattern", given, pattern: given.slice(patternPrefix.length), isMarked: true }
  }
  return patterns && isPattern(given)
    ? { _tag: "Pattern", given, pattern: given, isMarked: false }
    : { _tag: "Name", given, name: given }
}

/** Whether an argument is a pattern rather than a plain name. Brackets alone are more often part of a name. */
const isPattern = (text: string): boolean => /[*?]/.test(text)

/** Whether a text has any character that a pattern gives a meaning. */
const hasWildcard = (text: string): boolean => /[*?[{]/.test(text)

/** The argument that reads the same text in the other way, as a name or as a pattern; none where that makes no difference. */
export const otherReading = (target: Target): { readonly name: string } | { readonly pattern: string } | undefined => {
  if (target._tag === "Pattern") return target.isMarked ? undefined : { name: `${namePrefix}${target.given}` }
  const isPlain = target._tag === "Name" && target.name === target.given
  return isPlain && hasWildcard(target.name) ? { pattern: `${patternPrefix}${target.name}` } : undefined
}

/** Whether a name fits a pattern of `*`, `?`, `[…]` and `{…,…}`; a slash in a name is a letter like any other. */
export const nameMatcher = (pattern: string): ((name: string) => boolean) => {
  if (!hasWildcard(pattern)) return (name) => name === pattern
  // The patterns of Effect are for paths: no segment may begin at a slash here.
  const letter = (text: string) => text.replaceAll("/", "\0")
  const glob = Glob.make(letter(pattern), { dot: true })
  return (name) => Glob.match(glob, letter(name))
}

/** Whether a name is one that the target names. */
export const targetMatcher = (target: Target): ((name: string) => boolean) => {
  switch (target._tag) {
    case "Id":
      return (name) => name === target.given
    case "Name":
      return (name) => name === target.name
    case "Pattern": {
      const { given, isMarked, pattern } = target
      const matches = nameMatcher(pattern)
      // A name may have the characters of a pattern: `a[*` does not match itself.
      return isMarked ? matches : (name) => name === given || matches(name)
    }
  }
}

/** A NODE argument. */
export const nodeReference = text(
  "",
  (given) => given !== "" && given !== namePrefix && given !== patternPrefix,
  "expected an id or a name"
)

/** The argument that names one node. */
export const oneNode = argument("NODE", nodeReference, "Id or name of the node; name:123 for a name of digits")

/** The arguments that name one node or more. */
export const someNodes = argumentsFrom(1, "NODE", nodeReference, "Id, name, or pattern with * or ?, such as 'web-*'")
