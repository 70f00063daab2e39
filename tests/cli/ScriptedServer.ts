/**
 * A service on a real socket that answers from a script, for replies the mock service would never give.
 */
import type { IncomingMessage } from "node:http"
import { HttpService } from "@berth/testing/HttpService"
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
    HttpService.start((request, response) => {
      const reply = answer(request)
      if (reply === undefined) request.socket.destroy()
      else response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers }).end(reply.body)
    }),
    ({ url }) => url
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
