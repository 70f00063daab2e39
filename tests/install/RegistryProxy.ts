/**
 * A proxy like those of companies: it ends every tunnel itself, with a certificate of its own authority, and forwards requests to the
 * machine's registry. It lets nothing else through. It listens on a socket file, which a program without a network can reach.
 */
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer, type RequestListener, request as requestHttp, type Server } from "node:http"
import { createServer as createTlsServer, request as requestHttps } from "node:https"
import { type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pipeline } from "node:stream"

/** Forwards a client's request to the server at `origin`. */
const forwardTo =
  (origin: URL): RequestListener =>
  (request, response) => {
    const send = origin.protocol === "http:" ? requestHttp : requestHttps
    const { method } = request
    const headers = { ...request.headers, host: origin.host }
    const upstream = send(new URL(request.url!, origin), { method, headers }, (reply) => {
      response.writeHead(reply.statusCode!, reply.headers)
      pipeline(reply, response, () => {})
    })
    pipeline(request, upstream, (error) => error && response.destroy())
    upstream.on("error", () => response.destroy())
  }

/** A certificate for a host, under an authority that is made for it. */
const makeCertificate = (host: string) => {
  const folder = mkdtempSync(join(tmpdir(), "berth-authority-"))
  const make = (name: string, ...more: ReadonlyArray<string>) => {
    const keys = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", `${name}.key`]
    const all = ["req", "-x509", ...keys, "-days", "2", "-out", `${name}.pem`, "-subj", `/CN=berth ${name}`, ...more]
    execFileSync("openssl", all, { cwd: folder, stdio: "ignore" })
    return (ending: string) => readFileSync(join(folder, `${name}.${ending}`), "utf8")
  }
  try {
    const authority = make("authority")
    const names = ["-addext", `subjectAltName=DNS:${host}`, "-addext", "basicConstraints=critical,CA:FALSE"]
    const server = make("server", "-CA", "authority.pem", "-CAkey", "authority.key", ...names)
    return { authority: authority("pem"), cert: server("pem"), key: server("key") }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export class RegistryProxy {
  /** The authority that clients must trust, as PEM. */
  readonly authority: string
  /** The host and port of each tunnel, and the URL of each plain request, that was refused. */
  readonly refused: Array<string> = []
  /** The requested paths of the registry. */
  readonly paths: Array<string> = []
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(registry: URL) {
    const { authority, cert, key } = makeCertificate(registry.hostname)
    this.authority = authority
    const forward = forwardTo(registry)
    const inside = createTlsServer({ cert, key }, (request, response) => {
      this.paths.push(request.url!)
      forward(request, response)
    })
    const target = `${registry.hostname}:${registry.port || 443}`
    this.#server = createServer((request, response) => {
      this.refused.push(request.url!)
      response.writeHead(403).end()
    })
    this.#server.on("connect", ({ url }, socket: Socket, head) => {
      this.#sockets.add(socket.on("error", () => {}))
      if (url !== target) {
        this.refused.push(String(url))
        return void socket.end("HTTP/1.1 403 Forbidden\r\n\r\n")
      }
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n")
      if (head.length > 0) socket.unshift(head)
      inside.emit("connection", socket)
    })
  }

  /** Starts a proxy to this registry on a socket file. */
  static async to(registry: URL, socketFile: string): Promise<RegistryProxy> {
    const proxy = new RegistryProxy(registry)
    await once(proxy.#server.listen(socketFile), "listening")
    return proxy
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, "close")
  }
}
