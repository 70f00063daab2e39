/** Measures how much 100 000 settled keys in the folder, as a user has after years, slow down a create that lost its reply. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { layer, lost, nodeRecord, ok } from "@berthkit/core/testing"
import { makeDirectory } from "@berthkit/core/client/creation/IntentFolder"
import { IntentStore } from "@berthkit/core/client/creation/IntentStore"
import { Nodes } from "@berthkit/core/client/Nodes"
import { NodeId } from "@berthkit/core/domain/Node"
import { Effect } from "effect"
import { ratioAtMost, type Row } from "../Row.ts"

const many = 100_000
const few = 100

/** A folder with this many settled keys. */
const folderOf = async (keys: number): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "berth-settled-"))
  await Effect.runPromise(
    makeDirectory(folder).save({
      version: 1,
      key: "template",
      name: "web",
      plan: "P",
      image: "I",
      spec: null,
      newerThan: 7,
      sentAt: { wallMillis: 1, bootMillis: 1, bootClock: null, serviceMillis: 0 },
      fate: "lost",
      nodeId: NodeId.make(1)
    })
  )
  const period = join(folder, "settled", readdirSync(join(folder, "settled"))[0]!)
  const template = JSON.parse(readFileSync(join(period, "template.json"), "utf8"))
  for (let i = 0; i < keys; i++) {
    writeFileSync(join(period, `job-${i}.json`), JSON.stringify({ ...template, key: `job-${i}`, nodeId: 1000 + i }))
    writeFileSync(join(period, `${1000 + i}.node`), `job-${i}`)
  }
  return folder
}

/** Wall time of a create by a program that has just started; its reply is lost, and its node is found afterwards. */
export const settledRow = async (): Promise<Row> => {
  const folders = { many: await folderOf(many), few: await folderOf(few) }
  const nodes: Array<object> = []
  const service = layer(({ body, method, query }) => {
    if (method === "GET") return ok(query["page_no"] === "1" ? nodes : [])
    const { name } = body as { readonly name: string }
    nodes.push(nodeRecord({ id: 1_000_000 + nodes.length, name, plan: "P", created_at: new Date().toISOString() }))
    return lost
  })
  let created = 0
  const create = async (folder: string): Promise<number> => {
    const key = `new-${created++}`
    const startedAt = process.hrtime.bigint()
    const creating = Nodes.use((nodes) => nodes.create({ name: key, plan: "P", image: "I" }, { key }))
    await Effect.runPromise(
      creating.pipe(Effect.provide(service), Effect.provideService(IntentStore, makeDirectory(folder)))
    )
    return Number(process.hrtime.bigint() - startedAt) / 1e6
  }
  const measure = async () => ({ subject: await create(folders.many), baseline: await create(folders.few) })
  await measure()
  return {
    name: "create beside settled keys",
    subject: `${many} keys`,
    baseline: `${few} keys`,
    unit: "ms",
    targets: [ratioAtMost(2)],
    pairs: 9,
    measure,
    close: async () => {
      for (const folder of Object.values(folders)) rmSync(folder, { recursive: true })
    }
  }
}
