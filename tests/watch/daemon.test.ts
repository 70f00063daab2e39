/**
 * The whole daemon as a process: what happens in the service arrives everywhere once and in order, also when the process is killed.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { HttpService } from "@berth/testing/HttpService"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Nodes } from "@berth/core/client/Nodes"
import { TestServer } from "@berth/server/testing"
import { clientOf, settingsOf } from "../account.ts"
import { Daemon } from "./Daemon.ts"
import { create } from "./polling.ts"

const service = Layer.provideMerge(
  Layer.unwrap(Effect.map(TestServer, (server) => clientOf(server))),
  TestServer.layer({ clock: "real", provisioning: "2500 millis", termination: "2500 millis" })
)

const wait = <A>(promise: () => Promise<A>) => Effect.promise(promise)

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-daemon-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** A receiver of webhooks; the ids of what it got, in order. */
const receiver = Effect.gen(function* () {
  const ids: Array<string> = []
  const service = yield* HttpService.start((request, response) => {
    ids.push(String(request.headers["webhook-id"]))
    response.writeHead(204).end()
    request.resume()
  })
  return { ids, url: service.url }
})

/** Two sinks, and one account of the service under test. */
const config = (baseUrl: string, url: string) => `store: watch.db
listen: 127.0.0.1:0
accounts:
  - name: acme
    baseUrl: ${baseUrl}
    apiKey: { env: BERTH_API_KEY }
    accessToken: { env: BERTH_ACCESS_TOKEN }
    interval: 200ms
    grace: 200ms
sinks:
  - name: ops
    webhook: { url: "${url}/", allowPrivate: true }
  - name: log
    stdout: {}
`

const idsOf = (text: string) =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): string => JSON.parse(line).id)

const distinct = (ids: ReadonlyArray<string>) => Array.from(new Set(ids))

layer(service, { excludeTestServices: true })("a daemon with a config", (it) => {
  it.effect(
    "that is killed in between delivers every event, in one order, to stdout, a webhook and the log",
    () =>
      Effect.gen(function* () {
        const path = join(yield* folder, "watch.yml")
        const { ids, url } = yield* receiver
        const { BERTH_BASE_URL } = settingsOf(yield* TestServer)
        writeFileSync(path, config(BERTH_BASE_URL, url))

        const first = yield* Daemon.start(["run", "--config", path])
        yield* wait(() => first.event("berth.watch.baseline"))
        const second = yield* Daemon.start(["run", "--config", path])
        const refused = yield* wait(() => second.finished())
        expect(refused.code).toBe(2)
        expect(refused.stderr[0]).toContain(`process ${first.program.child.pid} runs on`)
        const id = yield* create("web")
        yield* wait(() => first.event("berth.node.status_changed"))
        const before = yield* wait(() => first.program.kill("SIGKILL"))

        yield* Nodes.use((nodes) => nodes.delete(id))
        const next = yield* Daemon.start(["run", "--config", path])
        const { http } = yield* wait(() => next.ready())
        yield* wait(() => next.event("berth.node.deleted"))
        const nodes = yield* Daemon.start(["nodes", "--config", path])
        expect((yield* wait(() => nodes.finished())).stdout).toEqual([])
        const sinks = yield* Daemon.start(["sinks", "--config", path])
        expect((yield* wait(() => sinks.finished())).stdout).toHaveLength(2)

        const stream = yield* Daemon.start(["events", "--config", path])
        const logged = idsOf((yield* wait(() => stream.finished())).stdout.join("\n"))
        const page = yield* wait(async () => (await fetch(`${http}/api/events?after=&limit=100`)).json())
        next.program.signal("SIGHUP")
        next.program.signal("SIGTERM")
        const { code, stdout } = yield* wait(() => next.program.ended)
        expect(code).toBe(0)
        expect(new Set(logged).size).toBe(logged.length)
        expect((page as { events: Array<{ event: { id: string } }> }).events.map(({ event }) => event.id)).toEqual(
          logged
        )
        expect(distinct([...idsOf(before.stdout), ...idsOf(stdout)])).toEqual(logged)
        expect(distinct(ids)).toEqual(logged)
      }),
    { timeout: 60_000 }
  )

  it.effect("refuses a config that cannot be read at SIGHUP, and takes the next good one", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "watch.yml")
      const { url } = yield* receiver
      const { BERTH_BASE_URL } = settingsOf(yield* TestServer)
      const good = config(BERTH_BASE_URL, url)
      writeFileSync(path, good)
      const daemon = yield* Daemon.start(["run", "--config", path])
      yield* wait(() => daemon.event("berth.watch.baseline"))
      writeFileSync(path, `${good}sink: []\n`)
      daemon.program.signal("SIGHUP")
      yield* wait(() => daemon.program.printed("the daemon keeps its config.", "stderr"))
      expect(daemon.program.child.exitCode).toBe(null)
      writeFileSync(path, good.replace("name: acme", "name: renamed"))
      daemon.program.signal("SIGHUP")
      yield* wait(() => daemon.program.printed('"accounts":["renamed"]', "stderr"))
      daemon.program.signal("SIGTERM")
      expect((yield* wait(() => daemon.finished())).code).toBe(0)
    })
  )
})
