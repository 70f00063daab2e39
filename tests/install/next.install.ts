/** A Next site that uses the client in two routes: one on Node, with a state directory, and one in the edge runtime. */
import { copyFile, mkdir } from "node:fs/promises"
import { join } from "node:path"
import { Program } from "@berthkit/testing/Program"
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { Project } from "./Project.ts"
import { tarballs } from "./tarballs.ts"

const site = ["next@16.4.6", "react@19.3.1", "react-dom@19.3.1"]

let project: Project
let server: Program
let account: Record<string, string>

beforeAll(async () => {
  project = await Project.with([...tarballs(), ...site])
  const routes = join(project.folder, "pages/api")
  await mkdir(routes, { recursive: true })
  for (const name of ["kept.js", "edge.js"]) {
    await copyFile(new URL(`programs/next/${name}`, import.meta.url), join(routes, name))
  }
  const { folder: root } = project
  await project.write(
    "next.config.mjs",
    `export default { distDir: process.env.OUTPUT, outputFileTracingRoot: ${JSON.stringify(root)} }`
  )
  server = project.binary("berth-server", ["--port", "0"])
  const { accessToken, apiKey, url } = JSON.parse(await server.printed(/^\{.*\}$/m))
  account = { BERTH_BASE_URL: url, BERTH_API_KEY: apiKey, BERTH_ACCESS_TOKEN: accessToken }
})

afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  await project?.[Symbol.asyncDispose]()
})

describe.each([
  { bundler: "Turbopack", options: [] },
  { bundler: "webpack", options: ["--webpack"] }
])("built by $bundler", ({ bundler, options }) => {
  /** Runs Next with separate folders for its build and for the state. */
  const next = (...args: ReadonlyArray<string>) =>
    new Program(process.execPath, ["node_modules/next/dist/bin/next", ...args], {
      cwd: project.folder,
      env: {
        ...account,
        OUTPUT: `out/${bundler}`,
        STATE: join(project.folder, "state", bundler),
        NEXT_TELEMETRY_DISABLED: "1"
      },
      timeoutMillis: 240_000
    })
  let running: Program
  let url: string

  beforeAll(async () => {
    await next("build", ...options).succeeded()
    running = next("start", "--port", "0", "--hostname", "127.0.0.1")
    url = await running.printed(/http:\/\/127\.0\.0\.1:\d+/)
  })

  afterAll(() => running?.[Symbol.asyncDispose]())

  const asked = async (route: string): Promise<{ readonly id: number }> => {
    const response = await fetch(`${url}/api/${route}`)
    expect(response.status).toBe(200)
    return (await response.json()) as { readonly id: number }
  }

  it("a second request to the route on Node gets the node of the first", async () => {
    const { id } = await asked("kept")
    expect(await asked("kept")).toEqual({ id, outcome: "adopted" })
  })

  it("so does one to the route of the edge runtime, from memory; files are refused there", async () => {
    const { id } = await asked("edge")
    expect(await asked("edge")).toEqual({
      id,
      outcome: "adopted",
      inFiles: expect.stringContaining("this runtime has no files")
    })
  })
})
