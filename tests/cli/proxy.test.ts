/** `berth` behind a proxy, with a service whose certificate comes from a private authority. */
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer, type Server } from "node:http"
import { connect, type AddressInfo, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { certificateFile, keyFile } from "@berthkit/testing/certificate"
import { Program } from "@berthkit/testing/Program"
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { dialectFlags, placeSettings } from "../account.ts"

const binary = (app: string, name: string) =>
  fileURLToPath(new URL(`../../apps/${app}/bin/${name}.mjs`, import.meta.url))

/** A name that only the proxy can reach. */
const host = "service.invalid"
const tls = ["--tls-key", keyFile, "--tls-cert", certificateFile]
const proxyUser = "user:proxy-password"

/** A proxy that opens tunnels to a port of this machine, or that refuses everyone. */
class Proxy {
  readonly tunnels: Array<string | undefined> = []
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(port: number | undefined) {
    this.#server = createServer().on("connect", (request, socket: Socket) => {
      this.tunnels.push(request.url)
      const expected = `Basic ${Buffer.from(proxyUser).toString("base64")}`
      if (port === undefined || request.headers["proxy-authorization"] !== expected) {
        return void socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
      }
      const upstream = connect(port, "127.0.0.1", () => socket.write("HTTP/1.1 200 Connection established\r\n\r\n"))
      for (const end of [socket, upstream]) this.#sockets.add(end.on("error", () => {}))
      socket.pipe(upstream).pipe(socket)
    })
  }

  static async to(port: number | undefined): Promise<Proxy> {
    const proxy = new Proxy(port)
    await once(proxy.#server.listen(0, "127.0.0.1"), "listening")
    return proxy
  }

  get address(): string {
    return `${proxyUser}@127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }
}

let folder: string
let server: Program
let port: number
let account: Record<string, string>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-proxy-"))
  server = Program.ofNode(binary("server", "berth-server"), [
    "--port",
    "0",
    ...tls,
    "--allow-host",
    host,
    ...dialectFlags
  ])
  const { accessToken, apiKey, url } = JSON.parse(await server.printed(/^\{.*\}$/m))
  port = Number(new URL(url).port)
  account = {
    BERTH_BASE_URL: `https://${host}:${port}`,
    BERTH_API_KEY: apiKey,
    BERTH_ACCESS_TOKEN: accessToken,
    NODE_EXTRA_CA_CERTS: certificateFile,
    HOME: folder,
    ...placeSettings
  }
})

afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const berth = (args: ReadonlyArray<string>, env: Record<string, string>) =>
  Program.ofNode(binary("cli", "berth"), args, { env: { ...account, ...env } }).ended

describe("berth behind a proxy", () => {
  it("reaches the service through it, and trusts a private authority", async () => {
    using proxy = await Proxy.to(port)
    const { code, stderr, stdout } = await berth(["node", "list", "-o", "json"], { HTTPS_PROXY: proxy.address })
    expect({ code, stderr, stdout }).toEqual({ code: 0, stderr: "", stdout: "[]\n" })
    expect(proxy.tunnels).toContain(`${host}:${port}`)
  })

  it("asks a service on this machine without it", async () => {
    using proxy = await Proxy.to(undefined)
    const env = { HTTPS_PROXY: proxy.address, BERTH_BASE_URL: `https://localhost:${port}` }
    expect((await berth(["node", "list"], env)).code).toBe(0)
    expect(proxy.tunnels).toEqual([])
  })

  it("names the proxy that refuses, without its password, and has changed nothing", async () => {
    using proxy = await Proxy.to(undefined)
    const { code, stderr } = await berth(["node", "delete", "1", "--yes", "--debug"], {
      HTTPS_PROXY: proxy.address
    })
    expect(code).not.toBe(0)
    expect(stderr).toContain("407 Proxy Authentication Required")
    expect(stderr).not.toContain("password")
    expect(stderr).not.toContain("may have carried out")
  })

  it("refuses a proxy that it cannot use, in one sentence", async () => {
    const { code, stderr } = await berth(["node", "list"], {
      HTTPS_PROXY: "socks5://secret@127.0.0.1:1080"
    })
    expect(code).not.toBe(0)
    expect(stderr).toContain("HTTPS_PROXY is not the address of an HTTP proxy")
    expect(stderr).not.toContain("secret")
  })
})
