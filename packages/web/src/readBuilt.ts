/** Reads texts made by the build: they are next to the bundle, or inside a single-file program. */
import { readFileSync } from "node:fs"

// Not imported: Bun and Deno have no such module.
const sea = process.getBuiltinModule("node:sea") as typeof import("node:sea") | undefined

/**
 * A text by its name. `from`: the URL of the module that asks. In a bundle the text is next to it; for sources it is in the
 * workspace's `dist`.
 */
export const readBuilt = (name: string, from: string): string => {
  if (sea?.isSea() === true) return sea.getAsset(name, "utf8")
  const place = from.endsWith(".ts") ? from.replace(/^(.*)\/src\/.*$/, "$1/dist/") : from
  return readFileSync(new URL(name, place), "utf8")
}
