/** Measures the size of the promise client in a user's bundle: minified and compressed, with all its dependencies. */
import { rolldown } from "rolldown"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { type Row, subjectAtMost } from "../Row.ts"

const entry = fileURLToPath(new URL("../../../packages/core/src/promise.ts", import.meta.url))
const maxKib = 65

/** The promise client against its limit; an absolute number, so one pair is enough. */
export const sizeRow = (): Row => ({
  name: "size, minified and gzip",
  subject: "promise client",
  baseline: "limit",
  unit: "KiB",
  targets: [subjectAtMost(maxKib)],
  pairs: 1,
  measure: async () => {
    const build = await rolldown({ input: entry, platform: "browser", external: /^node:/ })
    const { output } = await build.generate({ format: "esm", minify: true })
    await build.close()
    const code = output.map((file) => (file.type === "chunk" ? file.code : "")).join("")
    return { subject: gzipSync(code, { level: 9 }).length / 1024, baseline: maxKib }
  }
})
