/**
 * Lists every node of an account with the promise client, and prints the number of nodes and the peak growth of the heap in
 * bytes: `node --expose-gc lister.ts URL`.
 */
import { createClient } from "@berthkit/core/promise"

const { nodes } = createClient({ baseUrl: process.argv[2]!, apiKey: "key", accessToken: "token" })
// Loads and compiles the code of listing, which is not growth.
for await (const _ of nodes.list()) break
gc!()
const before = process.memoryUsage().heapUsed
let peak = before
let count = 0
for await (const _ of nodes.list()) {
  if (++count % 50 === 0) peak = Math.max(peak, process.memoryUsage().heapUsed)
}
console.log(JSON.stringify({ count, growth: peak - before }))
process.exit()
