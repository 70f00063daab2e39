/** Helpers for tests of the whole daemon: a folder with its config and store, and a receiver of its webhooks. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { TestServer } from "@berthkit/server/testing"
import { HttpService } from "@berthkit/testing/HttpService"
import { Effect } from "effect"
import { placeLines, settingsOf } from "../account.ts"
import { Daemon } from "./Daemon.ts"

export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-daemon-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** How a receiver handles an event: it answers with this status, takes the event but cuts the connection, or never answers. */
type Answer = number | "cut" | "hang"

/**
 * A receiver of webhooks, with the events that it has taken in order, the time when it first took each, and how it handles the next one.
 */
export const receiver = Effect.gen(function* () {
  const state: { answer: (id: string) => Answer } = { answer: () => 204 }
  const taken: Array<any> = []
  const takenAtMillis = new Map<string, number>()
  const service = yield* HttpService.start((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (text: string) => (body += text))
    request.on("end", () => {
      const answer = state.answer(String(request.headers["webhook-id"]))
      if (answer === "cut" || (typeof answer === "number" && answer < 300)) {
        const event = JSON.parse(body)
        taken.push(event)
        if (!takenAtMillis.has(event.id)) takenAtMillis.set(event.id, Date.now())
      }
      if (answer === "cut") response.destroy()
      else if (answer !== "hang") response.writeHead(answer).end()
    })
  })
  return {
    state,
    taken,
    takenAtMillis,
    url: `${service.url}/`,
    idsTaken: () => distinct(taken.map(({ id }) => String(id)))
  }
})

interface ConfigOptions {
  readonly store?: string
  readonly interval?: string
  /** How long a suspiciously short list must persist before it is believed. */
  readonly hold?: string
  /** Further lines for the end of the config. */
  readonly more?: string
}

/** Two sinks, and one account of the service under test with a short interval of sweeps. */
const configOf = (
  baseUrl: string,
  webhook: string,
  { hold = "10m", interval = "200ms", more = "", store = "watch.db" }: ConfigOptions
) => `store: ${store}
listen: 127.0.0.1:0
accounts:
  - name: acme
    baseUrl: ${baseUrl}
    apiKey: { env: BERTH_API_KEY }
    accessToken: { env: BERTH_ACCESS_TOKEN }
${placeLines("    ")}    interval: ${interval}
    grace: 200ms
    hold: ${hold}
sinks:
  - name: ops
    webhook: { url: "${webhook}", allowPrivate: true }
  - name: log
    stdout: {}
${more}`

/** Writes a config with this webhook into a new folder; returns its path. */
export const configured = Effect.fnUntraced(function* (webhook: string, options: ConfigOptions = {}) {
  const path = join(yield* folder, "watch.yml")
  const { BERTH_BASE_URL } = settingsOf(yield* TestServer)
  writeFileSync(path, configOf(BERTH_BASE_URL, webhook, options))
  return path
})

/** Sets the status of a node when the test is ready. A busy machine might miss a status that lasts only for a while. */
export const becomes = Effect.fnUntraced(function* (id: number, status: "running" | "power-off") {
  const { control, id: world } = yield* TestServer
  yield* Effect.orDie(control.nodes.change({ params: { world, id }, payload: { status } }))
})

export const wait = <A>(promise: () => Promise<A>) => Effect.promise(promise)

/** Waits until another process has made a condition true. */
export const until = (condition: () => boolean) =>
  Effect.gen(function* () {
    while (!condition()) yield* Effect.sleep("20 millis")
  })

/** Runs a command of `berth-watch` to its end. */
export const command = (args: ReadonlyArray<string>, env?: Readonly<Record<string, string>>, input?: string) =>
  Effect.scoped(Effect.flatMap(Daemon.start(args, env, input), (daemon) => wait(() => daemon.finished())))

export const distinct = <A>(values: ReadonlyArray<A>): ReadonlyArray<A> => Array.from(new Set(values))

export const eventsOf = (text: string): ReadonlyArray<any> =>
  text
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line))
