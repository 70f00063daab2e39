import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { fileURLToPath } from "node:url"
import { Program, type ProgramOptions } from "@berthkit/testing/Program"
import { startStopwatch } from "@berthkit/testing/stopwatch"
import { describe, expect, it } from "vitest"
import { nodeOf } from "../http/service.ts"

const binary = fileURLToPath(new URL("../../bin/berth-server.mjs", import.meta.url))

const serve = (args: ReadonlyArray<string> = [], options?: ProgramOptions) =>
  Program.ofNode(binary, ["--port", "0", ...args], options)

const readyOf = async (program: Program): Promise<{ readonly url: string }> =>
  JSON.parse(await program.printed(/^.*\n/))

/** A connection on which `bytes` have been sent. */
class Connection {
  readonly socket: Socket
  received = ""
  readonly closed: Promise<void>

  private constructor(socket: Socket) {
    this.socket = socket
    this.socket.on("error", () => {}).on("data", (data: Buffer) => (this.received += data.toString("latin1")))
    this.closed = new Promise((resolve) => this.socket.once("close", () => resolve()))
  }

  static async open(url: string, bytes: string): Promise<Connection> {
    const connection = new Connection(connect({ host: "127.0.0.1", port: Number(new URL(url).port) }))
    await once(connection.socket, "connect")
    await new Promise((sent) => connection.socket.write(bytes, sent))
    return connection
  }

  /** Waits until this text has arrived. */
  async receives(text: string): Promise<void> {
    while (!this.received.includes(text)) {
      if (this.socket.destroyed) throw new Error(`closed without ${text}: ${this.received}`)
      await Promise.race([once(this.socket, "data"), this.closed])
    }
  }

  [Symbol.dispose](): void {
    this.socket.destroy()
  }
}

const request = (method: string, path: string, headers = "") =>
  `${method} /myaccount/api/v1${path}?apikey=berth-key HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer berth-token\r\n${headers}\r\n`
const events = "GET /_mock/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
const node = JSON.stringify(nodeOf("web"))

/** Waits until the journal has this many requests. It also shows requests that a fault keeps waiting. */
const arrivals = async (url: string, count: number): Promise<void> => {
  for (;;) {
    const reply = await fetch(`${url}/_mock/default/requests`, { headers: { connection: "close" } })
    if (((await reply.json()) as { readonly count: number }).count >= count) return
  }
}

