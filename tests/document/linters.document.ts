/**
 * The OpenAPI description passes the linters that people run over such documents, with their recommended rules. What is excepted
 * stands in `linters`, with the reason.
 */
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { description, startTool } from "./tools.ts"

const rules = (file: string) => fileURLToPath(new URL(`linters/${file}`, import.meta.url))

it("spectral finds nothing", async () => {
  const args = ["lint", description, "--ruleset", rules("spectral.yaml"), "--fail-severity", "hint"]
  const { code, stderr, stdout } = await startTool("spectral", args).ended
  expect([stdout.trim(), stderr]).toEqual(["No results with a severity of 'hint' or higher found!", ""])
  expect(code).toBe(0)
})

it("redocly finds nothing", async () => {
  const args = ["lint", description, "--config", rules("redocly.yaml"), "--format", "json"]
  const env = { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" }
  const { code, stdout } = await startTool("redocly", args, { env }).ended
  expect(JSON.parse(stdout)).toMatchObject({ totals: { errors: 0, warnings: 0, ignored: 0 }, problems: [] })
  expect(code).toBe(0)
})
