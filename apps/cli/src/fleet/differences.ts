/**
 * In what a member differs from its file: plan and image as the service has them, and by the ledger what was sent and cannot be read back.
 * Pure.
 */
import { mayShowImage, mayShowPlan } from "@berthkit/core/client/creation/Ownership"
import type { Node } from "@berthkit/core/domain/Node"
import type { Order } from "./FleetFile.ts"
import type { Entry, Sent } from "./Ledger.ts"

/** Names of the file for fields of an order that have another one. */
const fileKeys: Readonly<Record<string, string>> = {
  savedImageTemplateId: "savedImage",
  securityGroupId: "securityGroup",
  vpcId: "vpc"
}

/** What of an order is kept in the ledger, for it cannot be read back. */
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

/** What an order has besides its plan and image, as in the file: `tags web, db; publicIp false`. Empty if it has nothing else. */
export const settingsText = (order: Order, scripts: ReadonlyArray<string>): string =>
  Object.entries(sentOf(order, scripts))
    .filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0))
    .map(([key, value]) => {
      const isRecord = typeof value === "object" && value !== null && !Array.isArray(value)
      return `${fileKeys[key] ?? key} ${isRecord ? JSON.stringify(value) : shown(value)}`
    })
    .join("; ")

/** Fields that are sets: order and repetition do not matter, and a missing field equals an empty one. */
const sets = ["tags", "sshKeys"]

const comparable = (key: string, value: unknown): string =>
  sets.includes(key)
    ? JSON.stringify(Array.isArray(value) ? Array.from(new Set(value)).toSorted() : [])
    : JSON.stringify(value ?? null)

/** The fields whose sent value differs from the one that would be sent now. */
const differingKeys = (sent: Sent, wanted: Sent): ReadonlyArray<string> =>
  Array.from(new Set([...Object.keys(sent), ...Object.keys(wanted)])).filter(
    (key) => comparable(key, sent[key]) !== comparable(key, wanted[key])
  )

/** What the file asks for. */
interface Wanted {
  readonly order: Order
  readonly scripts: ReadonlyArray<string>
}

/** Whether a pending create is exactly what the file orders under this name. */
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

/** Whether a node has the plan and the image of an order, in some spelling. A value that is not stated matches. */
export const isWantedKind = (
  { image, plan }: { readonly plan: string | null; readonly image: string | null },
  order: Pick<Order, "plan" | "image">
): boolean => mayShowPlan(plan, order.plan) && mayShowImage(image, String(order.image))

/** Each difference in words; `name` is what the file calls the node. */
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
  // If the node's name is not the one in the file, compare with the name that the file had at the create.
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
