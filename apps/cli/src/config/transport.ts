/**
 * The way to the service: undici, and with `--debug` a line on stderr for every attempt. A line never holds an address'
 * query, which is where the API key is.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Clock, Effect, Exit, Layer, Option, Tracer } from "effect"
import { HttpClient, type HttpClientRequest } from "effect/http"
import { Output, say } from "../output/Output.ts"
import { Debug } from "./globalFlags.ts"

const pathOf = (request: HttpClientRequest.HttpClientRequest): string => URL.parse(request.url)?.pathname ?? "?"

/** The engine makes one span for each attempt, inside the one that is named by the operation, where there is a tracer. */
const operationOf = (attempt: Option.Option<Tracer.AnySpan>): string => {
  const call = Option.flatMap(attempt, (span) => (span._tag === "Span" ? span.parent : Option.none()))
  return Option.isSome(call) && call.value._tag === "Span" ? call.value.name : "-"
}

const told = (client: HttpClient.HttpClient, output: Output["Service"]) =>
  HttpClient.transform(client, (send, request) =>
    Effect.gen(function* () {
      const operation = operationOf(yield* Effect.option(Effect.currentSpan))
      const startedAt = yield* Clock.currentTimeMillis
      const exit = yield* Effect.exit(send)
      const millis = (yield* Clock.currentTimeMillis) - startedAt
      const outcome = Exit.isSuccess(exit) ? String(exit.value.status) : "no reply"
      yield* say(`debug: ${request.method} ${pathOf(request)} ${operation} ${outcome} ${millis} ms`).pipe(
        Effect.provideService(Output, output)
      )
      return yield* exit
    })
  )

export const transport = Layer.effect(
  HttpClient.HttpClient,
  Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    return (yield* Debug) ? told(client, yield* Output) : client
  })
).pipe(Layer.provide(NodeHttpClient.layerUndici))

/** With `--debug` a tracer, for the names of the operations that are told. */
export const spans = Layer.unwrap(
  Effect.map(Debug, (on) => (on ? Layer.succeed(Tracer.Tracer, Tracer.nativeTracer) : Layer.empty))
)
