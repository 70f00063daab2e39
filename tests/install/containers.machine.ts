import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { fillPackages } from "@berthkit/scripts/pack"
import { certificateFile, keyFile } from "@berthkit/testing/certificate"
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { Container } from "./Container.ts"
import { checkMail } from "./mailing.ts"

const containerfile = (app: string) => fileURLToPath(new URL(`../../apps/${app}/Containerfile`, import.meta.url))

let folder: string
let server: Container
let watch: Container

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "berth-context-"))
  await fillPackages(join(folder, "packages"))
  server = new Container(containerfile("server"), join(folder, "packages/server"))
  watch = new Container(containerfile("watch"), join(folder, "packages/watch"))
})

afterAll(() => {
  server?.[Symbol.dispose]()
  watch?.[Symbol.dispose]()
  rmSync(folder, { recursive: true, force: true })
})

const token = "a-control-token"

describe("the containers", () => {
  it("berth-server starts as a user on a root that it cannot write to, is healthy, and ends with SIGTERM", async () => {
    await using running = server.start(["--control-token", token])
    const { accessToken, apiKey, url } = JSON.parse(await running.printed(/^\{.*\}$/m))
    expect(new URL(url).port).toBe("4010")
    expect((await server.checkHealth(running).ended).code).toBe(0)

    const env = { BERTH_BASE_URL: "http://127.0.0.1:4010", BERTH_API_KEY: apiKey, BERTH_ACCESS_TOKEN: accessToken }
    const watched = watch.start(["once"], { env, network: running })
    expect(JSON.parse(await watched.succeeded())).toMatchObject({ type: "berth.watch.baseline" })
    // The daemon's files are in its volume.
    expect(readdirSync(join(watch.root, "state"))).toEqual(["berth"])

    const { code, stderr } = await running.kill("SIGTERM")
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  })

  it("berth-watch is healthy while it runs, and has no health check without HTTP", async () => {
    await using running = server.start(["--control-token", token])
    const { accessToken, apiKey } = JSON.parse(await running.printed(/^\{.*\}$/m))
    const env = { BERTH_BASE_URL: "http://127.0.0.1:4010", BERTH_API_KEY: apiKey, BERTH_ACCESS_TOKEN: accessToken }
    expect((await watch.checkHealth(running).ended).code).toBe(1)
    expect((await watch.checkHealth(running, { BERTH_WATCH_LISTEN: "off" }).ended).code).toBe(0)

    await using watching = watch.start(undefined, { env, network: running })
    await watching.printed(/"http"/, "stderr")
    expect((await watch.checkHealth(running).ended).code).toBe(0)
  })

  it.live("berth-watch sends mail, and fills in templates", () =>
    // The container has a network of its own, in which nobody listens.
    checkMail(watch.root, (args, env) => watch.start(args, { env }), false)
  )

  it("berth-server is not healthy when it does not answer the check", async () => {
    for (const file of [keyFile, certificateFile]) copyFileSync(file, join(server.root, basename(file)))
    const tls = ["--tls-key", "/key.pem", "--tls-cert", "/cert.pem"]
    await using running = server.start(["--control-token", token, ...tls])
    await running.printed(/^\{.*\}$/m)
    expect((await server.checkHealth(running).ended).code).toBe(1)
  })

  it("berth-server refuses to start without a control token, in one line", async () => {
    const { code, stderr } = await server.start([]).ended
    expect(code).toBe(2)
    expect(stderr).toMatch(/^berth-server.*--control-token.*\n$/)
  })

  it.each([
    ["berth-server", () => server],
    ["berth-watch", () => watch]
  ] as const)("%s has its compiled code in the image", (_name, container) => {
    expect(readdirSync(join(container().root, "opt/berth/dist/compiled"))).not.toEqual([])
  })
})
