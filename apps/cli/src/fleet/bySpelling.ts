/**
 * Finds nodes by name even if the service changes the name's case or separators, or cuts it.
 */
import { isSpelling, spellingGroup } from "@berthkit/core/client/creation/Ownership"
import type { Node } from "@berthkit/core/domain/Node"

/** Returns a lookup of the nodes that the service may show for a name. */
export const bySpelling = (nodes: Iterable<Node>): ((name: string) => ReadonlyArray<Node>) => {
  const groups = Map.groupBy(nodes, ({ name }) => spellingGroup(name))
  return (name) => (groups.get(spellingGroup(name)) ?? []).filter((node) => isSpelling(node.name, name))
}
