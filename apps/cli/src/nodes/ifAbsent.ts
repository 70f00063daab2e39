/**
 * Finds the nodes that `--if-absent` asks about: of each name none, the one that is wanted, or one that is something else.
 */
import type { Node } from "@berthkit/core/domain/Node"
import type { NodeSpec } from "@berthkit/core/domain/NodeSpec"
import { label } from "@berthkit/core/domain/NodeStatus"
import { Effect } from "effect"
import { NameAmbiguous, NodeDiffers } from "../failure/CliFailure.ts"
import { isWantedImage } from "../fleet/differences.ts"
import { byName } from "./byName.ts"
import { wholeNode } from "./resolve.ts"

/**
 * In what a node differs from the wanted one. An image that the service does not state is taken for the wanted one, and so is one that
 * is stated by its name where its number is wanted, or the other way round: they cannot be compared.
 */
const differenceOf = (node: Node, { image, plan }: NodeSpec) => {
  if (node.plan !== null && node.plan !== plan) return { field: "plan", has: node.plan, wanted: plan } as const
  const wanted = String(image)
  if (node.image !== null && !isWantedImage(node.image, wanted)) {
    return { field: "image", has: node.image, wanted } as const
  }
  return undefined
}

/** The nodes that exist already, by their names in the whole list: what is absent is created. One that is being deleted counts as absent. */
export const existingNodes = Effect.fnUntraced(function* (specs: ReadonlyArray<NodeSpec>) {
  const names = new Set(specs.map(({ name }) => name))
  const { nodes } = yield* byName((name) => names.has(name), { change: true, index: false })
  const seen = nodes.filter(({ node }) => node.status !== "terminate")
  const existing = new Map<string, Node>()
  for (const spec of specs) {
    const { name } = spec
    const [first, ...more] = seen.filter(({ node }) => node.name === name)
    if (first === undefined) continue
    if (more.length > 0) {
      const candidates = [first, ...more].map(({ node }) => ({ id: node.id, status: label(node.status) }))
      return yield* new NameAmbiguous({ name, candidates })
    }
    const { isRead, node: seenAs } = first
    const isNamed = (other: string) => other === name
    const node = yield* wholeNode({ given: name, id: seenAs.id, node: seenAs, isRead, isNamed, from: "list" })
    const difference = differenceOf(node, spec)
    if (difference !== undefined) return yield* new NodeDiffers({ name, id: node.id, ...difference })
    existing.set(name, node)
  }
  return existing as ReadonlyMap<string, Node>
})
