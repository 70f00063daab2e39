/**
 * How nodes are shown.
 */
import { Node } from "@berth/core/domain/Node"
import { nodeCard, nodeColumns } from "./nodeColumns.ts"
import { encodeWith, type View } from "./print.ts"

export const nodeView: View<Node> = {
  encode: encodeWith(Node),
  columns: () => nodeColumns,
  card: nodeCard,
  none: "no nodes"
}
