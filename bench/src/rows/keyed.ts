/** Measures the cost of a durable record for a create under a key: the syncs of the folders, compared with those of the files alone. */
import fs from "node:fs/promises"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { layer, nodeRecord, ok } from "@berthkit/core/testing"
import { makeDirectory } from "@berthkit/core/client/creation/IntentFolder"
import { IntentStore } from "@berthkit/core/client/creation/IntentStore"
import { Nodes } from "@berthkit/core/client/Nodes"
import { Effect } from "effect"
import { ratioAtMost, type Row } from "../Row.ts"

/** How many creates make one measurement. */
const creates = 10

/** Runs `use` without the syncs of folders. A folder is recognised because only folders are opened without flags. */
const withoutFolderSyncs = async <A>(use: () => Promise<A>): Promise<A> => {
  const { open } = fs
  fs.open = async (path, ...rest) => {
    const handle = await open(path, ...rest)
    if (rest.length === 0) handle.sync = async () => {}
    return handle
  }
  try {
    return await use()
  } finally {
    fs.open = open
  }
}

/** Wall time of a create under a key on the disk of the temporary folder, with a service that answers at once. */
export const keyedRow = (): Row => {
  const folder = mkdtempSync(join(tmpdir(), "berth-keyed-"))
  const nodes: Array<object> = []
  const service = layer(({ body, method, query }) => {
    if (method === "GET") return ok(query["page_no"] === "1" ? nodes.slice(-100) : [])
    const { name } = body as { readonly name: string }
    const node = nodeRecord({ id: 1000 + nodes.length, name, plan: "P", created_at: new Date().toISOString() })
    nodes.push(node)
    return { ...ok(node), status: 202 }
  })
  const create = async (): Promise<number> => {
    const startedAt = process.hrtime.bigint()
    for (let i = 0; i < creates; i++) {
      const key = `key-${nodes.length}`
      const creating = Nodes.use((nodes) => nodes.create({ name: key, plan: "P", image: "I" }, { key }))
      await Effect.runPromise(
        creating.pipe(Effect.provide(service), Effect.provideService(IntentStore, makeDirectory(folder)))
      )
    }
    return Number(process.hrtime.bigint() - startedAt) / 1e6 / creates
  }
  const measure = async () => ({ subject: await create(), baseline: await withoutFolderSyncs(create) })
  return {
    name: "create under a key",
    subject: "folders synced",
    baseline: "not synced",
    unit: "ms",
    targets: [ratioAtMost(3)],
    pairs: 21,
    measure,
    close: async () => rmSync(folder, { recursive: true })
  }
}
