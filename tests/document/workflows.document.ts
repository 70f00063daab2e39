/**
 * The workflows of GitHub pass actionlint, which knows their schema, contexts, runners and shells.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, it } from "vitest"
import { startTool } from "./tools.ts"

const workflows = fileURLToPath(new URL("../../.github/workflows", import.meta.url))

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-workflows-"))
  cpSync(workflows, join(folder, ".github/workflows"), { recursive: true })
})

afterAll(() => rmSync(folder, { recursive: true }))

const lint = () => startTool("actionlint", [], { cwd: folder, env: { NO_COLOR: "1" } }).ended

it("the workflows pass actionlint", async () => {
  const { code, stderr, stdout } = await lint()
  expect({ code, stderr, stdout: code === 0 ? "" : stdout }).toEqual({ code: 0, stderr: "", stdout: "" })
  expect(stdout).toContain(`Checking ${readdirSync(workflows).length} workflow file(s)`)
})

it("a job that waits for a job that does not exist fails", async () => {
  const path = join(folder, ".github/workflows/release.yml")
  writeFileSync(path, readFileSync(path, "utf8").replace("needs: [test, build]", "needs: [test, biuld]"))
  const { code, stdout } = await lint()
  expect(code).toBe(1)
  expect(stdout).toContain("biuld")
})
