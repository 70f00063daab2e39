import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isSoak } from "@berthkit/testing/chance"
import { assert, describe, expect, it } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber, Scope } from "effect"
import { run, serve } from "../cli/berthServer.ts"
import { controlAt } from "../control/plane.ts"
import { type Account, callAs, nodeOf } from "../http/service.ts"

/** A directory that is gone after the test. */
const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-state-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const start = (file: string, ...flags: ReadonlyArray<string>) =>
  serve(["--port", "0", "--state", file, "--provisioning", "0s", "--rate-limit", "1000000/1h", ...flags])

interface Made {
  readonly id: number
  /** Real time at which the reply to its create had arrived. */
  readonly knownAt: number
}

/** Creates nodes one after another until the server is gone, or without end. */
const load = (account: Account, made: Array<Made>) =>
  Effect.gen(function* () {
    for (;;) {
      const { json } = yield* callAs(account, "POST", "/nodes/", { body: nodeOf(`node-${made.length}`) })
      made.push({ id: json.data.id, knownAt: yield* Clock.currentTimeMillis })
      yield* Effect.sleep(3)
    }
  }).pipe(Effect.exit)

/** The longest delay of a timer on this machine, in milliseconds. On a busy machine, timers run late. */
const measureLateness = (late: { ms: number }) =>
  Effect.gen(function* () {
    for (;;) {
      const before = yield* Clock.currentTimeMillis
      yield* Effect.sleep(20)
      late.ms = Math.max(late.ms, (yield* Clock.currentTimeMillis) - before - 20)
    }
  })

/** The ids of all nodes. */
const idsOf = (account: Account) =>
  Effect.map(
    controlAt(account, "GET", "/worlds/default/snapshot"),
    ({ json }) => new Set((json.nodes as ReadonlyArray<{ readonly id: number }>).map(({ id }) => id))
  )

/** One server after another on one file, each killed at another moment while it is busy. */
const killAgainAndAgain = Effect.fnUntraced(function* (file: string, times: number, chain: number) {
  const safe: Array<number> = []
  let kills = 0
  for (let cycle = 0; cycle <= times; cycle++) {
    const scope = yield* Scope.make()
    const server = yield* Scope.provide(start(file), scope)
    const present = yield* idsOf(server.account)
    const lost = safe.filter((id) => !present.has(id))
    assert(lost.length === 0, `chain ${chain}, start ${cycle}: ${lost.length} nodes older than a second are lost`)
    if (cycle < times) {
      const made: Array<Made> = []
      const late = { ms: 0 }
      const measuring = yield* Effect.forkChild(measureLateness(late))
      const loading = yield* Effect.forkChild(load(server.account, made))
      // Kill the server early, during the first save, or between saves; and now and then so late that some nodes are older than a second.
      yield* Effect.sleep(cycle % 4 === 3 ? 1_700 + chain * 29 : 20 + ((cycle * 7 + chain * 3) % 10) * 89)
      const killedAt = yield* Clock.currentTimeMillis
      yield* server.stop("SIGKILL")
      kills += 1
      yield* Fiber.join(loading)
      yield* Fiber.interrupt(measuring)
      const lastSecond = killedAt - 1_000 - 2 * late.ms
      safe.push(...made.filter(({ knownAt }) => knownAt < lastSecond).map(({ id }) => id))
    }
    yield* Scope.close(scope, Exit.void)
  }
  return { kills, safe: safe.length }
})

/** The number of chains of kills, and the number of kills in each. */
const [chains, kills] = isSoak ? [10, 10] : [2, 3]

