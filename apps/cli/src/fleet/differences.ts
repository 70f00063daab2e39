/**
 * In what a member differs from its file: plan and image as the service has them, and by the ledger what was sent and cannot be read back.
 * Pure.
 */
import type { Node } from "@berthkit/core/domain/Node"
import type { Order } from "./FleetFile.ts"
import type { Entry, Sent } from "./Ledger.ts"

const isNumber = (text: string) => /^\d+$/.test(text)

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

/** Whether an image that the service states is the wanted one; one stated by name cannot be compared with a number. */
export const isWantedImage = (has: string, wanted: string): boolean =>
  has === wanted || isNumber(has) !== isNumber(wanted)

/** Each difference in words. */
export const differencesOf = (
  { node: owned, sent }: Pick<Entry, "node" | "sent">,
  node: Node,
  group: { readonly order: Order; readonly scripts: ReadonlyArray<string> }
): ReadonlyArray<string> => {
  const { order, scripts } = group
  const differences: Array<string> = []
  const plan = node.plan ?? owned?.plan ?? null
  if (plan !== null && plan !== order.plan) differences.push(`plan ${plan}, not ${order.plan}`)
  const image = node.image ?? owned?.image ?? null
  if (image !== null && !isWantedImage(image, String(order.image)))
    differences.push(`image ${image}, not ${order.image}`)
  if (sent === undefined || sent === null) return differences
  const wanted = sentOf(order, scripts)
  for (const key of new Set([...Object.keys(sent), ...Object.keys(wanted)])) {
    const [has, wants] = [sent[key], wanted[key]]
    if (JSON.stringify(has) === JSON.stringify(wants)) continue
    const name = fileKeys[key] ?? key
    differences.push(
      key === "startScripts" ? `${name} other than those sent` : `${name} sent: ${shown(has)}, not ${shown(wants)}`
    )
  }
  return differences
}
