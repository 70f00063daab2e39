/** Helpers for tests of the HTTP interface: a daemon on a free port, and plain requests to it. */
import { request as nodeRequest } from "node:http"
import { Effect, type Redacted } from "effect"
import type { PublicUrl } from "../../src/config/Config.ts"
import { serve } from "../../src/http/HttpInterface.ts"
import { makeMemoryDaemon } from "./memoryDaemon.ts"

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly text: string
  readonly json: any
}

export interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** One request, with any headers: `fetch` would choose `Host` and `Origin` itself. */
export const ask = (url: string, { body, headers = {}, method = "GET" }: Asked = {}) =>
  Effect.callback<Reply>((resume) => {
    const sent = body === undefined || typeof body === "string" ? body : JSON.stringify(body)
    const request = nodeRequest(
      url,
      {
        method,
        headers: {
          ...(sent === undefined
            ? {}
            : {
                "content-type": "application/json",
                ...("transfer-encoding" in headers ? {} : { "content-length": Buffer.byteLength(sent) })
              }),
          ...headers
        }
      },
      (response) => {
        let text = ""
        response.setEncoding("utf8")
        response.on("data", (chunk: string) => (text += chunk))
        response.on("end", () =>
          resume(Effect.succeed({ status: response.statusCode!, headers: response.headers, text, json: parsed(text) }))
        )
      }
    )
    request.on("error", (error) => resume(Effect.die(error)))
    request.end(sent)
    return Effect.sync(() => request.destroy())
  })

/** A daemon in memory, served on a free port until the scope closes. */
export const served = Effect.fnUntraced(function* (token?: Redacted.Redacted, publicUrl?: PublicUrl) {
  const daemon = makeMemoryDaemon()
  const url = yield* Effect.provide(serve({ host: "127.0.0.1", port: 0, token, publicUrl }), daemon.layer)
  return { ...daemon, url }
})
