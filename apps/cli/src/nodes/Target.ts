/**
 * Parses a NODE argument: a node's id or name, or a pattern for several nodes. Pure; `resolve.ts` finds the nodes.
 */
import type { NodeId } from "@berthkit/core/domain/Node"
import { Glob } from "effect"
import { argument, argumentsFrom, text } from "../commandLine/Parameter.ts"

export type Target =
  /** Digits. `id` is undefined if no node can have this id, such as `007`. */
  | { readonly _tag: "Id"; readonly given: string; readonly id: NodeId | undefined }
  | { readonly _tag: "Name"; readonly given: string; readonly name: string }
  /** `isMarked` is true if the text is marked with `pattern:`. */
  | { readonly _tag: "Pattern"; readonly given: string; readonly pattern: string; readonly isMarked: boolean }

/** How a command interprets NODE arguments. */
export interface Naming {
  /** Whether patterns are allowed. Otherwise `*` and `?` are ordinary characters of a name. */
  readonly patterns: boolean
  /**
   * Whether digits may be a name if no node has that id. False for commands that could thereby change the wrong node.
   */
  readonly digitsMayBeName: boolean
  /** Whether the command will change the nodes. If so, it reads the list now, to prove that no other node has the same name. */
  readonly change: boolean
}

/** How commands that change nothing interpret NODE arguments. */
export const looking: Naming = { patterns: true, digitsMayBeName: true, change: false }

/** The prefixes of a name that looks like an id or a pattern, and of a pattern that looks like a name. */
const namePrefix = "name:"
const patternPrefix = "pattern:"

/**
 * Digits are an id, and a string with `*` or `?` is a pattern; `name:` and `pattern:` mark exceptions. The result does
 * not depend on the existing nodes, because a repeated command must name the same nodes.
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

/** Whether an argument is a pattern. Brackets alone are more often part of a name. */
const isPattern = (text: string): boolean => /[*?]/.test(text)

/** Whether a string contains any special character of patterns. */
const hasWildcard = (text: string): boolean => /[*?[{]/.test(text)

/** The argument that gives the same text its other meaning, as a name or as a pattern. Undefined if it has only one meaning. */
export const otherReading = (target: Target): { readonly name: string } | { readonly pattern: string } | undefined => {
  if (target._tag === "Pattern") return target.isMarked ? undefined : { name: `${namePrefix}${target.given}` }
  const isPlain = target._tag === "Name" && target.name === target.given
  return isPlain && hasWildcard(target.name) ? { pattern: `${patternPrefix}${target.name}` } : undefined
}

/** Returns a matcher for a pattern of `*`, `?`, `[…]` and `{…,…}`. A slash is an ordinary character. */
export const nameMatcher = (pattern: string): ((name: string) => boolean) => {
  if (!hasWildcard(pattern)) return (name) => name === pattern
  // Effect's patterns treat slashes as separators of paths, so replace them.
  const letter = (text: string) => text.replaceAll("/", "\0")
  const glob = Glob.make(letter(pattern), { dot: true })
  return (name) => Glob.match(glob, letter(name))
}

/** Returns a matcher for the names that the target matches. */
export const targetMatcher = (target: Target): ((name: string) => boolean) => {
  switch (target._tag) {
    case "Id":
      return (name) => name === target.given
    case "Name":
      return (name) => name === target.name
    case "Pattern": {
      const { given, isMarked, pattern } = target
      const matches = nameMatcher(pattern)
      // A name may contain pattern characters, and `a[*` does not match itself.
      return isMarked ? matches : (name) => name === given || matches(name)
    }
  }
}

/** Parses a NODE argument. */
export const nodeReference = text(
  "",
  (given) => given !== "" && given !== namePrefix && given !== patternPrefix,
  "expected an id or a name"
)

/** The argument for one node. */
export const oneNode = argument("NODE", nodeReference, "Id or name of the node; name:123 for a name of digits")

/** The argument for one or more nodes. */
export const someNodes = argumentsFrom(1, "NODE", nodeReference, "Id, name, or pattern with * or ?, such as 'web-*'")
