/**
 * Puts together what two replies said of the same node: the service's record shapes carry different fields (decision 8),
 * so that what one of them left out the other may have.
 */
import type { Node } from "@berth/core/domain/Node"
import { Option } from "effect"

/** The later node, with what it does not say taken from the earlier one. */
export const completed = (later: Node, earlier: Option.Option<Node>): Node => {
  if (Option.isNone(earlier)) return later
  const said = Object.fromEntries(Object.entries(later).filter(([, value]) => value !== null))
  return { ...earlier.value, ...said, extra: { ...earlier.value.extra, ...later.extra } }
}
