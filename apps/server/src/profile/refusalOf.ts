/**
 * Requests that an observed service refuses, or redirects, for their form alone, where the mock would answer them: without the last slash of
 * their path, or with parameters that are unknown, empty or given twice. Pure.
 */
import type { Behaviour, Situation } from "./Profile.ts"

/** The parameters of the list of nodes (interface.md §4 notes 1 and 2, and both credentials). */
const known = new Set(["apikey", "page_no", "page", "per_page"])

const isTwice = (query: URLSearchParams): boolean =>
  ["page_no", "page", "per_page"].some((name) => query.getAll(name).length > 1)

/** Whether a parameter of paging is given twice, and that is not what the service accepts. */
export const isRefusedTwice = ({ paging }: Behaviour, query: URLSearchParams): boolean =>
  paging.twice !== "accepted" && isTwice(query)

/** What is wrong with a GET of `operation` by the profile's measure; undefined where nothing is. */
export const refusalOf = (
  behaviour: Behaviour,
  operation: string,
  path: string,
  query: URLSearchParams
): Situation | undefined => {
  const { failures } = behaviour
  // A single node was not observed without its slash.
  if (!path.endsWith("/") && operation !== "nodes.get" && failures["no-slash"] !== undefined) return "no-slash"
  if (operation !== "nodes.list") return undefined
  const names = Array.from(query.keys())
  if (failures["unknown-parameter"] !== undefined && names.some((name) => !known.has(name))) return "unknown-parameter"
  if (failures["empty-parameter"] !== undefined && Array.from(query.values()).includes("")) return "empty-parameter"
  return failures["given-twice"] !== undefined && isRefusedTwice(behaviour, query) ? "given-twice" : undefined
}
