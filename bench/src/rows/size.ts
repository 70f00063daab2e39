/**
 * Measures the size of the promise client in a user's page: the packed package, of which every part is used, with all its dependencies,
 * minified and compressed.
 */
import { fillPackages } from "@berthkit/scripts/pack"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { gzipSync } from "node:zlib"
import { rolldown } from "rolldown"
import { type Row, subjectAtMost } from "../Row.ts"

/** The same bound as that of the test with esbuild, whose bundles are about as large. */
const maxKib = 69.7

const effectFolder = dirname(createRequire(import.meta.url).resolve("effect/package.json"))

/** The size of a page's bundle in KiB. */
const packedKib = async (): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), "berth-size-"))
  try {
    const packed = (await fillPackages(join(folder, "packages"))).find((each) => each.endsWith("/core"))!
    mkdirSync(join(folder, "node_modules/@berthkit"), { recursive: true })
    symlinkSync(packed, join(folder, "node_modules/@berthkit/core"))
    symlinkSync(effectFolder, join(folder, "node_modules/effect"))
    const entry = join(folder, "everything.js")
    writeFileSync(entry, 'import * as Berth from "@berthkit/core"\nObject.assign(globalThis, { Berth })\n')
    const build = await rolldown({ input: entry, platform: "browser", resolve: { symlinks: false } })
    const { output } = await build.generate({ format: "esm", minify: true })
    await build.close()
    const code = output.map((file) => (file.type === "chunk" ? file.code : "")).join("")
    return gzipSync(code, { level: 9 }).length / 1024
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The promise client against its limit; an absolute number, so one pair is enough. */
export const sizeRow = (): Row => ({
  name: "size, minified and gzip",
  subject: "promise client",
  baseline: "limit",
  unit: "KiB",
  targets: [subjectAtMost(maxKib)],
  pairs: 1,
  measure: async () => ({ subject: await packedKib(), baseline: maxKib })
})
