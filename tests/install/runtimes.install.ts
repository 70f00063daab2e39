import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { Project } from "./Project.ts"
import { Registry } from "./Registry.ts"
import { type Manager, managers, nodes, nodeTooOld, runtimes } from "./runtimes.ts"
import { tarballs } from "./tarballs.ts"

const names = ["@berthkit/core", "@berthkit/cli", "@berthkit/server", "@berthkit/watch"]
const binaries = ["berth", "berth-server", "berth-watch"]
const everything = [...names, "effect@4.1.0"]
const programs = ["promise.ts", "effect.ts"]

let registry: Registry
let project: Project

const addPrograms = (project: Project) =>
  Promise.all(programs.map((name) => project.add(new URL(`programs/${name}`, import.meta.url))))

beforeAll(async () => {
  registry = await Registry.of(tarballs())
  project = await Project.with(everything, { registry })
  await addPrograms(project)
})

afterAll(async () => {
  await project?.[Symbol.asyncDispose]()
  await registry?.[Symbol.asyncDispose]()
})

/** Node strips the types, and Node 22 warns about it. */
const ofNode = (path: string) => [path, "--disable-warning=ExperimentalWarning"] as const

describe.each([
  ...Object.entries(nodes).map(([version, path]) => [`Node ${version}`, ofNode(path)] as const),
  ...Object.entries(runtimes)
])("on %s", (_name, runtime) => {
  it("every entry can be imported", async () => {
    expect(await project.entriesThatFail(names, runtime)).toBe("")
  })

  it("a CommonJS script requires the client", async () => {
    const source = `console.log(typeof require("@berthkit/core").createClient)`
    const { stderr, stdout } = await project.require(source, runtime)
    expect({ stderr, stdout }).toEqual({ stderr: "", stdout: "function\n" })
  })

  it("a program with promises runs against the server, and keeps its state in files", async () => {
    const { stderr, stdout } = await project.runProgram("promise.ts", runtime)
    expect(stderr).toBe("")
    expect(JSON.parse(stdout)).toMatchObject({ listed: true, isKept: true })
  })

  it("a program with Effect runs against the server", async () => {
    const { stderr, stdout } = await project.runProgram("effect.ts", runtime)
    expect(stderr).toBe("")
    expect(JSON.parse(stdout)).toMatchObject({ listed: true })
  })

  it("the three binaries run", async () => {
    await using server = project.binary("berth-server", ["--port", "0", "--scenario", "small"], { runtime })
    const { accessToken, apiKey, url } = JSON.parse(await server.printed(/^\{.*\}$/m))
    const env = { BERTH_BASE_URL: url, BERTH_API_KEY: apiKey, BERTH_ACCESS_TOKEN: accessToken }

    const nodes = await project.binary("berth", ["node", "list", "-o", "json"], { env, runtime }).succeeded()
    expect(JSON.parse(nodes).length).toBeGreaterThan(0)
    const watched = await project.binary("berth-watch", ["once"], { env, runtime }).succeeded()
    expect(JSON.parse(watched.split("\n")[0]!)).toMatchObject({ type: "berth.watch.baseline" })
  })
})

describe("on a Node that is too old", () => {
  const runtime = ofNode(nodeTooOld.path)
  const tooOld = `The client needs Node 22.19 or newer; this is Node ${nodeTooOld.version}.`

  it.each(binaries)("%s refuses in one sentence", async (name) => {
    const { code, stderr, stdout } = await project.binary(name, ["--help"], { runtime }).ended
    const refusal = `${name} needs Node 22.19 or newer; this is Node ${nodeTooOld.version}.\n`
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: "", stderr: refusal })
  })

  it("no client can be made", async () => {
    const source = `
      import { createClient } from "@berthkit/core"
      try {
        createClient({ baseUrl: "http://127.0.0.1:1", apiKey: "k", accessToken: "t" })
      } catch (error) {
        console.log(error.name + ": " + error.message)
      }`
    const { stderr, stdout } = await project.evaluate(source, runtime)
    expect(stderr).toBe("")
    expect(stdout).toBe(`RuntimeTooOld: ${tooOld}\n`)
  })

  it("no server of a test can be started", async () => {
    const { code, stderr } = await project.evaluate(`import "@berthkit/server/testing/promise"`, runtime)
    expect(code).toBe(1)
    expect(stderr).toContain(`Error: @berthkit/server needs Node 22.19 or newer; this is Node ${nodeTooOld.version}.\n`)
    expect(stderr.length).toBeLessThan(2_000)
  })

  it("no layer of Effect can be made", async () => {
    const source = `
      import * as Berth from "@berthkit/core/client/Berth"
      import { Nodes } from "@berthkit/core/client/Nodes"
      import { Effect, Layer, Redacted } from "effect"
      import { FetchHttpClient } from "effect/http"
      const secret = Redacted.make("k")
      const client = Berth.layer({ baseUrl: "http://127.0.0.1:1", credentials: { apiKey: secret, accessToken: secret } })
      const program = Nodes.use((nodes) => nodes.get(1)).pipe(Effect.provide(Layer.provide(client, FetchHttpClient.layer)))
      const error = await Effect.runPromise(Effect.flip(program))
      console.log(error._tag + ": " + error.message)`
    const { stderr, stdout } = await project.evaluate(source, runtime)
    expect(stderr).toBe("")
    expect(stdout).toBe(`RuntimeTooOld: ${tooOld}\n`)
  })
})

describe.each((Object.keys(managers) as Array<Manager>).filter((name) => name !== "npm"))("%s", (manager) => {
  it("installs the packages, with entries that can be imported and a program that runs", async () => {
    await using project = await Project.with(everything, { manager, registry })
    await addPrograms(project)
    expect(await project.entriesThatFail(names)).toBe("")
    const { stderr, stdout } = await project.runProgram("promise.ts")
    expect(stderr).toBe("")
    expect(JSON.parse(stdout)).toMatchObject({ listed: true, isKept: true })
    expect(await readdir(join(project.folder, "node_modules/.bin"))).toEqual(expect.arrayContaining(binaries))
  })
})
