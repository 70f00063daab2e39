/**
 * The mock in a project that tests with jest. Needs a registry: jest comes from npm. The project gets the server as JavaScript, for
 * jest reads no TypeScript.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { bundleInto } from "@berthkit/scripts/bundle"
import { Program } from "@berthkit/testing/Program"
import { expect, it } from "vitest"
import { install } from "../../document/installTools.ts"

const project = fileURLToPath(new URL("../jest", import.meta.url))

it("a test with jest passes, and jest ends by itself", async () => {
  await install(project)
  const installed = join(project, "node_modules/@berthkit/server")
  await bundleInto(installed, "apps/server", { promise: "src/testing/promise.ts" })
  const exports = { "./testing/promise": "./promise.mjs" }
  writeFileSync(join(installed, "package.json"), JSON.stringify({ name: "@berthkit/server", type: "module", exports }))
  await using jest = new Program(process.execPath, ["--experimental-vm-modules", "node_modules/jest/bin/jest.js"], {
    cwd: project,
    timeoutMillis: 240_000
  })
  const { code, stderr } = await jest.ended
  expect(stderr).toContain("1 passed, 1 total")
  expect(stderr).not.toContain("did not exit")
  expect(code).toBe(0)
})
