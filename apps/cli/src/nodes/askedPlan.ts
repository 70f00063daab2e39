/**
 * The plan of a node under the slug that was asked for. A node may show the SKU of its plan in place of the slug, and only the image list says
 * which slugs have that SKU. Berth reads the list only if the texts differ, and fails if it cannot read it.
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

/** The node with the first of these names that is its plan; the node as it is if none of them is. */
const named = <N extends Shown>(node: N, asked: ReadonlyArray<string>, images: ReadonlyArray<Image>): N => {
  const { plan } = node
  if (plan === null || !needsImages(node, asked)) return node
  const slug = asked.find((each) => each !== plan && isSamePlan(each, plan, images))
  return slug === undefined ? node : { ...node, plan: slug }
}

/** Whether a node shows its plan under another name than the first of these, so that only the image list says if it is the same. */
const needsImages = ({ plan }: Shown, [first]: ReadonlyArray<string>): boolean =>
  first !== undefined && !mayShowPlan(plan, first)

export const readImages = Effect.map(recentCatalogue, ({ images }) => images)

/** Reads which plans are the same one under two names. */
export const planReader = Effect.map(
  readImages,
  (images) => (asked: string, shown: string) => isSamePlan(asked, shown, images)
)

/** The node with its plan under the slug that was asked for, if it is the same plan. */
export const underAskedPlan = Effect.fnUntraced(function* <N extends Shown>(node: N, asked: string) {
  return needsImages(node, [asked]) ? named(node, [asked], yield* readImages) : node
})

/** The nodes of a fleet, each with the name that its plan has in the file or in the ledger. The image list is read only if it is needed. */
export const underPlansOfFleet = (nodes: ReadonlyMap<number, Node>, { groups }: LoadedFleet, ledger: Ledger) =>
  underPlansOf(nodes, entriesOf(ledger), new Map(groups.map(({ group, order }) => [group, order.plan])))

/** The same by the entries of any ledgers. `orders` has the plans of groups in a file. */
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
  /** A node that no member has is compared with the member whose name it has. */
  const slugsFor = ({ id, name }: Node) => askedOf.get(id) ?? names.get(name) ?? []
  const all = Array.from(nodes.values())
  if (!all.some((node) => needsImages(node, slugsFor(node)))) return nodes
  const listed = yield* readImages
  return new Map(all.map((node) => [node.id as number, named(node, [...slugsFor(node), ...slugs], listed)]))
})
