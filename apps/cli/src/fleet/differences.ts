/**
 * Compares the file's definition of a member with its node: plan and image with those that the service reports, and fields that cannot be
 * read back with those in the ledger. Pure.
 */
import { mayShowImage, mayShowPlan } from "@berthkit/core/client/creation/Ownership"
import type { Node } from "@berthkit/core/domain/Node"
import type { Order } from "./FleetFile.ts"
import type { Entry, Sent } from "./Ledger.ts"

/** Fields of an order that have another name in the fleet file. */
const fileKeys: Readonly<Record<string, string>> = {
  savedImageTemplateId: "savedImage",
  securityGroupId: "securityGroup",
  vpcId: "vpc"
}

/** The fields of an order that the ledger keeps because the service does not report them. */
export const sentOf = ({ image: _image, plan: _plan, ...order }: Order, scripts: ReadonlyArray<string>): Sent => ({
  ...order,
  ...(scripts.length > 0 && { startScripts: scripts })
})

const shown = (value: unknown): string =>
  value === undefined
    ? "nothing"
    : Array.isArray(value)
      ? value.length === 0
        ? "none"
        : value.join(", ")
      : String(value)

/** The settings of an order except plan and image, written as in the file: `tags web, db; publicIp false`. Empty if there are none. */
export const settingsText = (order: Order, scripts: ReadonlyArray<string>): string =>
  Object.entries(sentOf(order, scripts))
    .filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0))
    .map(([key, value]) => {
      const isRecord = typeof value === "object" && value !== null && !Array.isArray(value)
      return `${fileKeys[key] ?? key} ${isRecord ? JSON.stringify(value) : shown(value)}`
    })
    .join("; ")

/** Fields that are compared as sets: order and repetition do not matter, and a missing field equals an empty one. */
const sets = ["tags", "sshKeys"]

const comparable = (key: string, value: unknown): string =>
  sets.includes(key)
    ? JSON.stringify(Array.isArray(value) ? Array.from(new Set(value)).toSorted() : [])
    : JSON.stringify(value ?? null)

/** The fields whose sent value differs from the value that would be sent now. */
const differingKeys = (sent: Sent, wanted: Sent): ReadonlyArray<string> =>
  Array.from(new Set([...Object.keys(sent), ...Object.keys(wanted)])).filter(
    (key) => comparable(key, sent[key]) !== comparable(key, wanted[key])
  )

/** The order in the file. */
interface Wanted {
  readonly order: Order
  readonly scripts: ReadonlyArray<string>
}

/** Whether a pending create has this name and the same order as the file. */
export const isSameOrder = (
  { pending, sent }: Pick<Entry, "pending" | "sent">,
  name: string,
  { order, scripts }: Wanted
): boolean =>
  pending !== undefined &&
  pending.name === name &&
  pending.plan === order.plan &&
  String(pending.image) === String(order.image) &&
  differingKeys(sent ?? {}, sentOf(order, scripts)).length === 0

/** Whether a node has the plan and image of an order, in some spelling. An unreported value matches. */
export const isWantedKind = (
  { image, plan }: { readonly plan: string | null; readonly image: string | null },
  order: Pick<Order, "plan" | "image">
): boolean => mayShowPlan(plan, order.plan) && mayShowImage(image, String(order.image))

/** Describes each difference; `name` is the node's name in the file. */
export const differencesOf = (
  { named, node: owned, sent }: Pick<Entry, "named" | "node" | "sent">,
  node: Node,
  { order, scripts }: Wanted,
  name: string
): ReadonlyArray<string> => {
  const differences: Array<string> = []
  const plan = node.plan ?? owned?.plan ?? null
  if (!mayShowPlan(plan, order.plan)) differences.push(`plan ${plan}, not ${order.plan}`)
  const image = node.image ?? owned?.image ?? null
  if (!mayShowImage(image, String(order.image))) differences.push(`image ${image}, not ${order.image}`)
  // If the service spells the node's name differently, or the node was adopted, the ledger has the name from the file at that time.
  // Compare with that name.
  const had = named ?? owned?.name ?? node.name
  if (had !== name) differences.push(`name ${had}, not ${name}`)
  if (sent === undefined || sent === null) return differences
  const wanted = sentOf(order, scripts)
  for (const key of differingKeys(sent, wanted)) {
    const field = fileKeys[key] ?? key
    differences.push(
      key === "startScripts"
        ? `${field} other than those sent`
        : `${field} sent: ${shown(sent[key])}, not ${shown(wanted[key])}`
    )
  }
  return differences
}
