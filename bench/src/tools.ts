/**
 * Third-party clients to measure against. npm installs one into an ignored folder when a row first needs it, so that builds and
 * tests do not download it.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { Unmeasurable } from "./Row.ts"

const tools = fileURLToPath(new URL("../.tools", import.meta.url))

/** The versions to measure against. */
const versions = { axios: "1.21.1", commander: "15.1.0" } as const

export type Tool = keyof typeof versions

/** The URL of a tool's module; installs the tool first if necessary. */
export const tool = (name: Tool): string => {
  const version = versions[name]
  const folder = join(tools, `${name}-${version}`)
  const done = join(folder, "installed")
  if (!existsSync(done)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }))
    const args = [
      "install",
      "--prefix",
      folder,
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
      "--ignore-scripts",
      `${name}@${version}`
    ]
    const { error, status, stderr } = spawnSync("npm", args, { cwd: folder, encoding: "utf8", timeout: 180_000 })
    if (status !== 0) {
      throw new Unmeasurable(
        `${name} ${version} cannot be installed (${error?.message ?? stderr.trim().split("\n")[0]})`
      )
    }
    writeFileSync(done, "")
  }
  return pathToFileURL(createRequire(join(folder, "package.json")).resolve(name)).href
}
