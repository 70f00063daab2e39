/**
 * The way to the service: `node:http`, and with `--debug` a line on stderr for every attempt. A line never holds the query of an
 * address, because the API key is in it.
 */
import { Transport } from "@berth/core/client/transport/Transport"
import * as NodeTransport from "@berth/core/client/transport/NodeTransport"
import { Clock, Effect, Exit, Layer, Option, Tracer } from "effect"
import { Output, printDebug } from "../output/Output.ts"
import { Debug } from "./globalFlags.ts"

const pathOf = (url: string): string => URL.parse(url)?.pathname ?? "?"

/** The engine makes one span for each attempt, inside the one that is named by the operation, where there is a tracer. */
const operationOf = (attempt: Option.Option<Tracer.AnySpan>): string => {
  const call = Option.flatMap(attempt, (span) => (span._tag === "Span" ? span.parent : Option.none()))
  return Option.isSome(call) && call.value._tag === "Span" ? call.value.name : "-"
}

const withDebugLines = ({ send }: Transport["Service"], output: Output["Service"]) =>
  Transport.of({
    send: (request, begun) =>
      Effect.gen(function* () {
        const operation = operationOf(yield* Effect.option(Effect.currentSpan))
        const startedAt = yield* Clock.currentTimeMillis
        const exit = yield* Effect.exit(send(request, begun))
        const millis = (yield* Clock.currentTimeMillis) - startedAt
        const outcome = Exit.isSuccess(exit) ? String(exit.value.status) : "no reply"
        yield* printDebug(`debug: ${request.method} ${pathOf(request.url)} ${operation} ${outcome} ${millis} ms`).pipe(
          Effect.provideService(Output, output)
        )
        return yield* exit
      })
  })

export const transport = Layer.effect(
  Transport,
  Effect.gen(function* () {
    const transport = yield* Transport
    return (yield* Debug) ? withDebugLines(transport, yield* Output) : transport
  })
).pipe(Layer.provide(NodeTransport.layer))

/** With `--debug` a tracer, for the names of the operations in the lines. */
export const spans = Layer.unwrap(
  Effect.map(Debug, (on) => (on ? Layer.succeed(Tracer.Tracer, Tracer.nativeTracer) : Layer.empty))
)
