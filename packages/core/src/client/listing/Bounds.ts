/**
 * Bounds on a list. Without them a service that returns new nodes for ever, or one node a page, is read until the memory is
 * full.
 */
import { BerthError } from "../../domain/BerthError.ts"
import { UnexpectedResponse } from "../../domain/ErrorReason.ts"

/** Default of the option `maxNodes`. */
export const defaultMaxNodes = 1_000_000

/** Most pages for so many nodes. Services return at least 20 nodes a page, and pages overlap; a few more do no harm. */
export const maxPagesOf = (maxNodes: number): number => 1000 + Math.ceil(maxNodes / 50)

/** The failure of a list that does not end within its bounds. */
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
