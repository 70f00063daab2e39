/**
 * Finds nodes by a name as the service may spell it: in another case, with other separators, or cut.
 */
import { isSpelling, spellingGroup } from "@berthkit/core/client/creation/Ownership"
import type { Node } from "@berthkit/core/domain/Node"

/** The nodes that the service may show for a node of this name. */
export const bySpelling = (nodes: Iterable<Node>): ((name: string) => ReadonlyArray<Node>) => {
  const groups = Map.groupBy(nodes, ({ name }) => spellingGroup(name))
  return (name) => (groups.get(spellingGroup(name)) ?? []).filter((node) => isSpelling(node.name, name))
}
