/**
 * What a NODE argument names: a node by its id or its name, or several by a pattern. Pure; `resolve.ts` finds the nodes of an
 * account that it names.
 */
import type { NodeId } from "@berth/core/domain/Node"
import { Glob } from "effect"
import { Argument } from "effect/cli"

export type Target =
  /** Digits; `id` is undefined where no node can have them as its id, such as `007`. */
  | { readonly _tag: "Id"; readonly given: string; readonly id: NodeId | undefined }
  | { readonly _tag: "Name"; readonly given: string; readonly name: string }
  | { readonly _tag: "Pattern"; readonly given: string }

/** Which arguments a command takes for what. */
export interface Naming {
  /** Whether a pattern names every node that it matches. Where it does not, its characters are those of a name. */
  readonly patterns: boolean
  /** Whether digits that are no node's id may be a name. Not where the wrong node could be changed. */
  readonly digitsMayBeName: boolean
  /** Whether the nodes are to be changed: that no other has the name is then proved now, by the list, and not by what was read before. */
  readonly change: boolean
}

/** What is before a name that would be read as an id or a pattern. */
const namePrefix = "name:"

/** All digits are an id; `name:` marks a name. */
export const parseTarget = (given: string, { patterns }: Pick<Naming, "patterns"> = { patterns: true }): Target => {
  if (/^\d+$/.test(given)) {
    const number = Number(given)
    const isId = /^[1-9]/.test(given) && Number.isSafeInteger(number)
    return { _tag: "Id", given, id: isId ? (number as NodeId) : undefined }
  }
  if (given.startsWith(namePrefix)) return { _tag: "Name", given, name: given.slice(namePrefix.length) }
  return patterns && isPattern(given) ? { _tag: "Pattern", given } : { _tag: "Name", given, name: given }
}

/** Whether a text is a pattern rather than a plain name. */
const isPattern = (text: string): boolean => /[*?[{]/.test(text)

/** A name as an argument that names nothing else. */
export const asArgument = (name: string): string =>
  /^\d+$/.test(name) || isPattern(name) || name.startsWith(namePrefix) ? `${namePrefix}${name}` : name

/** Whether a name fits a pattern of `*`, `?`, `[…]` and `{…,…}`; a slash in a name is a letter like any other. */
export const nameMatcher = (pattern: string): ((name: string) => boolean) => {
  if (!isPattern(pattern)) return (name) => name === pattern
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
      // A name may have the characters of a pattern.
      const matches = nameMatcher(target.given)
      return (name) => name === target.given || matches(name)
    }
  }
}

export const nodeArgument = (description: string) =>
  Argument.String("NODE").pipe(
    Argument.withMetavar(""),
    Argument.withDescription(description),
    Argument.filter(
      (given) => given !== "" && given !== namePrefix,
      () => "expected an id or a name"
    )
  )

/** The argument that names one node. */
export const oneNode = nodeArgument("Id or name of the node; name:123 for a name of digits")

/** The arguments that name one node or more. */
export const someNodes = nodeArgument("Id, name, or pattern such as 'web-*'").pipe(Argument.atLeast(1))
