/**
 * A loopback port that refuses connections. No other program can take it, because an open connection holds it. (A port that
 * was merely free a moment ago may be in use by now.)
 */
import { once } from "node:events"
import { connect, createServer, type Server, type Socket } from "node:net"
import { Effect } from "effect"

export class RefusedPort {
  readonly #server: Server
  readonly #holder: Socket
  readonly port: number
  readonly url: string

  private constructor(server: Server, holder: Socket) {
    this.#server = server
    this.#holder = holder
    this.port = holder.localPort!
    this.url = `http://127.0.0.1:${this.port}`
  }

  static async hold(): Promise<RefusedPort> {
    const server = createServer((socket) => void socket.on("error", () => {})).listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    if (address === null || typeof address === "string") throw new Error("the server has no port")
    const holder = connect(address.port, "127.0.0.1")
    await once(holder, "connect")
    return new RefusedPort(server, holder)
  }

  /** Holds the port until the scope closes. */
  static start() {
    return Effect.acquireRelease(
      Effect.promise(() => RefusedPort.hold()),
      (held) => Effect.sync(() => held[Symbol.dispose]())
    )
  }

  [Symbol.dispose](): void {
    this.#holder.destroy()
    this.#server.close()
  }
}
