/**
 * What each operation is for programs in TypeScript, with the promise client.
 */
const withClient = (lines: string): string =>
  `import { createClientFromEnv } from "@berthkit/core/promise"

await using client = createClientFromEnv()
${lines}`

/** By operation. */
export const samples: Readonly<Record<string, string>> = {
  "nodes.list": withClient(`for await (const node of client.nodes.list()) console.log(node.id, node.name)`),
  "nodes.get": withClient(`const node = await client.nodes.get(97899)`),
  "nodes.create": withClient(`const { node } = await client.nodes.create(
  { name: "web-1", plan: "C-2VCPU-8RAM-50DISK", image: "Ubuntu-22.04" },
  { key: "order-7" }
)`),
  "nodes.delete": withClient(`await client.nodes.delete(97899)`),
  "images.list": withClient(`const images = await client.images.list({ os: "Ubuntu" })`),
  "images.saved": withClient(`const images = await client.images.saved()`),
  "commitments.set": withClient(`await client.nodes.setCommitment(97899, "auto_renew", { skuId: 1 })`)
}
