/**
 * An exchange as it is shown: the request without credentials, the headers of the reply that mean something, the beginning of its
 * body. Everything goes through the redactor.
 */
import { escapeControls } from "@berthkit/terminal/escapeControls"
import type { Exchange } from "./observe/Exchange.ts"

export interface Shown {
  readonly request: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const shownHeaders = new Set([
  "content-type",
  "date",
  "location",
  "allow",
  "retry-after",
  "www-authenticate",
  "ratelimit-limit",
  "ratelimit-remaining",
  "ratelimit-reset"
])

const maxBodyLength = 600

export const showExchange = (exchange: Exchange, redact: (text: string) => string): Shown => {
  const { body, headers, method, path, query, status } = exchange
  const search = new URLSearchParams(query.map(([name, value]): [string, string] => [name, value])).toString()
  const text =
    body.is === "json"
      ? JSON.stringify(body.value)
      : body.is === "text"
        ? body.text
        : body.is === "empty"
          ? "(no body)"
          : "(the body was not recorded)"
  // The whole of it is masked before it is cut: half a credential is not recognised.
  const clean = (given: string) => escapeControls(redact(given))
  const whole = clean(text)
  return {
    request: clean(`${method} ${path}${search === "" ? "" : `?${search}`}`),
    status,
    headers: Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) => (shownHeaders.has(name) ? [[name, clean(value)]] : []))
    ),
    body: whole.length > maxBodyLength ? `${whole.slice(0, maxBodyLength)}…` : whole
  }
}
