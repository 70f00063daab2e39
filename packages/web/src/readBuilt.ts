/** Reads strings that the build has made. They are next to the bundle, or inside a single-file program. */
import { readFileSync } from "node:fs"

// Do not import this module, because Bun and Deno do not have it.
const sea = process.getBuiltinModule("node:sea") as typeof import("node:sea") | undefined

/**
 * A string by its name. `from` is the URL of the module that asks for it. For a bundled module the string is next to the bundle;
 * for a source it is in the `dist` of the workspace.
 */
export const readBuilt = (name: string, from: string): string => {
  if (sea?.isSea() === true) return sea.getAsset(name, "utf8")
  const place = from.endsWith(".ts") ? from.replace(/^(.*)\/src\/.*$/, "$1/dist/") : from
  return readFileSync(new URL(name, place), "utf8")
}
