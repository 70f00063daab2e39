import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { fillPackages } from "@berthkit/scripts/pack"
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { Engine } from "./Engine.ts"

const apps = ["server", "watch"] as const
const imageOf = (app: string) => `berth-${app}-under-test`
const containerfile = (app: string) => fileURLToPath(new URL(`../../apps/${app}/Containerfile`, import.meta.url))

let engine: Engine
let folder: string

beforeAll(async () => {
  engine = await Engine.find()
  folder = mkdtempSync(join(tmpdir(), "berth-context-"))
  await fillPackages(join(folder, "packages"))
  for (const app of apps) await engine.build(imageOf(app), containerfile(app), join(folder, "packages", app))
})

afterAll(async () => {
  for (const app of apps) await engine?.run("image", "rm", "--force", imageOf(app))
  engine?.[Symbol.dispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** Containers have only their own loopback network, and a read-only root. */
const isolated = ["--read-only", "--network"]

describe("the images", () => {
  it("berth-server runs as a user on a read-only root, is healthy, serves berth-watch, and ends with SIGTERM", async () => {
    const name = `berth-server-${process.pid}`
    const server = engine.start(
      "run",
      "--name",
      name,
      ...isolated,
      "none",
      imageOf("server"),
      "--control-token",
      "a-control-token"
    )
    try {
      const { accessToken, apiKey } = JSON.parse(await server.printed(/^\{.*\}$/m))
      expect(await engine.isHealthy(name)).toBe(true)
      expect((await engine.run("exec", name, "node", "-p", "process.getuid()")).trim()).toBe("1000")
      const written = await engine.start("exec", name, "node", "-e", "fs.writeFileSync('/opt/berth/file', '')").ended
      expect(written.stderr).toContain("EROFS")

      const settings = Object.entries({
        BERTH_BASE_URL: "http://127.0.0.1:4010",
        BERTH_API_KEY: apiKey,
        BERTH_ACCESS_TOKEN: accessToken
      }).flatMap(([key, value]) => ["--env", `${key}=${value}`])
      const watched = await engine.run(
        "run",
        "--rm",
        ...isolated,
        `container:${name}`,
        ...settings,
        imageOf("watch"),
        "once"
      )
      expect(JSON.parse(watched)).toMatchObject({ type: "berth.watch.baseline" })

      const watch = `berth-watch-${process.pid}`
      const watching = engine.start(
        "run",
        "--rm",
        "--name",
        watch,
        ...isolated,
        `container:${name}`,
        ...settings,
        imageOf("watch")
      )
      await watching.printed(/"http"/, "stderr")
      expect(await engine.isHealthy(watch)).toBe(true)
      await engine.run("kill", "--signal", "SIGTERM", watch)
      expect((await watching.ended).code).toBe(0)

      await engine.run("kill", "--signal", "SIGTERM", name)
      expect((await server.ended).code).toBe(0)
    } finally {
      await engine.run("rm", "--force", "--volumes", name)
    }
  })

  it("berth-server refuses to start without a control token, in one line", async () => {
    const { code, stderr } = await engine.start("run", "--rm", ...isolated, "none", imageOf("server")).ended
    expect(code).toBe(2)
    expect(stderr).toMatch(/^berth-server.*--control-token.*$/m)
  })
})
