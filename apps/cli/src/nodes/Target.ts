/**
 * What a NODE argument names: a node by its id, by its name, or several by a pattern. Pure; `resolve.ts` finds the nodes
 * of an account that it names.
 */
import type { NodeId } from "@berth/core/domain/Node"
import { Glob } from "effect"
import { Argument } from "effect/cli"

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

const nodeArgument = (description: string) =>
  Argument.String("NODE").pipe(
    Argument.withMetavar(""),
    Argument.withDescription(description),
    Argument.filter(
      (given) => given !== "",
      () => "expected an id or a name"
    )
  )

/** The argument that names one node. */
export const oneNode = nodeArgument("Id or name of the node")

/** The arguments that name one node or more. */
export const someNodes = nodeArgument("Id, name, or pattern such as 'web-*'").pipe(Argument.atLeast(1))
