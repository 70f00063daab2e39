/**
 * A way to a server on this machine that a test makes slow, or holds up: connections stay open and nothing comes through, as where a machine or a
 * cable is gone.
 */
import { once } from "node:events"
import { connect, createServer, type Server, type Socket } from "node:net"
import { setTimeout as delay } from "node:timers/promises"
import { Effect } from "effect"

export class TcpProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly port: number
  #isHeld = false
  /** How long everything takes on its way, in each direction. */
  delayMillis = 0

  private constructor(server: Server, target: number) {
    this.#server = server
    const address = server.address()
    if (address === null || typeof address === "string") throw new Error("the proxy has no port")
    this.port = address.port
    server.on("connection", (near: Socket) => {
      const far = connect(target, "127.0.0.1")
      this.#lead(near, far)
      this.#lead(far, near)
    })
  }

  #lead(from: Socket, to: Socket): void {
    this.#sockets.add(from)
    from.setNoDelay(true).on("error", () => {})
    if (this.#isHeld) from.pause()
    from.on("data", (bytes) => {
      if (this.delayMillis === 0) to.write(bytes)
      else void delay(this.delayMillis).then(() => to.write(bytes))
    })
    from.on("close", () => {
      this.#sockets.delete(from)
      to.destroy()
    })
  }

  /** Before the server that listens on a port of the loopback, until the scope closes. */
  static scoped(target: number) {
    return Effect.acquireRelease(
      Effect.promise(async () => {
        const server = createServer().listen(0, "127.0.0.1")
        await once(server, "listening")
        return new TcpProxy(server, target)
      }),
      (proxy) => Effect.promise(() => proxy.#close())
    )
  }

  /** Nothing comes through any more, of connections that are made later either. */
  hold(): void {
    this.#isHeld = true
    for (const socket of this.#sockets) socket.pause()
  }

  /** Everything comes through again, with what was held up. */
  release(): void {
    this.#isHeld = false
    for (const socket of this.#sockets) socket.resume()
  }

  async #close(): Promise<void> {
    const closed = once(this.#server, "close")
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }
}