describe.concurrent("a server that gets SIGTERM", () => {
  it("cuts held requests at once, and lets other requests end", async () => {
    await using server = serve([
      "--fault=hang:operation=nodes.get",
      "--fault=latency:delay=10m:operation=images.list",
      "--fault=slow-body:pause=10m:operation=nodes.list"
    ])
    const { url } = await readyOf(server)
    using hanging = await Connection.open(url, request("GET", "/nodes/1/"))
    using late = await Connection.open(url, request("GET", "/images/"))
    using slow = await Connection.open(url, request("GET", "/nodes/"))
    using stream = await Connection.open(url, events)
    using half = await Connection.open(
      url,
      request(
        "POST",
        "/nodes/",
        `Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${node.length}\r\n`
      )
    )
    await half.receives("100 Continue")
    await stream.receives(": requests")
    await slow.receives("200 OK")
    await arrivals(url, 3)
    server.signal("SIGTERM")
    await Promise.all([hanging.closed, late.closed, slow.closed, stream.closed])
    half.socket.write(node)
    await half.closed
    expect(half.received).toMatch(/^HTTP\/1\.1 202 /m)
    expect(await server.ended).toMatchObject({ code: 0, stderr: "" })
  })

  it("is gone within 1.5 s, whatever a request waits for", async () => {
    await using server = serve(["--fault=hang:operation=nodes.get"])
    const { url } = await readyOf(server)
    using _hanging = await Connection.open(url, request("GET", "/nodes/1/"))
    using stream = await Connection.open(url, events)
    await stream.receives(": requests")
    await arrivals(url, 1)
    const stopwatch = startStopwatch()
    expect(await server.kill("SIGTERM")).toMatchObject({ code: 0, stderr: "" })
    stopwatch.expectBelow(1_500)
  })

  it("is gone within 1.5 s in the middle of a verification that takes longer", async () => {
    await using server = serve()
    const { url } = await readyOf(server)
    const names = (kind: string) =>
      Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`${n}${"abcdefgh".repeat(3)}${kind}${n}`, "*"]))
    const given = new URLSearchParams({ ...names("given"), apikey: "berth-key" }).toString()
    for (let request = 0; request < 1000; request++) await (await fetch(`${url}/x?${given}`)).arrayBuffer()
    const expected = Array.from({ length: 1000 }, (_, n) => (n < 20 ? { query: names(`${n}`) } : { path: `/${n}` }))
    const verification = fetch(`${url}/_mock/default/requests/verify`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ expected })
    }).then(
      ({ status }) => status,
      () => "cut"
    )
    // The server answers this request only after it has read the body.
    await fetch(`${url}/_mock/health`)
    const stopwatch = startStopwatch()
    expect(await server.kill("SIGTERM")).toMatchObject({ code: 0, stderr: "" })
    stopwatch.expectBelow(1_500)
    expect(await verification).toBeOneOf([503, "cut"])
  })

  for (const [title, bytes] of [
    ["idle", "GET /nope HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["new and silent", ""],
    ["in the middle of its headers", "GET /nope HTTP/1.1\r\nHos"],
    ["in the middle of its body", request("POST", "/nodes/", "Content-Length: 100\r\n")]
  ] as const) {
    it(`ends with 0 when a connection is ${title}`, async () => {
      await using server = serve()
      using _connection = await Connection.open((await readyOf(server)).url, bytes)
      const ended = await server.kill(title === "idle" ? "SIGINT" : "SIGTERM")
      expect([ended.code, ended.stderr]).toEqual([0, ""])
    })
  }

  it("ends at once at the second signal", async () => {
    await using server = serve()
    const { url } = await readyOf(server)
    using half = await Connection.open(
      url,
      request("POST", "/nodes/", "Expect: 100-continue\r\nContent-Length: 100\r\n")
    )
    using idle = await Connection.open(url, "")
    await half.receives("100 Continue")
    server.signal("SIGTERM")
    await idle.closed
    // The server has received the first signal, and gives the half request a second.
    const stopwatch = startStopwatch()
    expect((await server.kill("SIGINT")).code).toBe(130)
    stopwatch.expectBelow(900)
  })
})

describe.concurrent("a server that ends with its parent", () => {
  const flag = "--exit-with-parent"

  it("runs while stdin is open, whatever its input, and ends with 0 and a line about it", async () => {
    await using server = serve([flag], { isInputOpen: true, input: "one line\n" })
    const { url } = await readyOf(server)
    expect((await fetch(`${url}/_mock/health`)).status).toBe(200)
    server.child.stdin.end("another")
    expect(await server.ended).toMatchObject({
      code: 0,
      stderr: `berth-server: stdin has ended, and with it the server (${flag})\n`
    })
  })

  it("is gone when its parent is killed", async () => {
    const start = `
      import { spawn } from "node:child_process"
      spawn(process.execPath, [${JSON.stringify(binary)}, "--port", "0", "${flag}"], { stdio: ["pipe", "inherit", "inherit"] })
    `
    await using parent = Program.ofSource(start, { cwd: import.meta.dirname })
    const { url } = await readyOf(parent)
    // The server has the same stdout, so if stdout is closed, both processes have ended.
    await parent.kill("SIGKILL")
    await expect(fetch(url)).rejects.toThrow()
  })

  it("ends at once when its stdin has ended before", async () => {
    await using server = serve([flag])
    expect((await server.ended).stderr).toContain("stdin has ended")
  })

  it("does not start where stdin shows no parent", async () => {
    await using server = new Program("sh", ["-c", `exec "$0" "$@" </dev/null`, process.execPath, binary, flag])
    expect(await server.ended).toEqual({
      code: 2,
      stdout: "",
      stderr: `berth-server: ${flag}: stdin is not a pipe; start the server with a pipe, and keep it open while the server runs\n`
    })
  })

  for (const [title, redirection] of [
    ["has ended", "</dev/null"],
    ["is closed", "<&-"]
  ] as const) {
    it(`is asked for: without the flag a server runs whose stdin ${title}`, async () => {
      const args = ["-c", `exec "$0" "$@" ${redirection}`, process.execPath, binary, "--port", "0"]
      await using server = new Program("sh", args)
      const { url } = await readyOf(server)
      expect((await fetch(`${url}/_mock/health`)).status).toBe(200)
      expect((await server.kill("SIGTERM")).code).toBe(0)
    })
  }
})
