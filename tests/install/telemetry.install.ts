/**
 * Checks what OpenTelemetry's own instrumentations export about the client's requests if a program follows the recipe that keeps the API
 * key out.
 */
import { delimiter, dirname } from "node:path"
import { afterAll, beforeAll, expect, it } from "@effect/vitest"
import { Project } from "./Project.ts"
import { tarballs } from "./tarballs.ts"

const tracing = [
  "@opentelemetry/api@1.10.0",
  "@opentelemetry/instrumentation@0.301.0",
  "@opentelemetry/instrumentation-http@0.301.0",
  "@opentelemetry/instrumentation-undici@0.34.0",
  "@opentelemetry/sdk-trace-node@2.12.1"
]

let project: Project

beforeAll(async () => {
  // npm cannot install the newest versions together, because they need two versions of the API.
  project = await Project.with([...tarballs(), ...tracing], { manager: "pnpm" })
  await project.add(new URL("programs/traced.js", import.meta.url))
})

afterAll(async () => {
  await project?.[Symbol.asyncDispose]()
})

/** The exported data, and the API key that it must not contain. */
const exported = async (further: Readonly<Record<string, string>>) => {
  // pnpm's binaries are shell scripts that look for Node.
  const PATH = [dirname(process.execPath), process.env["PATH"]].join(delimiter)
  await using server = project.binary("berth-server", ["--port", "0"], { env: { PATH }, runtime: ["/bin/sh"] })
  const { accessToken, apiKey, url } = JSON.parse(await server.printed(/^\{.*\}$/m))
  const env = { BERTH_BASE_URL: url, BERTH_API_KEY: apiKey, BERTH_ACCESS_TOKEN: accessToken, ...further }
  const set = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const { stderr, stdout } = await project.runProgram("traced.js", ["env", ...set, process.execPath])
  expect(stderr).toBe("")
  return { apiKey, text: stdout }
}

it("no attribute of a span has the API key, with the recipe of the manual", async () => {
  const { apiKey, text } = await exported({})
  expect(text).not.toContain(apiKey)
  expect(text.match(/"url\.full":"[^"]*apikey=REDACTED"/g)?.length).toBeGreaterThan(2)
})

it("without the recipe it is there: the instrumentations read it off the wire", async () => {
  const { apiKey, text } = await exported({ UNREDACTED: "1" })
  expect(text).toContain(apiKey)
})
