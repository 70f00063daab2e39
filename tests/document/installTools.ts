// Vitest runs this once before the tests of the OpenAPI description: it installs what they use from npm, as the lockfile beside
// it has it. An install that is up to date takes a second.
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Program } from "@berth/testing/Program"

const { packageManager } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))

export const setup = async (): Promise<void> => {
  const args = ["--yes", packageManager, "install", "--frozen-lockfile", "--ignore-scripts", "--reporter=append-only"]
  const cwd = fileURLToPath(new URL("tools", import.meta.url))
  const { code, stderr, stdout } = await new Program("npx", args, { cwd, timeoutMillis: 300_000 }).ended
  if (code !== 0) throw new Error(`the tools cannot be installed: ${stdout}${stderr}`)
}
