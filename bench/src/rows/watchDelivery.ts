/**
 * Measures how long an event takes from the reply that showed it to the store, to a webhook, and to a reader of the stream. A real daemon
 * watches a mock where nodes are switched off and on, fifty a second. All three times begin at the event's `time`, when the reply
 * arrived, although two targets count from the commit, which is later.
 */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { DatabaseSync } from "node:sqlite"
import { setTimeout } from "node:timers/promises"
import { type MockService, startMock } from "../mockService.ts"
import { ask } from "../processes.ts"
import { ratioAtMost, type Row } from "../Row.ts"
import { startDaemon, type WatchDaemon } from "../watchDaemon.ts"

const nodes = 1000
const flags = ["--interval", "500ms", "--requests-per-hour", "720000"]

const changesAtOnce = 5
const pauseMillis = 100
const changes = 500

/** How often the store is read. */
const pollMillis = 2

/** After the last change. */
const maxWaitMillis = 20_000

/** The arrival of an event. */
interface Arrival {
  readonly id: string
  /** After its `time`. */
  readonly millis: number
}

/** An observer at one destination of events. */
interface Observer {
  readonly arrivals: ReadonlyArray<Arrival>
  readonly close: () => void
}

const arrivalOf = ({ id, time }: { readonly id: string; readonly time: string }): Arrival => ({
  id,
  millis: Date.now() - Date.parse(time)
})

/** Reads the store as another process does. */
const observeStore = (path: string): Observer => {
  const database = new DatabaseSync(path, { readOnly: true })
  const bodies = database.prepare("SELECT seq, body FROM event WHERE account = 'default' AND seq > ? ORDER BY seq")
  let [last] = database
    .prepare("SELECT seq FROM account WHERE name = 'default'")
    .all()
    .map(({ seq }) => seq)
  const arrivals: Array<Arrival> = []
  const timer = setInterval(() => {
    for (const { body, seq } of bodies.all(last ?? 0)) {
      arrivals.push(arrivalOf(JSON.parse(String(body))))
      last = seq
    }
  }, pollMillis)
  const close = () => {
    clearInterval(timer)
    database.close()
  }
  return { arrivals, close }
}

/** Reads the stream of events. */
const observeStream = async (url: string): Promise<Observer> => {
  const ended = new AbortController()
  const { body } = await fetch(new URL("/events", url), { signal: ended.signal })
  const arrivals: Array<Arrival> = []
  const read = async () => {
    let rest = ""
    for await (const text of body!.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n")
      rest = lines.pop()!
      for (const line of lines) if (line.startsWith("data: ")) arrivals.push(arrivalOf(JSON.parse(line.slice(6))))
    }
  }
  read().catch((error) => {
    if (!ended.signal.aborted) throw error
  })
  return { arrivals, close: () => ended.abort() }
}

/** Receives webhooks. */
const observeWebhook = async (): Promise<Observer & { readonly url: string }> => {
  const arrivals: Array<Arrival> = []
  const server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (text: string) => (body += text))
    request.on("end", () => {
      arrivals.push(arrivalOf(JSON.parse(body)))
      response.writeHead(204).end()
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { arrivals, close, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

const setStatus = async ({ url }: MockService, id: number, status: string) => {
  const headers = { "content-type": "application/json" }
  const path = new URL(`/_mock/worlds/default/nodes/${id}`, url)
  const reply = await ask(path, { method: "PATCH", headers, body: JSON.stringify({ status }) })
  if (reply.status !== 200) throw new Error(`a change of a node was answered with ${reply.status}: ${reply.body}`)
}

/** The time within which 99 % of the events arrived. */
const p99 = (arrivals: ReadonlyArray<Arrival>): number => {
  const sorted = arrivals.map(({ millis }) => millis).toSorted((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * 0.99) - 1]!
}

const deliveryRow = async (
  name: string,
  targetMillis: number,
  observe: (daemon: WatchDaemon, webhook: Observer) => Observer | Promise<Observer>
): Promise<Row> => {
  const mock = await startMock(nodes)
  const webhook = await observeWebhook()
  const sinks = `  - name: ops\n    webhook: { url: "${webhook.url}", allowPrivate: true }\n`
  const daemon = await startDaemon(mock, { flags, sinks })
  const observer = await observe(daemon, webhook)
  let round = 0
  return {
    name,
    subject: "p99",
    baseline: "limit",
    unit: "ms",
    targets: [ratioAtMost(1)],
    pairs: 3,
    measure: async () => {
      const before = observer.arrivals.length
      const status = round++ % 2 === 0 ? "power-off" : "running"
      for (let i = 0; i < changes; i++) {
        await setStatus(mock, mock.ids[0]! + ((i * 617) % nodes), status)
        if (i % changesAtOnce === changesAtOnce - 1) await setTimeout(pauseMillis)
      }
      const until = performance.now() + maxWaitMillis
      while (observer.arrivals.length < before + changes && performance.now() < until) await setTimeout(50)
      const arrivals = observer.arrivals.slice(before)
      if (new Set(arrivals.map(({ id }) => id)).size < changes) {
        throw new Error(`${arrivals.length} of ${changes} events arrived`)
      }
      return { subject: p99(arrivals), baseline: targetMillis }
    },
    close: async () => {
      observer.close()
      webhook.close()
      await daemon.stop()
      await mock.stop()
    }
  }
}

export const watchCommitRow = () =>
  deliveryRow("daemon, from a reply to the commit", 50, ({ store }) => observeStore(store))

export const watchWebhookRow = () =>
  deliveryRow("daemon, from a reply to the first attempt", 1000, (_, webhook) => webhook)

export const watchStreamRow = () =>
  deliveryRow("daemon, from a reply to the stream", 250, ({ url }) => observeStream(url))
