/**
 * How much the heap grows while 10 000 nodes are listed, garbage included: the list is a stream, whatever its length.
 */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { binary, startServer } from "../processes.ts"
import { type Row, subjectAtMost } from "../Row.ts"

const nodes = 10_000
const budgetMib = 32
const lister = fileURLToPath(new URL("../clients/lister.ts", import.meta.url))

/** The peak of listing 10 000 nodes against its budget. */
export const heapRow = async (): Promise<Row> => {
  const args = ["--port", "0", "--scenario", `fleet:${nodes}`, "--rate-limit", "1000000/1h", "--account", "key:token"]
  const server = await startServer([binary("server", "berth-server"), ...args])
  return {
    name: "heap growth, 10 000 nodes listed",
    subject: "promise client",
    baseline: "budget",
    unit: "MiB",
    targets: [subjectAtMost(budgetMib)],
    pairs: 3,
    measure: () => {
      const { stderr, stdout } = spawnSync(process.execPath, ["--expose-gc", lister, server.url], {
        encoding: "utf8"
      })
      const { count, growth } = JSON.parse(stdout || `{"count":"nothing: ${JSON.stringify(stderr)}"}`)
      if (count !== nodes) throw new Error(`${count} of ${nodes} nodes were listed`)
      return { subject: growth / 2 ** 20, baseline: budgetMib }
    },
    close: server.stop
  }
}
