/** Reads the texts that the build has made: they are beside the bundle, or within a single-file program. */
import { readFileSync } from "node:fs"

// Not imported: Bun and Deno have no such module.
const sea = process.getBuiltinModule("node:sea") as typeof import("node:sea") | undefined

/**
 * A text by its name. `from`: the URL of the module that asks for it. Once that is bundled, the text is beside it; the sources have it in `dist`
 * of their workspace.
 */
export const readBuilt = (name: string, from: string): string => {
  if (sea?.isSea() === true) return sea.getAsset(name, "utf8")
  const place = from.endsWith(".ts") ? from.replace(/^(.*)\/src\/.*$/, "$1/dist/") : from
  return readFileSync(new URL(name, place), "utf8")
}
