/**
 * The mock and the promise client in a project that tests with jest. Needs a package registry, because jest comes from npm. The project
 * gets the mock and the client as JavaScript, because jest reads no TypeScript.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { bundleInto } from "@berthkit/scripts/bundle"
import { Program } from "@berthkit/testing/Program"
import { beforeAll, expect, it } from "vitest"
import { install } from "../../document/installTools.ts"

const project = fileURLToPath(new URL("../jest", import.meta.url))

const writePackage = (name: string, exports: object) =>
  writeFileSync(join(project, "node_modules", name, "package.json"), JSON.stringify({ name, type: "module", exports }))

beforeAll(async () => {
  await install(project)
  const modules = join(project, "node_modules/@berthkit")
  await bundleInto(join(modules, "server"), "apps/server", { promise: "src/testing/promise.ts" })
  writePackage("@berthkit/server", { "./testing/promise": "./promise.mjs" })
  await bundleInto(join(modules, "core"), "packages/core", { promise: "src/promise.ts" }, { platform: "neutral" })
  writePackage("@berthkit/core", { ".": "./promise.mjs" })
  const everyMethod = readFileSync(new URL("../../core/promise/everyMethod.ts", import.meta.url), "utf8")
  writeFileSync(join(modules, "everyMethod.mjs"), stripTypeScriptTypes(everyMethod))
})

/** Runs jest on a test file, and returns its report. */
const jest = async (file: string) => {
  const args = ["--experimental-vm-modules", "node_modules/jest/bin/jest.js", file]
  await using jest = new Program(process.execPath, args, { cwd: project, timeoutMillis: 240_000 })
  return await jest.ended
}

it.each(["example.mjs", "fakeTimers.mjs"])("the tests with jest in %s pass, and jest ends by itself", async (file) => {
  const { code, stderr } = await jest(file)
  expect(stderr).toContain("2 passed, 2 total")
  expect(stderr).not.toContain("did not exit")
  expect(code).toBe(0)
})
