// @boundaries-ignore installed from npm where it runs
import { HttpInstrumentation } from "@opentelemetry/instrumentation-http"
// @boundaries-ignore installed from npm where it runs
import { UndiciInstrumentation } from "@opentelemetry/instrumentation-undici"

const withoutKey = ({ origin, path }) => {
  const url = new URL(path, origin)
  if (!url.searchParams.has("apikey")) return {}
  url.searchParams.set("apikey", "REDACTED")
  return { "url.full": url.href, "url.query": url.search }
}
export const instrumentations = [
  new UndiciInstrumentation({ startSpanHook: withoutKey }),
  new HttpInstrumentation({ redactedQueryParams: ["apikey"] })
]
