import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Schedule } from "effect"
import { FetchHttpClient, HttpClient, HttpClientResponse } from "effect/http"
import { Nodes } from "@berthkit/core/client/Nodes"
import { Plans } from "@berthkit/core/client/Plans"
import { TestServer, type TestServerOptions } from "@berthkit/server/testing"
import { clientOf, inDialect } from "../account.ts"
import { Daemon } from "./Daemon.ts"
import { becomes } from "./Scene.ts"

const accessToken = "token-that-must-not-show"
const apiKey = "key-that-must-not-show"
const account = { apiKey: Redacted.make(apiKey), accessToken: Redacted.make(accessToken) }
const fast = ["--interval", "200ms", "--fast-interval", "100ms", "--grace", "200ms", "--requests-per-hour", "1000000"]

/** The service on a socket, in real time, and a client. */
const service = (options: TestServerOptions) =>
  Layer.provideMerge(
    Layer.unwrap(Effect.map(TestServer, (server) => clientOf(server))),
    TestServer.layer(inDialect({ clock: "real", accounts: [account], rateLimit: { limit: 1_000_000 }, ...options }))
  )

const create = Effect.gen(function* () {
  const [plan] = yield* (yield* Plans).list()
  const { node } = yield* (yield* Nodes).create({
    name: "web",
    plan: plan!.slugs[0]!.slug,
    image: plan!.slugs[0]!.image
  })
  return node.id
})

const wait = <A>(promise: () => Promise<A>) => Effect.promise(promise)

layer(service({ scenario: "small", provisioning: "1 hour", termination: "10 seconds" }), {
  excludeTestServices: true
})("berth-watch run", (it) => {
  it.effect("writes the life of a node to stdout, one event per line, and ends with 0 on SIGTERM", () =>
    Effect.gen(function* () {
      const daemon = yield* Daemon.start(["run", "--account", "acme", ...fast])
      expect(yield* wait(() => daemon.ready())).toEqual({
        http: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
        store: expect.stringMatching(/watch\.db$/),
        accounts: ["acme"]
      })
      yield* wait(() => daemon.baseline())
      const id = yield* create
      yield* wait(() => daemon.event("berth.node.created"))
      yield* becomes(id, "running")
      yield* wait(() => daemon.event("berth.node.status_changed"))
      yield* Nodes.use((nodes) => nodes.delete(id))
      yield* wait(() => daemon.event("berth.node.deleted"))
      daemon.program.signal("SIGTERM")
      const { code, stderr, stdout } = yield* wait(() => daemon.finished())
      const events = stdout.map((line) => JSON.parse(line))
      expect(events.map(({ sequence, type }) => [sequence, type])).toEqual([
        ["0000000000000001", "berth.watch.baseline"],
        ["0000000000000002", "berth.node.created"],
        ["0000000000000003", "berth.node.status_changed"],
        ["0000000000000004", "berth.node.status_changed"],
        ["0000000000000005", "berth.node.deleted"]
      ])
      expect(events[1]).toMatchObject({ source: "/accounts/acme", subject: `nodes/${id}`, data: { before: null } })
      expect(stderr).toHaveLength(1)
      expect(code).toBe(0)
    })
  )

  it.effect("ends with 2 where its address is taken", () =>
    Effect.gen(function* () {
      const daemon = yield* Daemon.start(["run"])
      const { http } = yield* wait(() => daemon.ready())
      const second = yield* Daemon.start(["run"], { BERTH_WATCH_LISTEN: new URL(http!).host })
      expect(yield* wait(() => second.finished())).toMatchObject({
        code: 2,
        stderr: [expect.stringContaining("is taken."), "Set listen to another port, or to off."]
      })
    })
  )

  it.effect("ends with 0 on SIGINT too", () =>
    Effect.gen(function* () {
      const daemon = yield* Daemon.start(["run"])
      yield* wait(() => daemon.ready())
      daemon.program.signal("SIGINT")
      expect((yield* wait(() => daemon.finished())).code).toBe(0)
    })
  )

  it.effect("ends quietly with 0 when the reader of its stdout has gone", () =>
    Effect.gen(function* () {
      const daemon = yield* Daemon.start(["run", ...fast])
      yield* wait(() => daemon.baseline())
      daemon.program.child.stdout.destroy()
      yield* create
      const { code, stderr } = yield* wait(() => daemon.finished())
      expect({ code, lines: stderr.length }).toEqual({ code: 0, lines: 1 })
    })
  )

  it.effect("with wrong credentials reports that in two more lines and ends with 3", () =>
    Effect.gen(function* () {
      const daemon = yield* Daemon.start(["run"], { BERTH_ACCESS_TOKEN: "wrong" })
      const { code, stderr, stdout } = yield* wait(() => daemon.finished())
      expect(stderr).toEqual([
        expect.stringMatching(/^\{"http":.*\}$/),
        expect.stringMatching(/^berth-watch: The service refused the credentials: /),
        "Check the API key and the access token; you make new ones in the account portal."
      ])
      expect({ code, stdout }).toEqual({ code: 3, stdout: [] })
    })
  )

  it.effect("shows neither key nor token, whatever happens", () =>
    Effect.gen(function* () {
      const refused = yield* Daemon.start(["run"], { BERTH_ACCESS_TOKEN: `${accessToken}-not` })
      const unreachable = yield* Daemon.start(["once"], { BERTH_BASE_URL: "http://127.0.0.1:1" })
      const once = yield* Daemon.start(["once"])
      for (const daemon of [refused, unreachable, once]) {
        const { stderr, stdout } = yield* wait(() => daemon.finished())
        const all = [...stderr, ...stdout].join("\n")
        for (const secret of [apiKey, accessToken]) {
          expect(all).not.toContain(secret)
          expect(all).not.toContain(btoa(secret))
        }
      }
    })
  )
})

layer(service({ scenario: { fleet: 3000 } }), { excludeTestServices: true })("a reader that is slow", (it) => {
  it.effect("gets every event, also those from before the signal to stop", () =>
    Effect.gen(function* () {
      const daemon = yield* Daemon.start(["run"])
      const { stdout: pipe } = daemon.program.child
      pipe.pause()
      const { http } = yield* wait(() => daemon.ready())
      // Nobody reads the daemon's stdout, so `/readyz` shows that the nodes are known.
      const isReady = HttpClient.get(`${http}/readyz`).pipe(Effect.flatMap(HttpClientResponse.filterStatusOk))
      yield* Effect.retry(isReady, Schedule.spaced("50 millis")).pipe(Effect.provide(FetchHttpClient.layer))
      daemon.program.signal("SIGTERM")
      pipe.resume()
      const { code, stdout } = yield* wait(() => daemon.finished())
      expect(stdout).toHaveLength(1)
      expect(JSON.parse(stdout[0]!).data.count).toBe(3000)
      expect(code).toBe(0)
    })
  )
})

describe("berth-watch run without a service", () => {
  it("keeps trying, reports that once, and still ends with 0", async () => {
    await using daemon = new Daemon(["run"], {
      BERTH_BASE_URL: "http://127.0.0.1:1",
      BERTH_API_KEY: apiKey,
      BERTH_ACCESS_TOKEN: accessToken
    })
    await daemon.event("berth.watch.degraded")
    await daemon.program.printed(
      /^berth-watch: service-failing \(default\): The list of nodes cannot be read\. .*\n/m,
      "stderr"
    )
    daemon.program.signal("SIGTERM")
    const { code, stderr } = await daemon.finished()
    expect(stderr).toHaveLength(2)
    expect(code).toBe(0)
  })
})
