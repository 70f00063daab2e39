// Vitest runs this once before the tests of the OpenAPI description. It installs the tools that these tests need from npm, with the
// versions in their lockfile. An up-to-date install takes a second.
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Program } from "@berthkit/testing/Program"

const { packageManager } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))

/** Installs the workspace in a folder that has its own lockfile. */
export const install = async (cwd: string): Promise<void> => {
  const args = ["--yes", packageManager, "install", "--frozen-lockfile", "--ignore-scripts", "--reporter=append-only"]
  const { code, stderr, stdout } = await new Program("npx", args, { cwd, timeoutMillis: 300_000 }).ended
  if (code !== 0) throw new Error(`${cwd} cannot be installed: ${stdout}${stderr}`)
}

export const setup = (): Promise<void> => install(fileURLToPath(new URL("tools", import.meta.url)))
