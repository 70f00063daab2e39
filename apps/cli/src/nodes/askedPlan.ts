/**
 * Finds the slug under which the user ordered a node's plan. A node may show the SKU of its plan instead of the slug, and only the image
 * list relates the two. Berth reads the list only if the strings differ, and fails if it cannot be read.
 */
import type { Image } from "@berthkit/core/domain/Image"
import type { Node } from "@berthkit/core/domain/Node"
import { mayShowPlan } from "@berthkit/core/client/creation/Ownership"
import { isSamePlan } from "@berthkit/core/domain/Price"
import { Effect } from "effect"
import { recentCatalogue } from "../catalogue/ImageList.ts"
import { entriesOf, type Entry, type Ledger, memberOf } from "../fleet/Ledger.ts"
import type { LoadedFleet } from "../fleet/Change.ts"

type Shown = Pick<Node, "plan">

/**
 * Replaces the node's plan by the first of these names that means the same plan. Returns the node unchanged if none of
 * them does.
 */
const named = <N extends Shown>(node: N, asked: ReadonlyArray<string>, images: ReadonlyArray<Image>): N => {
  const { plan } = node
  if (plan === null || !needsImages(node, asked)) return node
  const slug = asked.find((each) => each !== plan && isSamePlan(each, plan, images))
  return slug === undefined ? node : { ...node, plan: slug }
}

/** Whether the node's plan differs from the first name, so that the image list is needed. */
const needsImages = ({ plan }: Shown, [first]: ReadonlyArray<string>): boolean =>
  first !== undefined && !mayShowPlan(plan, first)

export const readImages = Effect.map(recentCatalogue, ({ images }) => images)

/** Reads which plan names are equivalent. */
export const planReader = Effect.map(
  readImages,
  (images) => (asked: string, shown: string) => isSamePlan(asked, shown, images)
)

/** The node with the ordered slug as its plan, if that slug means the same plan. */
export const underAskedPlan = Effect.fnUntraced(function* <N extends Shown>(node: N, asked: string) {
  return needsImages(node, [asked]) ? named(node, [asked], yield* readImages) : node
})

/** The nodes, with the plan names that the fleet file or the ledger uses. Reads the image list only if a name differs. */
export const underPlansOfFleet = (nodes: ReadonlyMap<number, Node>, { groups }: LoadedFleet, ledger: Ledger) =>
  underPlansOf(nodes, entriesOf(ledger), new Map(groups.map(({ group, order }) => [group, order.plan])))

/** The same for the entries of any ledgers. `orders` maps each group of the file to its plan. */
export const underPlansOf = Effect.fnUntraced(function* (
  nodes: ReadonlyMap<number, Node>,
  entries: Iterable<Entry>,
  orders: ReadonlyMap<string, string>
) {
  const askedOf = new Map<number, ReadonlyArray<string>>()
  const names = new Map<string, ReadonlyArray<string>>()
  for (const entry of entries) {
    const order = orders.get(memberOf(entry).group)
    const asked = [order, entry.node?.plan, entry.previous?.plan, entry.pending?.plan].flatMap((each) => each ?? [])
    for (const owned of [entry.node, entry.previous]) {
      if (owned === undefined) continue
      askedOf.set(owned.id, asked)
      names.set(owned.name, asked)
    }
  }
  const slugs = Array.from(orders.values())
  /** A node that is in no ledger entry is compared with the member whose node has its name. */
  const slugsFor = ({ id, name }: Node) => askedOf.get(id) ?? names.get(name) ?? []
  const all = Array.from(nodes.values())
  if (!all.some((node) => needsImages(node, slugsFor(node)))) return nodes
  const listed = yield* readImages
  return new Map(all.map((node) => [node.id as number, named(node, [...slugsFor(node), ...slugs], listed)]))
})
