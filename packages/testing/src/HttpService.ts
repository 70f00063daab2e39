/**
 * A service on a free loopback port. The test itself writes the replies, so it can send what the mock never sends. The
 * service ends with the test: by `await using`, or with the scope of `HttpService.start`.
 */
import { once } from "node:events"
import { createServer, type RequestListener, type Server } from "node:http"
import { Effect } from "effect"

export class HttpService {
  readonly url: string
  readonly #server: Server

  private constructor(server: Server, url: string) {
    this.#server = server
    this.url = url
  }

  static async listen(listener: RequestListener): Promise<HttpService> {
    const server = createServer(listener).listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    if (address === null || typeof address === "string") throw new Error("the service has no port")
    return new HttpService(server, `http://127.0.0.1:${address.port}`)
  }

  /** Listens until the scope closes. */
  static start(listener: RequestListener) {
    return Effect.acquireRelease(
      Effect.promise(() => HttpService.listen(listener)),
      (service) => Effect.promise(() => service[Symbol.asyncDispose]())
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close")
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }
}
