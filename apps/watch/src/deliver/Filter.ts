/**
 * Which events a sink gets. Pure.
 */
import { didYouMean, nearest } from "@berthkit/terminal/usage"
import { eventTypes } from "../events/Event.ts"
import type { StoredEvent } from "../store/accounts.ts"
import type { EventSelection, Glob } from "./SinkOptions.ts"

/** `*` stands for any text, everything else for itself; without backtracking, because patterns come from outside. */
export const matchesGlob = (glob: Glob, text: string): boolean => {
  const [first = "", ...rest] = glob.split("*")
  const last = rest.pop()
  if (last === undefined) return text === glob
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false
  const end = text.length - last.length
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}

/** Why a pattern of types can select nothing; null where it selects something. */
export const typeProblem = (glob: Glob): string | null =>
  eventTypes.some((type) => matchesGlob(glob, type))
    ? null
    : `matches no type of event${didYouMean(nearest(glob, eventTypes).slice(0, 2)).replace(/\.$/, "")}`

/** The data of an event about a node, as far as filters and damping need it. */
export interface NodeEventData {
  readonly before?: { readonly name?: string } | null
  readonly after?: { readonly name?: string } | null
  readonly from?: unknown
  readonly to?: unknown
}

export const dataOf = ({ body }: Pick<StoredEvent, "body">): NodeEventData => JSON.parse(body).data

const isAny = (globs: ReadonlyArray<Glob>, texts: ReadonlyArray<string>): boolean =>
  globs.length === 0 || globs.some((glob) => texts.some((text) => matchesGlob(glob, text)))

export const selects = ({ accounts, nodes, types }: EventSelection, event: StoredEvent): boolean => {
  if (accounts.length > 0 && !accounts.includes(event.account)) return false
  if (!isAny(types, [event.type])) return false
  if (event.node === null || nodes.length === 0) return true
  // A node that is renamed into or out of the pattern is of interest under both names.
  const { after, before } = dataOf(event)
  return isAny(
    nodes,
    [before?.name, after?.name].filter((name) => name !== undefined)
  )
}
