/**
 * The whole daemon as a process: everything that happens in the service arrives everywhere once and in order, even if the process is
 * killed.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { metricProblems } from "@berthkit/testing/metricLint"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Nodes } from "@berthkit/core/client/Nodes"
import { TestServer } from "@berthkit/server/testing"
import { clientOf, inDialect } from "../account.ts"
import { Daemon } from "./Daemon.ts"
import { create } from "./polling.ts"
import { becomes, command, configured, distinct, eventsOf, receiver, wait } from "./Scene.ts"

/**
 * A node takes longer to disappear than a daemon takes to start on a busy machine. Otherwise the daemon would miss that the node
 * terminates, and would report the deletion much later.
 */
const service = Layer.provideMerge(
  Layer.unwrap(Effect.map(TestServer, (server) => clientOf(server))),
  TestServer.layer(
    inDialect({
      clock: "real",
      rateLimit: { limit: 1_000_000 },
      provisioning: "1 hour",
      termination: "10 seconds"
    })
  )
)

/** The metrics that alert rules and dashboards use, except those that only some accounts have. */
const named = [
  "berth_sweep_duration_seconds",
  "berth_last_success_timestamp_seconds",
  "berth_detection_latency_seconds",
  "berth_ratelimit_remaining",
  "berth_events_total",
  "berth_sink_lag_events"
]

const idsOf = (text: string) => eventsOf(text).map(({ id }) => String(id))

