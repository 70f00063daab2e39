/**
 * Finds the nodes that `--if-absent` asks about: of each name none, the one that is wanted, or one that is something else.
 */
import {
  isOtherSystem,
  isSpelling,
  mayShowImage,
  mayShowPlan,
  plain,
  spellingGroup,
  systemOf
} from "@berthkit/core/client/creation/Ownership"
import type { Image } from "@berthkit/core/domain/Image"
import type { Node } from "@berthkit/core/domain/Node"
import type { NodeSpec } from "@berthkit/core/domain/NodeSpec"
import { label } from "@berthkit/core/domain/NodeStatus"
import { Effect, Predicate } from "effect"
import { NameAmbiguous, NameMayBeCut, NodeDiffers } from "../failure/CliFailure.ts"
import { readImages, underAskedPlan } from "./askedPlan.ts"
import { byName } from "./byName.ts"
import { wholeNode } from "./resolve.ts"

/**
 * In what a node differs from the wanted one. An image that the service does not state is taken for the wanted one, and so is one that
 * is stated by its name where its number is wanted, or the other way round: they cannot be compared.
 */
const differenceOf = (node: Node, { image, plan }: NodeSpec) => {
  if (node.plan === null || !mayShowPlan(node.plan, plan))
    return { field: "plan", has: node.plan, wanted: plan } as const
  const wanted = String(image)
  if (!mayShowImage(node.image, wanted)) {
    return { field: "image", has: node.image, wanted } as const
  }
  return undefined
}

/** In what the system of a node differs from that of the wanted image. */
const systemDifference = (stated: Record<string, unknown>, { image }: NodeSpec, images: ReadonlyArray<Image>) =>
  isOtherSystem(stated, image, images)
    ? ({
        field: "image",
        has: [stated["name"], stated["version"]].filter(Predicate.isString).join(" "),
        wanted: String(image)
      } as const)
    : undefined

/**
 * The nodes that already exist, by their names in the whole list, including the names as the service may spell them. A node that is being
 * deleted counts as absent. Fails if a name may have been cut: such a node is neither certainly the wanted one nor certainly another.
 */
export const existingNodes = Effect.fnUntraced(function* (specs: ReadonlyArray<NodeSpec>) {
  const groups = new Set(specs.map(({ name }) => spellingGroup(name)))
  const { nodes } = yield* byName((name) => groups.has(spellingGroup(name)), { change: true })
  const seen = nodes.filter(({ node }) => node.status !== "terminate")
  const existing = new Map<string, Node>()
  for (const spec of specs) {
    const { name } = spec
    const exact = seen.filter(({ node }) => node.name === name)
    const [first, ...more] = exact.length > 0 ? exact : seen.filter(({ node }) => plain(node.name) === plain(name))
    if (first === undefined) {
      const cut = seen.find(({ node }) => isSpelling(node.name, name))
      if (cut === undefined) continue
      return yield* new NameMayBeCut({ name, id: cut.node.id, has: cut.node.name })
    }
    if (more.length > 0) {
      const candidates = [first, ...more].map(({ node }) => ({ id: node.id, status: label(node.status) }))
      return yield* new NameAmbiguous({ name, candidates })
    }
    const { isRead, node: seenAs } = first
    const isNamed = (other: string) => other === seenAs.name
    const node = yield* wholeNode({ given: name, id: seenAs.id, node: seenAs, isRead, isNamed })
    const system = systemOf(node)
    const difference =
      differenceOf(yield* underAskedPlan(node, spec.plan), spec) ??
      (system === undefined ? undefined : systemDifference(system, spec, yield* readImages))
    if (difference !== undefined) return yield* new NodeDiffers({ name, id: node.id, ...difference })
    existing.set(name, node)
  }
  return existing as ReadonlyMap<string, Node>
})