describe("a server that keeps its state", () => {
  it.live("killed again and again under load, always starts from its file and has lost a second at most", () =>
    Effect.gen(function* () {
      const path = yield* directory
      const ended = yield* Effect.forEach(
        Array.from({ length: chains }, (_, index) => index),
        (chain) => killAgainAndAgain(join(path, `state-${chain}`), kills, chain),
        { concurrency: 5 }
      )
      expect(ended.reduce((sum, { kills }) => sum + kills, 0)).toBe(chains * kills)
      // Without nodes older than a second the test would prove nothing. On a busy machine there may be no such nodes.
      if (isSoak) expect(ended.reduce((sum, { safe }) => sum + safe, 0)).toBeGreaterThan(50)
    })
  )

  it.live("loses nothing at a signal, and continues with its worlds and their credentials", () =>
    Effect.gen(function* () {
      const file = join(yield* directory, "state")
      const first = yield* start(file, "--clock", "frozen", "--seed", "7", "--scenario", "small")
      const plane = (server: { readonly account: Account }, path: string, method = "GET", body?: unknown) =>
        Effect.map(controlAt(server.account, method, path, body), ({ json }) => json)
      const made = yield* plane(first, "/worlds", "POST", { scenario: "small", seed: 3, clock: "frozen" })
      yield* plane(first, "/worlds", "POST", {})
      yield* callAs(first.account, "POST", "/nodes/", { body: nodeOf("last") })
      yield* plane(first, "/worlds/default/clock", "POST", { advance: "1 hour" })
      const before = [
        yield* plane(first, "/worlds/default/snapshot"),
        yield* plane(first, `/worlds/${made.id}/snapshot`)
      ]
      expect((yield* first.stop("SIGTERM")).code).toBe(0)
      expect(statSync(file).mode & 0o777).toBe(0o600)

      // The file takes precedence over the flags.
      const second = yield* start(file, "--seed", "8", "--scenario", "empty")
      expect([
        yield* plane(second, "/worlds/default/snapshot"),
        yield* plane(second, `/worlds/${made.id}/snapshot`)
      ]).toEqual(before)
      const nodes = yield* callAs(second.account, "GET", "/nodes/", { key: made.apiKey, token: made.accessToken })
      expect(nodes.json.data.length).toBe(5)
      expect((yield* plane(second, "/worlds", "POST", {})).id).toBe("w3")
    })
  )

  it.live("refuses a damaged file, and leaves it as it is", () =>
    Effect.gen(function* () {
      const path = yield* directory
      const good = join(path, "good")
      const server = yield* start(good, "--scenario", "small")
      yield* server.stop("SIGTERM")
      const text = readFileSync(good, "latin1")
      const shape = "it does not begin and end like a state file"
      const cases: ReadonlyArray<readonly [damage: string, content: string, reason: string]> = [
        ["changed", text.replace("web-2", "web-3"), "its checksum does not match"],
        ["cut", text.slice(0, -10), shape],
        ["shorter", `${text.slice(0, -10)}\n`, "its checksum does not match"],
        ["longer", `${text}more`, shape],
        ["foreign", "hello\n", shape]
      ]
      yield* Effect.forEach(
        cases,
        ([damage, content, reason]) =>
          Effect.gen(function* () {
            const file = join(path, damage)
            writeFileSync(file, content, "latin1")
            expect(yield* run(["--port", "0", "--state", file])).toEqual({
              code: 2,
              stdout: "",
              stderr: `berth-server: the state file ${file} is damaged: ${reason}\n`
            })
            expect(readFileSync(file, "latin1")).toBe(content)
          }),
        { concurrency: 4 }
      )
    })
  )

  it.live("cannot start without a place to write to, and leaves the file of a server on the same port alone", () =>
    Effect.gen(function* () {
      const path = yield* directory
      const nowhere = join(path, "nowhere", "state")
      const [missing, folder, endless] = [
        yield* run(["--port", "0", "--state", nowhere]),
        yield* run(["--port", "0", "--state", path]),
        yield* run(["--port", "0", "--state", "/dev/zero"])
      ]
      expect([missing.code, missing.stdout, missing.stderr]).toEqual([
        2,
        "",
        `berth-server: cannot use the state file ${nowhere}: the directory does not exist\n`
      ])
      expect([folder.code, folder.stderr]).toEqual([
        2,
        `berth-server: cannot read the state file ${path}: it is not a file\n`
      ])
      expect([endless.code, endless.stderr]).toEqual([
        2,
        "berth-server: cannot read the state file /dev/zero: it is not a file\n"
      ])

      const file = join(path, "state")
      const server = yield* start(file)
      const other = join(path, "other")
      copyFileSync(file, other)
      const port = new URL(server.ready.url).port
      const taken = yield* run(["--port", port, "--state", other])
      expect([taken.code, taken.stderr]).toEqual([2, expect.stringContaining("the port is taken")])
      expect(readFileSync(other).equals(readFileSync(file))).toBe(true)
    })
  )

  it.live("belongs to one server at a time, by whichever path, until that ends in whichever way", () =>
    Effect.gen(function* () {
      const path = yield* directory
      const [file, link] = [join(path, "state"), join(path, "link")]
      const first = yield* start(file)
      symlinkSync(file, link)
      yield* callAs(first.account, "POST", "/nodes/", { body: nodeOf("kept") })
      for (const same of [file, link]) {
        expect(yield* run(["--port", "0", "--state", same])).toEqual({
          code: 2,
          stdout: "",
          stderr: `berth-server: cannot use the state file ${same}: another server uses it\n`
        })
      }
      yield* first.stop("SIGTERM")
      const second = yield* start(link)
      expect((yield* idsOf(second.account)).size).toBe(1)
      yield* second.stop("SIGKILL")
      const third = yield* start(file)
      expect((yield* idsOf(third.account)).size).toBe(1)
      expect(lstatSync(link).isSymbolicLink()).toBe(true)
    })
  )

  it.live("is its user's alone, and saved through nothing that others have put beside it", () =>
    Effect.gen(function* () {
      const path = yield* directory
      const [file, victim] = [join(path, "state"), join(path, "victim")]
      writeFileSync(victim, "precious")
      symlinkSync(victim, `${file}.tmp`)
      const first = yield* start(file)
      yield* first.stop("SIGTERM")
      expect(readFileSync(victim, "utf8")).toBe("precious")
      writeFileSync(`${file}.tmp`, "")
      for (const open of [file, `${file}.tmp`]) chmodSync(open, 0o666)
      const second = yield* start(file)
      yield* second.stop("SIGTERM")
      expect(statSync(file).mode & 0o777).toBe(0o600)
      expect(statSync(`${file}.lock`).mode & 0o777).toBe(0o600)

      const trapped = join(path, "trapped")
      symlinkSync(victim, `${trapped}.lock`)
      const refused = yield* run(["--port", "0", "--state", trapped])
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("trapped.lock is a link")])
    })
  )
})
