/**
 * A recorder around the client's transport: every request and its reply become evidence, without their credentials. It counts,
 * and lets no more than a number of requests through.
 */
import * as NodeTransport from "@berthkit/core/client/transport/NodeTransport"
import { Transport } from "@berthkit/core/client/transport/Transport"
import { InvalidRequest } from "@berthkit/core/domain/ErrorReason"
import { Clock, Effect, Layer } from "effect"
import { type Exchange, exchangeOf } from "./observe/Exchange.ts"
import { bodyOf, headersOf, parsed } from "./readEvidence.ts"
import { pairsOf } from "./secrets.ts"

export interface Recorder {
  readonly exchanges: Array<Exchange>
  /** Requests that may still be sent. */
  left: number
}

export const makeRecorder = (requests: number): Recorder => ({ exchanges: [], left: requests })

/** What is sent beyond the bound fails before it leaves. */
const spent = new InvalidRequest({ status: null, detail: "the requests of --requests are used up", fields: {} })

const recording = ({ send }: Transport["Service"], recorder: Recorder) =>
  Transport.of({
    send: (request, begun, leaving) =>
      Effect.gen(function* () {
        if (recorder.left <= 0) return yield* Effect.fail(spent)
        recorder.left -= 1
        const at = yield* Clock.currentTimeMillis
        const reply = yield* send(request, begun, leaving)
        const path = URL.parse(request.url)?.pathname ?? ""
        recorder.exchanges.push(
          exchangeOf({
            at,
            durationMillis: (yield* Clock.currentTimeMillis) - at,
            method: request.method,
            path,
            query: request.query.flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
            request: parsed(request.body),
            status: reply.status,
            headers: headersOf(pairsOf(reply.headers)),
            body: bodyOf(reply.body, reply.whole, reply.status)
          })
        )
        return reply
      })
  })

export const recorderLayer = (recorder: Recorder) =>
  Layer.effect(
    Transport,
    Effect.map(Transport, (transport) => recording(transport, recorder))
  ).pipe(Layer.provide(NodeTransport.layer))