/** When a process ends, prints which files of the bundle it has loaded, by the names of their chunks. */
const reportFiles = `--import=data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module"
  const files = []
  registerHooks({ load: (url, context, next) => (files.push(url), next(url, context)) })
  const chunks = () => files.flatMap((url) => /dist\\/(\\w+)-[^/]*$/.exec(url)?.[1] ?? [])
  process.on("exit", () => process.stderr.write(JSON.stringify({ chunks: chunks() }) + "\\n"))
`)}`

layer(service, { excludeTestServices: true })("a daemon with a config", (it) => {
  it.effect(
    "loads neither the driver of a server, nor what places accounts, nor mail and templates, for a store in a file and no such sinks",
    () =>
      Effect.gen(function* () {
        const daemon = yield* Daemon.start(["run"], { NODE_OPTIONS: reportFiles })
        yield* wait(() => daemon.baseline())
        yield* wait(() => daemon.program.kill("SIGTERM"))
        const { stderr } = yield* wait(() => daemon.finished())
        const { chunks } = JSON.parse(stderr.find((line) => line.startsWith('{"chunks":'))!)
        expect(chunks).toContain("SqlClient")
        expect(
          chunks.filter((name: string) => /^(?:PgClient|Placement|runFleet|sendMail|compileTemplate)$/.test(name))
        ).toEqual([])
        // Check that the files with these names exist.
        const files = readdirSync(new URL("../../apps/watch/dist", import.meta.url)).join("\n")
        for (const name of ["PgClient", "Placement", "runFleet", "sendMail", "compileTemplate"])
          expect(files).toMatch(new RegExp(`^${name}-`, "m"))
      })
  )

  it.effect("that is killed in between delivers every event, in one order, to stdout, a webhook and the log", () =>
    Effect.gen(function* () {
      const ops = yield* receiver
      const path = yield* configured(ops.url)
      const first = yield* Daemon.start(["run", "--config", path, "--requests-per-hour", "1000000"])
      yield* wait(() => first.event("berth.watch.baseline"))
      const second = yield* Daemon.start(["run", "--config", path, "--requests-per-hour", "1000000"])
      const refused = yield* wait(() => second.finished())
      expect(refused.code).toBe(2)
      expect(refused.stderr[0]).toContain(`process ${first.program.child.pid} runs on`)
      const id = yield* create("web")
      yield* wait(() => first.event("berth.node.created"))
      yield* becomes(id, "running")
      yield* wait(() => first.event("berth.node.status_changed"))
      const before = yield* wait(() => first.program.kill("SIGKILL"))

      yield* Nodes.use((nodes) => nodes.delete(id))
      const next = yield* Daemon.start(["run", "--config", path, "--requests-per-hour", "1000000"])
      const { http } = yield* wait(() => next.ready())
      yield* wait(() => next.event("berth.node.deleted"))
      expect((yield* command(["nodes", "--config", path])).stdout).toEqual([])
      expect((yield* command(["sinks", "--config", path])).stdout).toHaveLength(2)

      const logged = idsOf((yield* command(["events", "--config", path])).stdout.join("\n"))
      const page = yield* wait(async () => (await fetch(`${http}/api/events?after=&limit=100`)).json())
      const scrape = wait(async () => (await fetch(`${http}/metrics`)).text())
      // On a busy machine the second sweep may not be over yet, and some metrics come only with a sweep.
      let metrics = yield* scrape
      while (named.some((name) => !metrics.includes(`# TYPE ${name} `))) metrics = yield* scrape
      expect(metricProblems(metrics)).toEqual([])
      expect(metrics).toMatch(/^berth_requests_total\{.*account="acme".*\} \d/m)
      next.program.signal("SIGHUP")
      next.program.signal("SIGTERM")
      const { code, stdout } = yield* wait(() => next.program.ended)
      expect(code).toBe(0)
      expect(new Set(logged).size).toBe(logged.length)
      expect((page as { events: Array<{ event: { id: string } }> }).events.map(({ event }) => event.id)).toEqual(logged)
      expect(distinct([...idsOf(before.stdout), ...idsOf(stdout)])).toEqual(logged)
      expect(ops.idsTaken()).toEqual(logged)
    })
  )

  it.effect("without sinks stays, for its page and its log", () =>
    Effect.gen(function* () {
      const path = yield* configured("http://127.0.0.1:1/")
      writeFileSync(path, readFileSync(path, "utf8").replace(/^sinks:[^]*/m, ""))
      const daemon = yield* Daemon.start(["run", "--config", path, "--requests-per-hour", "1000000"])
      const { http } = yield* wait(() => daemon.ready())
      const logged = () => fetch(`${http}/api/events?after=`).then((reply) => reply.text())
      while (!(yield* wait(logged)).includes("berth.watch.baseline")) yield* Effect.sleep("50 millis")
      daemon.program.signal("SIGTERM")
      expect((yield* wait(() => daemon.finished())).code).toBe(0)
    })
  )

  it.effect(
    "refuses a config at SIGHUP that cannot be read, or whose credentials the service refuses, and takes the next good one",
    () =>
      Effect.gen(function* () {
        const path = yield* configured((yield* receiver).url)
        const good = readFileSync(path, "utf8")
        const daemon = yield* Daemon.start(["run", "--config", path, "--requests-per-hour", "1000000"], {
          OTHER_TOKEN: "wrong-0123456789"
        })
        yield* wait(() => daemon.event("berth.watch.baseline"))
        writeFileSync(path, `${good}sink: []\n`)
        daemon.program.signal("SIGHUP")
        yield* wait(() => daemon.program.printed("the daemon keeps its config.", "stderr"))
        expect(daemon.program.child.exitCode).toBe(null)
        writeFileSync(path, good.replace("{ env: BERTH_ACCESS_TOKEN }", "{ env: OTHER_TOKEN }"))
        daemon.program.signal("SIGHUP")
        yield* wait(() =>
          daemon.program.printed(/refused the credentials: .* The daemon keeps its config\.\n(.*\n)*\{.*\n/, "stderr")
        )
        writeFileSync(path, good.replace("name: acme", "name: renamed"))
        daemon.program.signal("SIGHUP")
        yield* wait(() => daemon.program.printed('"accounts":["renamed"]', "stderr"))
        daemon.program.signal("SIGTERM")
        expect((yield* wait(() => daemon.finished())).code).toBe(0)
      })
  )
})
