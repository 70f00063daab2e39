/** Collects all telemetry of an effect: logs of every level, spans and metrics, as OTLP sends them to a collector. */
import { Effect, Layer, Metric, References } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { Otlp } from "effect/observability"

/** Runs an effect; returns its value and the payloads that a collector received. */
export const collected = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const payloads: Array<string> = []
  const collector = HttpClient.make((request, url) =>
    Effect.sync(() => {
      const { body } = request
      payloads.push(`${url} ${body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""}`)
      return HttpClientResponse.fromWeb(request, new Response(null, { status: 200 }))
    })
  )
  const telemetry = Otlp.layerJson({
    baseUrl: "http://collector.test",
    resource: { serviceName: "berth" },
    loggerMergeWithExisting: false
  }).pipe(Layer.provide(Layer.succeed(HttpClient.HttpClient, collector)))
  const value = yield* effect.pipe(
    Effect.provideService(References.MinimumLogLevel, "All"),
    // When this layer closes, it sends what it has not sent yet.
    Effect.provide(telemetry),
    Effect.provideService(Metric.MetricRegistry, new Map())
  )
  return { value, payloads: payloads.join("\n") }
})
