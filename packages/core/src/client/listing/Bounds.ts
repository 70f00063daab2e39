/**
 * How long a list may get. A service that gives new nodes for ever, or one node a page, would otherwise be read until the
 * memory is full.
 */
import { BerthError } from "../../domain/BerthError.ts"
import { UnexpectedResponse } from "../../domain/ErrorReason.ts"

/** Most nodes of a list, unless its caller says otherwise. */
export const defaultMaxNodes = 1_000_000

/** Most pages that so many nodes may come on. Services give 20 nodes a page at least, and pages overlap; a few more do no harm. */
export const maxPagesOf = (maxNodes: number): number => 1000 + Math.ceil(maxNodes / 50)

/** The list has not ended within its bounds. */
export const endless = (maxNodes: number, nodes: number, pages: number): BerthError =>
  new BerthError({
    operation: "nodes.list",
    reason: new UnexpectedResponse({
      status: 200,
      path: "",
      expected: `the end of the list within ${maxNodes} nodes (maxNodes) and ${maxPagesOf(maxNodes)} pages`,
      excerpt: `${nodes} nodes on ${pages} pages, and no end`
    }),
    attempts: []
  })
