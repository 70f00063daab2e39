// A program whose HTTP requests OpenTelemetry traces, as in docs/using-with-promises.md; prints everything that the exporter gets.
import { createRequire } from "node:module"
// @boundaries-ignore installed from npm where it runs
import { registerInstrumentations } from "@opentelemetry/instrumentation"
// @boundaries-ignore installed from npm where it runs
import { HttpInstrumentation } from "@opentelemetry/instrumentation-http"
// @boundaries-ignore installed from npm where it runs
import { UndiciInstrumentation } from "@opentelemetry/instrumentation-undici"
// @boundaries-ignore installed from npm where it runs
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node"

const exporter = new InMemorySpanExporter()
const tracerProvider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
tracerProvider.register()

const withoutKey = ({ origin, path }) => {
  const url = new URL(path, origin)
  if (!url.searchParams.has("apikey")) return {}
  url.searchParams.set("apikey", "REDACTED")
  return { "url.full": url.href, "url.query": url.search }
}
registerInstrumentations({
  tracerProvider,
  instrumentations: [
    new UndiciInstrumentation({ startSpanHook: process.env.UNREDACTED ? undefined : withoutKey }),
    new HttpInstrumentation({ redactedQueryParams: process.env.UNREDACTED ? [] : ["apikey"] })
  ]
})

const { createClientFromEnv } = await import("@berthkit/core")
const client = createClientFromEnv()
await client.nodes.list().toArray()
await client.nodes.get(1).catch(() => {})

const http = createRequire(import.meta.url)("node:http")
const address = `${process.env.BERTH_BASE_URL}/myaccount/api/v1/nodes/?apikey=${process.env.BERTH_API_KEY}`
await new Promise((resolve) => http.get(address, (reply) => reply.resume().on("end", resolve)))

const spans = exporter.getFinishedSpans()
console.log(JSON.stringify(spans.map(({ attributes, events, name, status }) => ({ attributes, events, name, status }))))
