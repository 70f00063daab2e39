/**
 * The way to the service: `node:http`, and with `--debug` a line on stderr for every attempt: method, address with its query and the key
 * masked, operation, status, time, what is left of the rate limit, and why an attempt followed another.
 */
import { type Head, type SignedRequest, Transport } from "@berthkit/core/client/transport/Transport"
import * as NodeTransport from "@berthkit/core/client/transport/NodeTransport"
import { Clock, Effect, Exit, Layer, Option, Redacted, Tracer } from "effect"
import { Output, printDebug } from "../output/Output.ts"
import { GlobalSettings } from "../commandLine/GlobalSettings.ts"

/** The address with its query; a credential in it is masked. */
const shownAddress = ({ query, url }: SignedRequest): string => {
  const parts = query.map(
    ([name, value]) => `${name}=${Redacted.isRedacted(value) ? "<redacted>" : encodeURIComponent(value)}`
  )
  return parts.length === 0 ? url : `${url}?${parts.join("&")}`
}

/** The span of a call: the engine makes one for each attempt, inside the one that is named by the operation, where there is a tracer. */
const callOf = (attempt: Option.Option<Tracer.AnySpan>): Tracer.Span | undefined => {
  const call = Option.flatMap(attempt, (span) => (span._tag === "Span" ? span.parent : Option.none()))
  return Option.isSome(call) && call.value._tag === "Span" ? call.value : undefined
}

const allowanceText = ({ headers }: Head): string => {
  const { "ratelimit-limit": limit, "ratelimit-remaining": remaining } = headers
  return remaining === undefined ? "" : `, ${remaining} of ${limit ?? "?"} requests left`
}

const withDebugLines = ({ send }: Transport["Service"], output: Output["Service"]) => {
  /** How the last attempt of a call ended. */
  const endings = new WeakMap<Tracer.Span, string>()
  return Transport.of({
    send: (request, begun, leaving) =>
      Effect.gen(function* () {
        const call = callOf(yield* Effect.option(Effect.currentSpan))
        const before = call && endings.get(call)
        const startedAt = yield* Clock.currentTimeMillis
        const exit = yield* Effect.exit(send(request, begun, leaving))
        const millis = (yield* Clock.currentTimeMillis) - startedAt
        const ending = Exit.isSuccess(exit) ? String(exit.value.status) : "no reply"
        if (call) endings.set(call, ending)
        const again = before === undefined ? "" : `, sent again after ${before}`
        const left = Exit.isSuccess(exit) ? allowanceText(exit.value) : ""
        yield* printDebug(
          `debug: ${request.method} ${shownAddress(request)} ${call?.name ?? "-"} ${ending} ${millis} ms${left}${again}`
        ).pipe(Effect.provideService(Output, output))
        return yield* exit
      })
  })
}

export const transport = Layer.effect(
  Transport,
  Effect.gen(function* () {
    const transport = yield* Transport
    return (yield* GlobalSettings).debug ? withDebugLines(transport, yield* Output) : transport
  })
).pipe(Layer.provide(NodeTransport.layer))

/** With `--debug` a tracer, for the names of the operations in the lines. */
export const spans = Layer.unwrap(
  Effect.map(GlobalSettings, ({ debug }) => (debug ? Layer.succeed(Tracer.Tracer, Tracer.nativeTracer) : Layer.empty))
)
