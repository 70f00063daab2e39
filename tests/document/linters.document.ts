/** The OpenAPI descriptions pass the linters that people commonly use. The folder `linters` has the exceptions, with reasons. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { TestServer } from "@berthkit/server/testing"
import { afterAll, assert, beforeAll, describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { description, startTool } from "./tools.ts"

const read = async (url: string): Promise<string> => (await fetch(url)).text()

const rules = (file: string) => fileURLToPath(new URL(`linters/${file}`, import.meta.url))

const runSpectral = (file: string, severity: "error" | "hint") =>
  startTool("spectral", ["lint", file, "--ruleset", rules("spectral.yaml"), "--fail-severity", severity]).ended

const runRedocly = async (file: string) => {
  const env = { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" }
  const args = ["lint", file, "--config", rules("redocly.yaml"), "--format", "json"]
  const { stdout } = await startTool("redocly", args, { env }).ended
  return JSON.parse(stdout)
}

describe("the description of the interface", () => {
  it("passes spectral, hints included", async () => {
    const { code, stderr, stdout } = await runSpectral(description, "hint")
    expect([stdout.trim(), stderr]).toEqual(["No results with a severity of 'hint' or higher found!", ""])
    expect(code).toBe(0)
  })

  it("passes redocly, warnings included", async () => {
    expect(await runRedocly(description)).toMatchObject({
      totals: { errors: 0, warnings: 0, ignored: 0 },
      problems: []
    })
  })
})

describe("the description of the control plane", () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-control-"))
  const file = join(folder, "openapi.json")
  beforeAll(() =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      writeFileSync(file, yield* Effect.promise(() => read(`${baseUrl}/_mock/openapi.json`)))
    }).pipe(Effect.provide(TestServer.layer()), Effect.runPromise)
  )
  afterAll(() => rmSync(folder, { recursive: true }))

  it("passes spectral without errors", async () => {
    const { code, stdout } = await runSpectral(file, "error")
    assert.strictEqual(code, 0, stdout)
  })

  it("passes redocly without errors", async () => {
    expect(await runRedocly(file)).toMatchObject({ totals: { errors: 0 } })
  })
})
