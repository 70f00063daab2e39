/**
 * Finds nodes by name, even if the service changes the case or the separators of a name, or cuts the name.
 */
import { isSpelling, spellingGroup } from "@berthkit/core/client/creation/Ownership"
import type { Node } from "@berthkit/core/domain/Node"

/** Returns a function that finds the nodes whose name may be the service's spelling of a given name. */
export const bySpelling = (nodes: Iterable<Node>): ((name: string) => ReadonlyArray<Node>) => {
  const groups = Map.groupBy(nodes, ({ name }) => spellingGroup(name))
  return (name) => (groups.get(spellingGroup(name)) ?? []).filter((node) => isSpelling(node.name, name))
}
