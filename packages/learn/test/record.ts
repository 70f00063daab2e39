/**
 * Sends the probe's requests to a service of a test, on the service's own clock, and records them as a HAR. The reads are those of
 * `survey.ts`, because the test must prove that these reads are enough.
 */
import { Result } from "effect"
import { type Exchange } from "../src/observe/Exchange.ts"
import { type Evidence, readEvidence } from "../src/readEvidence.ts"
import { cheapRead, minReads, nextRead } from "../src/survey.ts"

export interface Service {
  readonly url: string
  readonly now: () => number
  readonly advance: (millis: number) => void
  /** Default: the key of {@link credentials}. */
  readonly apiKey?: string
  readonly accessToken?: string
}

const prefix = "/myaccount/api/v1"

export const credentials = { apiKey: "canary-key-7f3a9c", token: "canary-token-51d2e8", cookie: "canary-cookie-c0ffee" }

type Entry = Readonly<Record<string, unknown>>

/** One request with credentials, as an entry of a HAR. */
const send = async (
  service: Service,
  method: string,
  path: string,
  query: ReadonlyArray<readonly [string, string]> = [],
  body?: unknown
): Promise<Entry> => {
  const url = new URL(service.url + prefix + path)
  const { accessToken = credentials.token, apiKey = credentials.apiKey } = service
  url.searchParams.append("apikey", apiKey)
  for (const [name, value] of query) url.searchParams.append(name, value)
  const startedDateTime = new Date(service.now()).toISOString()
  const headers = {
    authorization: `Bearer ${accessToken}`,
    cookie: `sessionid=${credentials.cookie}`,
    "x-api-key": apiKey
  }
  const reply = await fetch(url, {
    method,
    headers,
    redirect: "manual",
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await reply.text()
  const pairs = (entries: Iterable<readonly [string, string]>) =>
    Array.from(entries, ([name, value]) => ({ name, value }))
  return {
    startedDateTime,
    time: 0,
    request: {
      method,
      url: String(url),
      headers: pairs(Object.entries(headers)),
      cookies: [{ name: "sessionid", value: credentials.cookie }],
      ...(body === undefined ? {} : { postData: { mimeType: "application/json", text: JSON.stringify(body) } })
    },
    response: { status: reply.status, headers: pairs(reply.headers), content: { size: text.length, text } }
  }
}

export const harOf = (entries: ReadonlyArray<Entry>): string => JSON.stringify({ log: { version: "1.2", entries } })

export const evidenceOf = (entries: ReadonlyArray<Entry>): Evidence => Result.getOrThrow(readEvidence(harOf(entries)))

/** Sends all requests of the probe, a moment apart. `between` runs before each request. */
export const survey = async (
  service: Service,
  stepMillis = 200,
  between: () => Promise<void> = async () => {}
): Promise<ReadonlyArray<Entry>> => {
  const entries: Array<Entry> = []
  const exchanges: Array<Exchange> = []
  for (let count = 0; ; count++) {
    const next = nextRead(count, exchanges) ?? (count < minReads ? cheapRead(exchanges) : undefined)
    if (next === undefined) return entries
    entries.push(await send(service, "GET", next.path, next.query))
    exchanges.push(...evidenceOf([entries.at(-1)!]).exchanges)
    service.advance(stepMillis)
    await between()
  }
}

/** Creates nodes one after the other; polls each until it runs, deletes it, and polls until it is gone. */
export const lives = async (service: Service, count: number, pollMillis: number): Promise<ReadonlyArray<Entry>> => {
  const entries: Array<Entry> = []
  const note = async (...request: [string, string, ReadonlyArray<readonly [string, string]>?, unknown?]) => {
    const entry = await send(service, ...request)
    entries.push(entry)
    return entry["response"] as { readonly status: number; readonly content: { readonly text: string } }
  }
  for (let at = 0; at < count; at++) {
    const created = await note("POST", "/nodes/", [], { name: `n${at}`, plan: "x", image: "y" })
    const { id } = JSON.parse(created.content.text).data
    for (;;) {
      service.advance(pollMillis)
      const { content } = await note("GET", `/nodes/${id}/`)
      if (/running/i.test(JSON.parse(content.text).data.status)) break
    }
    await note("DELETE", `/nodes/${id}/`)
    for (let looks = 0; looks < 60; looks++) {
      service.advance(1_000)
      if ((await note("GET", `/nodes/${id}/`)).status === 404) break
    }
  }
  return entries
}
