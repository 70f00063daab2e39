/**
 * `pnpm bench [--json FILE] [NAME…]`: measures the rows whose name contains one of the words (all of them by default),
 * prints them as a table, and writes them as JSON.
 */
import { writeFileSync } from "node:fs"
import { arch, cpus, platform } from "node:os"
import { parseArgs } from "node:util"
import { type Result, type Row, summarise } from "./Row.ts"
import { callOverFetchRow, callRow, openaiRow, stripeRow } from "./rows/client.ts"
import { decodeRow } from "./rows/decode.ts"
import { heapRow } from "./rows/heap.ts"
import { getRow, listRow } from "./rows/server.ts"
import { sizeRow } from "./rows/size.ts"
import { versionRow } from "./rows/startup.ts"
import { table } from "./table.ts"

const rows: Record<string, () => Row | Promise<Row>> = {
  call: callRow,
  callOverFetch: callOverFetchRow,
  decode: decodeRow,
  get: getRow,
  heap: heapRow,
  list: listRow,
  openai: openaiRow,
  size: sizeRow,
  start: versionRow,
  stripe: stripeRow
}

const { positionals, values } = parseArgs({
  args: process.argv.slice(2),
  options: { json: { type: "string" } },
  allowPositionals: true
})
const chosen = Object.entries(rows).filter(
  ([name]) => positionals.length === 0 || positionals.some((word) => name.includes(word))
)
if (chosen.length === 0) {
  console.error(`No such row. There are: ${Object.keys(rows).join(", ")}.`)
  process.exit(2)
}

const results: Array<Result> = []
for (const [, make] of chosen) {
  const row = await make()
  const pairs = []
  for (let i = 0; i < row.pairs; i++) pairs.push(await row.measure())
  await row.close?.()
  results.push(summarise(row, pairs))
}
const machine = {
  node: process.version,
  platform: platform(),
  arch: arch(),
  cpus: cpus().length,
  cpu: cpus()[0]?.model
}

console.log(table(results))
const json = `${JSON.stringify({ machine, rows: results }, null, 2)}\n`
if (values.json === undefined) console.log(`\n${json}`)
else writeFileSync(values.json, json)
