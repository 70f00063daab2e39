/** The single-file programs, each in a folder with nothing else, and without Node on PATH. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buildExecutables } from "@berthkit/scripts/executables"
import { Program } from "@berthkit/testing/Program"
import { checkMail } from "./mailing.ts"
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-executables-"))
  await buildExecutables(folder)
})

afterAll(() => rm(folder, { recursive: true, force: true }))

const start = (name: string, args: ReadonlyArray<string>, env: Record<string, string> = {}) =>
  new Program(join(folder, name), args, { cwd: folder, env: { PATH: "/nonexistent", HOME: folder, ...env } })

describe("the single-file programs", () => {
  it.each(["berth", "berth-server", "berth-watch"])("%s prints its version, and nothing else", async (name) => {
    expect(await start(name, ["--version"]).ended).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^berth\S* v?\d+\.\d+\.\d+\n$/),
      stderr: ""
    })
  })

  it("work together like the others", async () => {
    await using server = start("berth-server", ["--port", "0", "--scenario", "small"])
    const { accessToken, apiKey, url } = JSON.parse(await server.printed(/^\{.*\}$/m))
    const env = { BERTH_BASE_URL: url, BERTH_API_KEY: apiKey, BERTH_ACCESS_TOKEN: accessToken }

    const nodes = JSON.parse(await start("berth", ["node", "list", "-o", "json"], env).succeeded())
    expect(nodes.length).toBeGreaterThan(0)
    const watched = await start("berth-watch", ["once"], env).succeeded()
    expect(JSON.parse(watched.split("\n")[0]!)).toMatchObject({ type: "berth.watch.baseline" })
    expect(server.printedOn.stderr).toBe("")
  })

  it.live("berth-watch sends mail, and fills in templates", () =>
    checkMail(folder, (args, env) => start("berth-watch", args, env))
  )

  it("berth-server has its pages inside", async () => {
    await using server = start("berth-server", ["--port", "0"])
    const { url } = JSON.parse(await server.printed(/^\{.*\}$/m))
    for (const [path, text] of [
      ["/docs", "window.Scalar.createApiReference"],
      ["/_mock/", '<script type="module">']
    ]) {
      const response = await fetch(`${url}${path}`)
      expect(response.status).toBe(200)
      expect(await response.text()).toContain(text)
    }
  })
})
