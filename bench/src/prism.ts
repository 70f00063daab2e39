/**
 * Prism, the mock server that ours is compared with. It is not a dependency of the workspace: npm installs it next to the benchmark when a
 * row first needs it.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { freePort } from "@berthkit/testing/freePort"
import { type ServerProcess, startServer } from "./processes.ts"
import { Unmeasurable } from "./Row.ts"

const version = "5.14.2"
const folder = fileURLToPath(new URL("../.tools/prism", import.meta.url))
const entry = `${folder}/node_modules/@stoplight/prism-cli/dist/index.js`
const openApi = fileURLToPath(new URL("../../packages/core/openapi.json", import.meta.url))

/** Installs Prism unless it is installed. */
export const installPrism = (): void => {
  if (existsSync(entry)) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}/package.json`, '{"private":true}\n')
  const args = ["install", "--no-audit", "--no-fund", "--loglevel=error", `@stoplight/prism-cli@${version}`]
  const { error, status, stderr } = spawnSync("npm", args, { cwd: folder, encoding: "utf8", timeout: 180_000 })
  if (status !== 0) {
    const reason = error?.message ?? stderr.trim().split("\n")[0]
    throw new Unmeasurable(`Prism ${version} cannot be installed (${reason})`)
  }
}

/** Serves our own OpenAPI description. */
export const startPrism = async (): Promise<ServerProcess> => {
  const url = `http://127.0.0.1:${await freePort()}`
  const { hostname, port } = new URL(url)
  return startServer([entry, "mock", "--host", hostname, "--port", port, openApi], {
    ready: { line: /Prism is listening on /, urlOf: () => url }
  })
}
