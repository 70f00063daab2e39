/**
 * A TCP proxy that a test can slow down or stop. While it is stopped, connections stay open and nothing comes through, as if
 * a machine or a cable had failed.
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
  /** The delay of all data, in each direction. */
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

  /** Starts a proxy of the server on a loopback port. It ends with the scope. */
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

  /** Stops all data, also of new connections. */
  hold(): void {
    this.#isHeld = true
    for (const socket of this.#sockets) socket.pause()
  }

  /** Lets everything through again, the held data first. */
  release(): void {
    this.#isHeld = false
    for (const socket of this.#sockets) socket.resume()
  }

  /** Ends all open connections. New connections still reach the server. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async #close(): Promise<void> {
    const closed = once(this.#server, "close")
    this.#server.close()
    this.cut()
    await closed
  }
}
