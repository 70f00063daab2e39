import { once } from "node:events"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { fillPackages, packFolder } from "@berthkit/scripts/pack"
import { launchChromium } from "@berthkit/testing/Chromium"
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { Project } from "./Project.ts"
import { esbuild } from "./runtimes.ts"

let folder: string
let project: Project

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-page-"))
  project = await Project.with((await fillPackages(join(folder, "packages"))).map(packFolder))
  await project.add(new URL("programs/page.ts", import.meta.url))
})

afterAll(async () => {
  await project?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

/** A module that esbuild has bundled and minified for browsers, without further options. */
const bundled = async (entry: string): Promise<Buffer> => {
  const { code, stderr } = await project.runProgram(entry, [...esbuild, "--bundle", "--minify", "--outfile=page.js"])
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" })
  return readFile(join(project.folder, "page.js"))
}

const gzippedKib = (bytes: Buffer) => gzipSync(bytes, { level: 9 }).length / 1024

/** A page with one script, at its own origin. */
class Site {
  readonly #server: Server
  readonly origin: string

  private constructor(server: Server) {
    this.#server = server
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async with(script: Buffer): Promise<Site> {
    const server = createServer((request, response) => {
      const isScript = request.url === "/page.js"
      response.setHeader("content-type", isScript ? "text/javascript" : "text/html; charset=utf-8")
      response.end(isScript ? script : `<!doctype html><title>page</title><script src="page.js"></script>`)
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    return new Site(server)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

describe("the promise client in a browser", () => {
  it("creates, lists and fails as anywhere, and keeps its state in memory alone", async () => {
    await using site = await Site.with(await bundled("page.ts"))
    await using server = project.binary("berth-server", ["--port", "0", "--cors", site.origin])
    const { accessToken, apiKey, url } = JSON.parse(await server.printed(/^\{.*\}$/m))

    await using browser = await launchChromium()
    const page = await browser.newPage()
    const errors: Array<string> = []
    page.on("pageerror", (error) => errors.push(error.message))
    await page.goto(site.origin)
    const account = JSON.stringify({ baseUrl: url, apiKey, accessToken })
    expect(await page.evaluate(`run(${account})`)).toMatchObject({
      listed: true,
      missing: 1,
      isSame: true,
      kept: expect.stringContaining("there is no state folder: this runtime has no files"),
      fromEnvironment: expect.stringContaining("this program is bundled for browsers; use createClient")
    })
    expect(errors).toEqual([])
  })

  // 69.1 when this was written.
  it("is at most 69.7 KiB with everything", async () => {
    await project.write(
      "everything.js",
      `import * as Berth from "@berthkit/core"\nObject.assign(globalThis, { Berth })\n`
    )
    expect(gzippedKib(await bundled("everything.js"))).toBeLessThan(69.7)
  })

  it("is at most 5 KiB for an import of one class of error", async () => {
    await project.write(
      "one.js",
      `import { NodeNotFound } from "@berthkit/core"\nObject.assign(globalThis, { NodeNotFound })\n`
    )
    expect(gzippedKib(await bundled("one.js"))).toBeLessThan(5)
  })
})
