/** Measures the growth of the heap, including garbage, while 10 000 nodes are listed: a list is a stream and must not be held in memory. */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { startMock } from "../mockService.ts"
import { type Row, subjectAtMost } from "../Row.ts"

const nodes = 10_000
const maxGrowthMib = 32
const lister = fileURLToPath(new URL("../clients/lister.ts", import.meta.url))

/** The peak growth against its limit. */
export const heapRow = async (): Promise<Row> => {
  const mock = await startMock(nodes)
  return {
    name: "heap growth, 10 000 nodes listed",
    subject: "promise client",
    baseline: "limit",
    unit: "MiB",
    targets: [subjectAtMost(maxGrowthMib)],
    pairs: 3,
    measure: () => {
      const { stderr, stdout } = spawnSync(process.execPath, ["--expose-gc", lister, mock.url], {
        encoding: "utf8"
      })
      const { count, growth } = JSON.parse(stdout || `{"count":"nothing: ${JSON.stringify(stderr)}"}`)
      if (count !== nodes) throw new Error(`${count} of ${nodes} nodes were listed`)
      return { subject: growth / 2 ** 20, baseline: maxGrowthMib }
    },
    close: mock.stop
  }
}
