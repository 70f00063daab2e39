/**
 * A service on a real socket that answers from a script, for replies the mock service would never give.
 */
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

/** A reply of the script; none hangs up instead. */
export interface ScriptedReply {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body: string
}

/** Its address, for as long as the scope is open. */
export const serve = (answer: (request: IncomingMessage) => ScriptedReply | undefined) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<ReturnType<typeof createServer>>((resume) => {
        const server = createServer((request, response) => {
          const reply = answer(request)
          if (reply === undefined) request.socket.destroy()
          else
            response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers }).end(reply.body)
        })
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.sync(() => {
          server.closeAllConnections()
          server.close()
        })
    ),
    (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  )

/** A failure in the service's envelope. */
export const failure = (status: number, message = "It is so", headers: Record<string, string> = {}): ScriptedReply => ({
  status,
  headers,
  body: JSON.stringify({ message, code: status, data: {}, errors: { detail: [message] } })
})

/** A success in the service's envelope. */
export const success = (data: unknown): ScriptedReply => ({
  status: 200,
  body: JSON.stringify({ message: "Success", code: 200, data, errors: {} })
})
