/**
 * Replies that do not arrive as they should. On a socket the bytes really go wrong: half a body, a reset, garbage. Without
 * one there is only what a client makes of it: a call that fails, or a body that breaks off (`inProcess.ts`).
 */
import { IncomingMessage, type ServerResponse } from "node:http"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect, Stream } from "effect"
import { HttpBody, type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Damage } from "../faults/strike/damage.ts"
import { bytesOf } from "../injection/replyBody.ts"
import { noteDamage } from "./inProcess.ts"

/** Sends the reply damaged. What it gives is for the server to send; where all is said, that reaches nobody. */
export const deliverBadly = (
  request: HttpServerRequest.HttpServerRequest,
  reply: HttpServerResponse.HttpServerResponse,
  damage: Damage
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  // Ends when the client goes away, or the server, and then without a word.
  if (damage._tag === "Silence") {
    return Effect.onInterrupt(Effect.interruptible(Effect.never), () =>
      Effect.sync(() => {
        if (request.source instanceof IncomingMessage) request.source.socket.destroy()
      })
    )
  }
  if (damage._tag === "Drip") return Effect.succeed(drip(reply, damage))
  if (!(request.source instanceof IncomingMessage)) {
    return Effect.sync(() => {
      noteDamage(request.source, damage)
      return reply
    })
  }
  const response = NodeHttpServerRequest.toServerResponse(request) as ServerResponse
  return Effect.as(
    Effect.callback<void>((resume) => {
      if (response.destroyed || response.socket?.destroyed === true) return resume(Effect.void)
      response.once("close", () => resume(Effect.void))
      whenItsTurn(response, () => damageReply(response, reply, damage, request.method === "HEAD"))
    }),
    reply
  )
}

/** A reply that has lost its date gets none from Node either, whose clock is not the world's. */
export const withOwnDateOnly = (
  request: HttpServerRequest.HttpServerRequest,
  reply: HttpServerResponse.HttpServerResponse
): HttpServerResponse.HttpServerResponse => {
  if (reply.headers["date"] === undefined && request.source instanceof IncomingMessage) {
    ;(NodeHttpServerRequest.toServerResponse(request) as ServerResponse).sendDate = false
  }
  return reply
}

/** A pipelined reply has no connection until those before it are through. */
const whenItsTurn = (response: ServerResponse, act: () => void): void => {
  if (response.socket === null) response.once("socket", act)
  else act()
}

const damageReply = (
  response: ServerResponse,
  reply: HttpServerResponse.HttpServerResponse,
  damage: Exclude<Damage, { readonly _tag: "Silence" | "Drip" }>,
  isHead: boolean
): void => {
  const socket = response.socket!
  const reset = () => {
    socket.resetAndDestroy()
    response.destroy()
  }
  const end = () => socket.end(() => response.destroy())
  switch (damage._tag) {
    case "Reset":
      return reset()
    case "Garbage":
      socket.write(damage.bytes)
      return void end()
    case "Cut": {
      response.writeHead(reply.status, reply.headers)
      const part = isHead ? undefined : bytesOf(reply)?.subarray(0, damage.afterBytes)
      const stop = damage.by === "reset" ? reset : end
      if (part !== undefined) return void response.write(part, () => stop())
      response.flushHeaders()
      socket.write("", () => stop())
    }
  }
}

const drip = (
  reply: HttpServerResponse.HttpServerResponse,
  { pause, pieceBytes }: Extract<Damage, { readonly _tag: "Drip" }>
): HttpServerResponse.HttpServerResponse => {
  const bytes = bytesOf(reply) ?? new Uint8Array()
  const starts = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, index) => index * pieceBytes)
  const pieces = Stream.fromIterable(starts).pipe(
    Stream.rechunk(1),
    Stream.mapEffect((start) =>
      Effect.as(start === 0 ? Effect.void : Effect.sleep(pause), bytes.subarray(start, start + pieceBytes))
    )
  )
  return HttpServerResponse.setBody(reply, HttpBody.stream(pieces, reply.headers["content-type"], bytes.length))
}
