/** Tests what the daemon shares with other processes of its machine that use the same key. */
import { expect, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { TestServer } from "@berthkit/server/testing"
import { inDialect, isToday } from "../account.ts"
import { Daemon } from "./Daemon.ts"

/** A separate state folder for the test. */
const state = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "berth-state-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const once = (env: Readonly<Record<string, string>>) =>
  Effect.flatMap(Daemon.start(["once"], env), (daemon) => Effect.promise(() => daemon.finished()))

/** Enough requests for one sweep of the five nodes. A list that states its total takes one request. */
const scant = { limit: isToday ? 1 : 2, window: 3_600_000, algorithm: "fixed-window" } as const

/** How many requests the service has received. */
const requests = Effect.map(
  Effect.flatMap(TestServer, ({ journal }) => journal),
  ({ length }) => length
)

it.live("a process begins with what the one before it has learnt of the allowance, and asks nothing in vain", () =>
  Effect.gen(function* () {
    const byDefault = { XDG_STATE_HOME: yield* state, BERTH_ALLOWANCE_FILE: "" }
    expect(yield* once(byDefault)).toMatchObject({ code: 0, stderr: [] })
    const asked = yield* requests
    const next = yield* once(byDefault)
    expect(next.code).toBe(6)
    expect(next.stderr[0]).toMatch(/^berth-watch: Too little is left of the rate limit: this call may go in /)
    expect(yield* requests).toBe(asked)
    // A process that shares nothing must send a request to learn the allowance.
    expect((yield* once({ ...byDefault, BERTH_ALLOWANCE_FILE: "off" })).code).toBe(6)
    expect(yield* requests).toBe(asked + 1)
  }).pipe(
    Effect.scoped,
    Effect.provide(TestServer.layer(inDialect({ scenario: "small", clock: "real", rateLimit: scant })))
  )
)

it.live("the file is for the user alone, and a daemon that has ended is not counted", () =>
  Effect.gen(function* () {
    const home = yield* state
    const daemon = yield* Daemon.start(["run", "--interval", "1s"], { XDG_STATE_HOME: home, BERTH_ALLOWANCE_FILE: "" })
    yield* Effect.promise(() => daemon.ready())
    const accounts = join(home, "berth", "accounts")
    const [account, ...rest] = yield* Effect.promise(() => readdir(accounts))
    expect(rest).toEqual([])
    const file = join(accounts, account!, "allowance.json")
    const members = Effect.promise(() => readdir(`${file}.members`))
    expect(yield* members).toHaveLength(1)
    // The file is written once the daemon knows the other processes.
    const mode = Effect.tryPromise(async () => (await stat(file)).mode & 0o777)
    expect(yield* Effect.retry(mode, Schedule.spaced("50 millis"))).toBe(0o600)
    daemon.program.signal("SIGTERM")
    expect(yield* Effect.promise(() => daemon.finished())).toMatchObject({ code: 0 })
    expect(yield* members).toEqual([])
  }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ scenario: "small", clock: "real" }))))
)

it.live("a state folder that cannot be made is reported once on stderr, and ends nothing", () =>
  Effect.gen(function* () {
    const file = join(yield* state, "file")
    yield* Effect.promise(() => writeFile(file, ""))
    for (const env of [{ XDG_STATE_HOME: file }, {}]) {
      const { code, stderr, stdout } = yield* once({ BERTH_ALLOWANCE_FILE: "", ...env })
      expect({ code, events: stdout.length, lines: stderr.length }).toEqual({ code: 0, events: 6, lines: 1 })
      expect(stderr[0]).toMatch(/^berth-watch: .*this client relies only on its own replies\.$/)
    }
  }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ scenario: "small", clock: "real" }))))
)

it.live("an allowance that does not last until it refills is an event, with what is left", () =>
  Effect.gen(function* () {
    const daemon = yield* Daemon.start(["run", "--interval", "200ms", "--requests-per-hour", "7200"])
    const { data, ...event } = JSON.parse(yield* Effect.promise(() => daemon.event("berth.allowance.low")))
    expect(event).toMatchObject({ source: "/accounts/default", type: "berth.allowance.low" })
    expect(event).not.toHaveProperty("subject")
    expect(data).toMatchObject({ limit: 30, resetsAt: expect.stringMatching(/Z$/) })
    expect(data.remaining).toBeLessThan(30)
    daemon.program.signal("SIGTERM")
    const { stdout } = yield* Effect.promise(() => daemon.finished())
    expect(stdout.filter((line) => line.includes("berth.allowance.low"))).toHaveLength(1)
  }).pipe(
    Effect.scoped,
    Effect.provide(
      TestServer.layer(inDialect({ scenario: "small", clock: "real", rateLimit: { ...scant, limit: 30 } }))
    )
  )
)

it.live("a refusal with an allowance left is no event about the allowance", () =>
  Effect.gen(function* () {
    const { arm } = yield* TestServer
    const daemon = yield* Daemon.start(["run", "--interval", "200ms", "--requests-per-hour", "7200"])
    yield* Effect.promise(() => daemon.baseline())
    const headers = { "retry-after": "1", "ratelimit-limit": "1000000", "ratelimit-remaining": "1000000" }
    yield* arm([{ fault: "status", status: 429, headers: { ...headers, "ratelimit-reset": "3600" }, times: 1 }])
    const before = yield* requests
    while ((yield* requests) < before + 5) yield* Effect.sleep("100 millis")
    daemon.program.signal("SIGTERM")
    const { stdout } = yield* Effect.promise(() => daemon.finished())
    expect(stdout.filter((line) => line.includes("berth.allowance.low"))).toEqual([])
  }).pipe(
    Effect.scoped,
    Effect.provide(
      TestServer.layer(inDialect({ scenario: "small", clock: "real", rateLimit: { ...scant, limit: 1_000_000 } }))
    )
  )
)
