/**
 * What the promise client weighs in somebody's bundle: minified and compressed, with everything it needs.
 */
import { rolldown } from "rolldown"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { type Row, subjectAtMost } from "../Row.ts"

const entry = fileURLToPath(new URL("../../../packages/core/src/promise.ts", import.meta.url))
const budgetKib = 65

/** The promise client against its budget; an absolute number, so one pair is enough. */
export const sizeRow = (): Row => ({
  name: "size, minified and gzip",
  subject: "promise client",
  baseline: "budget",
  unit: "KiB",
  targets: [subjectAtMost(budgetKib)],
  pairs: 1,
  measure: async () => {
    const build = await rolldown({ input: entry, platform: "browser" })
    const { output } = await build.generate({ format: "esm", minify: true })
    await build.close()
    const code = output.map((file) => (file.type === "chunk" ? file.code : "")).join("")
    return { subject: gzipSync(code, { level: 9 }).length / 1024, baseline: budgetKib }
  }
})
