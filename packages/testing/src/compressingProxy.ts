/**
 * A proxy that compresses every text, as Express's `compression` and many gateways do, unless the reply forbids it. It passes data on
 * only when it has collected enough, so the small events of a stream never arrive. A reply with `no-transform` passes unchanged (RFC 9111
 * §5.2.2.6).
 */
import { request as send } from "node:http"
import { createGzip } from "node:zlib"
import { HttpService } from "./HttpService.ts"

/** Starts a proxy of the service at an address. It ends with the scope. */
export const compressingProxy = (origin: string) =>
  HttpService.start((request, response) => {
    const { headers, method, url = "/" } = request
    const passed = send(new URL(url, origin), { method, headers }, (reply) => {
      const isText = /^(text\/|application\/json)/.test(reply.headers["content-type"] ?? "")
      const mayChange = !/\bno-transform\b/.test(reply.headers["cache-control"] ?? "")
      const status = reply.statusCode ?? 502
      if (!isText || !mayChange) {
        response.writeHead(status, reply.headers).flushHeaders()
        return reply.pipe(response)
      }
      const { "content-length": _, ...others } = reply.headers
      response.writeHead(status, { ...others, "content-encoding": "gzip" }).flushHeaders()
      return reply.pipe(createGzip()).pipe(response)
    })
    passed.on("error", () => response.destroy())
    response.on("close", () => passed.destroy())
    request.pipe(passed)
  })
