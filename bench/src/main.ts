/**
 * `pnpm bench [--json FILE] [--soak SECONDS] [NAME…]`: measures the row of each name, or all rows whose name contains it, by default all
 * rows. It prints them as a table and as JSON; `--json` writes the JSON to a file instead.
 */
import { writeFileSync } from "node:fs"
import { arch, cpus, platform } from "node:os"
import { parseArgs } from "node:util"
import { type Result, type Row, summarise, Unmeasurable } from "./Row.ts"
import { callOverFetchRow, callOverHttpClientRow, callRow, promisesRow } from "./rows/client.ts"
import { cancelRow } from "./rows/cancel.ts"
import { drainRow } from "./rows/drain.ts"
import {
  applyRow,
  completionRow,
  distantRow,
  helpRow,
  nameRow,
  nodeListRow,
  otherUserRow,
  streamRow
} from "./rows/commandLine.ts"
import { decodeRow } from "./rows/decode.ts"
import { executableSizeRow, executableStartRow } from "./rows/executable.ts"
import { idleRow, soakRow } from "./rows/endurance.ts"
import { getOfMillionRow, memoryRow, pageOfMillionRow } from "./rows/fleet.ts"
import { heapRow } from "./rows/heap.ts"
import { readyRow, throughputRow } from "./rows/prism.ts"
import { keyedRow } from "./rows/keyed.ts"
import { getRow, listRow } from "./rows/server.ts"
import { settledRow } from "./rows/settled.ts"
import { sizeRow } from "./rows/size.ts"
import { versionRow } from "./rows/startup.ts"
import { tickRow } from "./rows/tick.ts"
import { watchAccountsCpuRow, watchAccountsMemoryRow, watchGrowthRow } from "./rows/watchAccounts.ts"
import { watchCommandRow, watchRefusedRow } from "./rows/watchAllowance.ts"
import { watchCommitRow, watchStreamRow, watchWebhookRow } from "./rows/watchDelivery.ts"
import { watchMemoryRow, watchPeakRow } from "./rows/watchMemory.ts"
import { watchDiffRow } from "./rows/watchPage.ts"
import { worldRow } from "./rows/world.ts"
import { table } from "./table.ts"

const { positionals, values } = parseArgs({
  args: process.argv.slice(2),
  options: { json: { type: "string" }, soak: { type: "string", default: "60" } },
  allowPositionals: true
})

const rows: Record<string, () => Row | Promise<Row>> = {
  call: callRow,
  callOverFetch: callOverFetchRow,
  callOverHttpClient: callOverHttpClientRow,
  callOverPromises: promisesRow,
  "cancel-queue": () => cancelRow("queue"),
  "cancel-backoff": () => cancelRow("backoff"),
  "cancel-wire": () => cancelRow("wire"),
  "cancel-body": () => cancelRow("body"),
  "cli-help": helpRow,
  "cli-list": nodeListRow,
  "cli-list-distant": () => distantRow("list"),
  "cli-get-distant": () => distantRow("get"),
  "cli-create-distant": () => distantRow("create"),
  "cli-list-other-user": () => otherUserRow(false),
  "cli-list-cold": () => otherUserRow(true),
  "cli-apply": applyRow,
  "cli-completion": completionRow,
  "cli-name-100": () => nameRow(100),
  "cli-name-1000": () => nameRow(1000),
  "cli-name-10000": () => nameRow(10_000),
  "cli-stream": streamRow,
  decode: decodeRow,
  drain: drainRow,
  "executable-size": executableSizeRow,
  "executable-start": executableStartRow,
  get: getRow,
  heap: heapRow,
  keyed: keyedRow,
  list: listRow,
  settled: settledRow,
  size: sizeRow,
  "million-get": getOfMillionRow,
  "million-page": pageOfMillionRow,
  "million-memory": memoryRow,
  idle: idleRow,
  ready: readyRow,
  throughput: throughputRow,
  world: worldRow,
  soak: () => soakRow(Number(values.soak)),
  start: versionRow,
  tick: tickRow,
  "watch-diff": watchDiffRow,
  "watch-memory": watchMemoryRow,
  "watch-peak": watchPeakRow,
  "watch-commit": watchCommitRow,
  "watch-webhook": watchWebhookRow,
  "watch-stream": watchStreamRow,
  "watch-accounts-cpu": watchAccountsCpuRow,
  "watch-accounts-memory": watchAccountsMemoryRow,
  "watch-accounts-2": () => watchGrowthRow(2),
  "watch-accounts-4": () => watchGrowthRow(4),
  "watch-429": watchRefusedRow,
  "watch-cli": watchCommandRow
}

const chosen = Object.entries(rows).filter(
  ([name]) =>
    positionals.length === 0 ||
    positionals.some((word) => (Object.hasOwn(rows, word) ? name === word : name.includes(word)))
)
if (chosen.length === 0) {
  console.error(`No row matches ${positionals.join(" ")}. Rows: ${Object.keys(rows).join(", ")}.`)
  process.exit(2)
}

const results: Array<Result> = []
const measure = async (make: () => Row | Promise<Row>) => {
  const row = await make()
  const pairs = []
  for (let i = 0; i < row.pairs; i++) pairs.push(await row.measure())
  await row.close?.()
  results.push(summarise(row, pairs))
}
for (const [name, make] of chosen) {
  try {
    await measure(make)
  } catch (error) {
    if (!(error instanceof Unmeasurable)) throw error
    console.error(`Skipped ${name}: ${error.message}.`)
  }
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
