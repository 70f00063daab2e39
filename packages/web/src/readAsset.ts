/** Reads the texts of pages: they are beside the modules that use them, beside the bundle, or within a single-file program. */
import { readFileSync } from "node:fs"
import { basename } from "node:path"

// Not imported: Bun and Deno have no such module.
const sea = process.getBuiltinModule("node:sea") as typeof import("node:sea") | undefined

/** The text at `url`, which is beside the module that asks for it. */
export const readAsset = (url: URL): string =>
  sea?.isSea() === true ? sea.getAsset(basename(url.pathname), "utf8") : readFileSync(url, "utf8")

/**
 * A text that the build has made. `from`: the URL of the module that asks for it, which is beside it once it is bundled; the sources have it in
 * `dist` of their workspace.
 */
export const readBuilt = (name: string, from: string): string => {
  const isSource = from.endsWith(".ts")
  return readAsset(new URL(name, isSource ? from.replace(/^(.*)\/src\/.*$/, "$1/dist/") : from))
}
