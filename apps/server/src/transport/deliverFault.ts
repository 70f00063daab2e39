/**
 * Damages replies. On a socket the damage is real: half a body, a reset, garbage. Without a socket, `inProcess.ts` imitates
 * only the effect on the client: the call fails, or the body breaks off.
 */
import { IncomingMessage, type ServerResponse } from "node:http"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect, Stream } from "effect"
import { HttpBody, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { resetConnection } from "./nodeServer.ts"
import { noteWireFault } from "./inProcess.ts"
import { bytesOf } from "./replyBytes.ts"
import type { WireFault } from "./WireFault.ts"

/**
 * Delivers the reply with a fault. It writes the damaged response itself, so the response that the server writes afterwards does not
 * reach the client.
 */
export const deliverFault = (
  request: HttpServerRequest.HttpServerRequest,
  reply: HttpServerResponse.HttpServerResponse,
  fault: WireFault
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  // Never resumes. It ends without a byte when the client disconnects or the server stops.
  if (fault._tag === "Silence") {
    return Effect.onInterrupt(Effect.interruptible(Effect.never), () =>
      Effect.sync(() => {
        if (request.source instanceof IncomingMessage) request.source.socket.destroy()
      })
    )
  }
  if (fault._tag === "SlowBody") return Effect.succeed(slowBody(reply, fault))
  if (!(request.source instanceof IncomingMessage)) {
    return Effect.sync(() => {
      noteWireFault(request.source, fault)
      return reply
    })
  }
  const response = NodeHttpServerRequest.toServerResponse(request) as ServerResponse
  return Effect.as(
    Effect.callback<void>((resume) => {
      if (response.destroyed || response.socket?.destroyed === true) return resume(Effect.void)
      response.once("close", () => resume(Effect.void))
      whenItsTurn(response, () => writeFault(response, reply, fault, request.method === "HEAD"))
    }),
    reply
  )
}

/** If a fault has removed the reply's date, keeps Node from adding one, because Node's clock is not the world's. */
export const withOwnDateOnly = (
  request: HttpServerRequest.HttpServerRequest,
  reply: HttpServerResponse.HttpServerResponse
): HttpServerResponse.HttpServerResponse => {
  if (reply.headers["date"] === undefined && request.source instanceof IncomingMessage) {
    ;(NodeHttpServerRequest.toServerResponse(request) as ServerResponse).sendDate = false
  }
  return reply
}

/** Acts when the response has its connection. A pipelined response gets it only after the responses before it. */
const whenItsTurn = (response: ServerResponse, act: () => void): void => {
  if (response.socket === null) response.once("socket", act)
  else act()
}

const writeFault = (
  response: ServerResponse,
  reply: HttpServerResponse.HttpServerResponse,
  fault: Exclude<WireFault, { readonly _tag: "Silence" | "SlowBody" }>,
  isHead: boolean
): void => {
  const socket = response.socket!
  const reset = () => {
    resetConnection(socket)
    response.destroy()
  }
  const end = () => socket.end(() => response.destroy())
  switch (fault._tag) {
    case "Reset":
      return reset()
    case "Garbage":
      socket.write(fault.bytes)
      return void end()
    case "Cut": {
      response.writeHead(reply.status, reply.headers)
      const part = isHead ? undefined : bytesOf(reply)?.subarray(0, fault.afterBytes)
      const stop = fault.by === "reset" ? reset : end
      if (part !== undefined) return void response.write(part, () => stop())
      response.flushHeaders()
      socket.write("", () => stop())
    }
  }
}

const slowBody = (
  reply: HttpServerResponse.HttpServerResponse,
  { pause, pieceBytes }: Extract<WireFault, { readonly _tag: "SlowBody" }>
): HttpServerResponse.HttpServerResponse => {
  const bytes = bytesOf(reply) ?? new Uint8Array()
  const starts = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, index) => index * pieceBytes)
  const pieces = Stream.fromIterable(starts).pipe(
    Stream.rechunk(1),
    Stream.mapEffect((start) =>
      Effect.as(start === 0 ? Effect.void : Effect.sleep(pause), bytes.subarray(start, start + pieceBytes))
    )
  )
  const { "content-length": length, "content-type": type } = reply.headers
  return HttpServerResponse.setBody(
    reply,
    HttpBody.stream(pieces, type, length === undefined ? undefined : bytes.length)
  )
}
