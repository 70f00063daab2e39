/** The exit code of every command for every kind of failure. These codes must never change. */
import { PassThrough } from "node:stream"
import { failure, lost, ok, type Reply } from "@berthkit/core/testing"
import type { Ended } from "@berthkit/testing/Program"
import { RefusedPort } from "@berthkit/testing/RefusedPort"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { everyCommand, isLocal, lineOf, printsFindings, stateOf, withoutProfile } from "./everyCommand.ts"
import { hurried, invoke } from "./invoke.ts"
import { serve } from "./ScriptedServer.ts"

/** Every command that sends requests, except those that read stdin. `profiles.test.ts` tests the login. */
const commands = everyCommand.filter((row) => !isLocal(row) && row.input === undefined)

const refusal = (status: number, message = "It is so", headers: Record<string, string> = {}) =>
  failure(status, message, { detail: [message] }, headers)

const replies: ReadonlyArray<{ readonly title: string; readonly code: number; readonly reply: Reply }> = [
  { title: "401", code: 3, reply: refusal(401) },
  { title: "403", code: 3, reply: refusal(403) },
  { title: "404", code: 4, reply: refusal(404) },
  { title: "409", code: 5, reply: refusal(409) },
  { title: "412", code: 5, reply: refusal(412) },
  { title: "422", code: 5, reply: refusal(422) },
  { title: "a failure inside a 200", code: 5, reply: { ...refusal(422), status: 200 } },
  { title: "429", code: 6, reply: refusal(429, "Slower", { "retry-after": "600" }) },
  { title: "500", code: 7, reply: refusal(500) },
  { title: "503", code: 7, reply: refusal(503) },
  { title: "a redirect to a login page", code: 7, reply: { status: 302, headers: { location: "/login" }, body: "" } },
  { title: "a connection that breaks", code: 7, reply: lost }
]

const secrets = { BERTH_API_KEY: "the-key", BERTH_ACCESS_TOKEN: "the-token" }

describe.each(commands)("berth $command", (row) => {
  const own = { ...secrets, ...stateOf(row) }
  // A wait survives temporary failures and has its own limit.
  const waits = row.command === "node wait"
  const line = (...flags: ReadonlyArray<string>) =>
    withoutProfile(lineOf(row, "1", waits ? [...flags, "--timeout", "3s"] : flags))
  const command = line()
  const inTime = waits ? <A, E, R>(effect: Effect.Effect<A, E, R>) => effect : hurried
  /** The stdout of a failure, without findings. */
  const unexpected = ({ stdout }: Ended) => (printsFindings(row) ? "" : stdout)
  /** `berth api` prints the reply even if it is a failure. */
  const dataOf = (reply: Reply) =>
    row.command === "api" && reply !== "lost" && reply.body !== "" ? `${reply.body}\n` : ""

  it.live(
    "exits with the code of each failure, reports it on stderr in two lines, and prints no data of berth's own",
    () =>
      Effect.forEach(
        replies,
        Effect.fnUntraced(function* ({ code, reply, title }) {
          const url = yield* serve(() => reply)
          const ended = yield* inTime(invoke(command, { env: { ...own, BERTH_BASE_URL: url } }))
          assert.deepStrictEqual(
            { title, code: ended.code, stdout: unexpected(ended) },
            { title, code, stdout: dataOf(reply) }
          )
          assert.match(ended.stderr, /(?:^|\n)error: .+\.\nhint: .+\n$/, title)
        }, Effect.scoped),
        { concurrency: replies.length }
      )
  )

  it.live("with -o json reports the failure as one line of JSON", () =>
    Effect.gen(function* () {
      const url = yield* serve(() => refusal(403, "Not yours"))
      const ended = yield* invoke(line("-o", "json"), { env: { ...own, BERTH_BASE_URL: url } })
      const [last, ...rest] = ended.stderr.trimEnd().split("\n").toReversed()
      assert.strictEqual(ended.code, 3)
      assert.deepStrictEqual(rest, [])
      const { error } = JSON.parse(last ?? "")
      assert.deepStrictEqual(Object.keys(error), ["code", "message", "hint", "httpStatus", "retryable", "details"])
      assert.deepStrictEqual([error.code, error.httpStatus, error.retryable], ["Forbidden", 403, false])
    })
  )

  it.live("exits 7 when the service does not answer", () =>
    Effect.gen(function* () {
      const { url } = yield* RefusedPort.start()
      const ended = yield* inTime(invoke(command, { env: { ...own, BERTH_BASE_URL: url } }))
      assert.deepStrictEqual([ended.code, unexpected(ended)], [7, ""], ended.stderr)
      assert.match(ended.stderr, /(?:^|\n)error: .+\.\nhint: .+\n$/)
    })
  )

  it.live("exits 2 without an address, and 3 without credentials, naming the variable", () =>
    Effect.gen(function* () {
      const nowhere = yield* invoke(command, { env: own })
      assert.deepStrictEqual([nowhere.code, unexpected(nowhere)], [2, ""])
      assert.include(nowhere.stderr, "BERTH_BASE_URL")
      for (const variable of Object.keys(secrets)) {
        const env = { BERTH_BASE_URL: "http://127.0.0.1:1", ...own, [variable]: "" }
        const ended = yield* invoke(command, { env })
        assert.deepStrictEqual([ended.code, unexpected(ended)], [3, ""])
        assert.include(ended.stderr, `${variable} is not set`)
      }
    })
  )

  it.live("exits 2 for an unknown flag, and prints nothing on stdout", () =>
    Effect.gen(function* () {
      const ended = yield* invoke(line("--frobnicate"), { env: {} })
      assert.deepStrictEqual([ended.code, ended.stdout], [2, ""])
      assert.match(ended.stderr, /^error: berth .+ has no flag --frobnicate\.\nhint: See berth .+ --help\.\n$/)
    })
  )
})

it.live("the hint for an unknown path is about the path of berth api, and otherwise about the base URL", () =>
  Effect.gen(function* () {
    const env = { ...secrets, BERTH_BASE_URL: yield* serve(() => refusal(404)) }
    assert.include((yield* invoke(["api", "GET", "/nodes/"], { env })).stderr, "it begins below /myaccount/api/v1")
    assert.include((yield* invoke(["image", "list"], { env })).stderr, "and the base URL")
  })
)

it.live("the hint names the base URL only for a reply that has not the form of the service's", () =>
  Effect.gen(function* () {
    const aboutUrl = "Check that the base URL is the service's and not a proxy's or a login page's."
    const look = "Look at the reply with berth api, and report it to the service's support."
    const login = { status: 200, body: "<html>Log in</html>" }
    for (const [args, reply, hint] of [
      [["node", "get", "1"], login, aboutUrl],
      [["node", "list"], { status: 302, headers: { location: "/login" }, body: "" }, aboutUrl],
      [["node", "get", "1"], ok({ id: "one", name: "a" }), look],
      [["node", "get", "1"], { status: 200, body: JSON.stringify({ code: 200, errors: {} }) }, look]
    ] as const) {
      const { code, stderr } = yield* invoke(args, { env: { ...secrets, BERTH_BASE_URL: yield* serve(() => reply) } })
      assert.strictEqual(code, 7, stderr)
      assert.include(stderr, `\nhint: ${hint}\n`)
    }
  })
)

it.live("the hint for a refused rule is about slugs only where the service says that there is no such plan", () =>
  Effect.gen(function* () {
    const slugs = "Plans are named by their slugs: berth plan get PLAN shows them."
    const other = "Do what the reason asks for, in the account portal if need be, then try again."
    for (const [reason, hint] of [
      ["Plan does not exist", slugs],
      ["Invalid plan C3.8GB", slugs],
      ["Plan is not available in this location", other],
      ["Committed plan does not exist", other],
      ["You do not have sufficient infra credits", other],
      ["Node with this name already exists in the project", other],
      ["Accidental protection is enabled", other]
    ]) {
      const body = JSON.stringify({ code: 412, data: {}, errors: reason, message: "Precondition Failed" })
      const env = { ...secrets, BERTH_BASE_URL: yield* serve(() => ({ status: 412, body })) }
      const { code, stderr } = yield* invoke(["node", "delete", "1", "--yes"], { env })
      assert.strictEqual(code, 5, stderr)
      assert.include(stderr, `\nhint: ${hint}\n`)
    }
  })
)

it.live("the hint for a reply that is too long is what can be typed, and not an option of programs", () =>
  Effect.gen(function* () {
    const body = `{"message":"${"x".repeat(17 * 1024 * 1024)}"}`
    const env = { ...secrets, BERTH_BASE_URL: yield* serve(() => ({ status: 200, body })) }
    for (const [args, hint] of [
      [["node", "list"], "Read it page by page: berth node list --page 1 --per-page 20"],
      [["api", "/nodes/"], "Ask for less at once, such as: berth api /nodes/ -q per_page=20"],
      [["plan", "list"], "Ask the service for a part of it: berth plan list --series SERIES --os OS --cpu N --ram GB"]
    ] as const) {
      const { code, stderr } = yield* invoke(args, { env })
      assert.strictEqual(code, 7)
      assert.include(stderr, `\nhint: ${hint}\n`)
    }
  })
)

describe("several nodes", () => {
  it.live("exit 9 when some of them failed, with a row for each", () =>
    Effect.gen(function* () {
      const node = { id: 1, name: "a", created_at: "2026-01-01T00:00:00Z", status: "running" }
      const url = yield* serve(({ path }) => (path === "/nodes/1/" ? ok(node) : refusal(404)))
      const env = { ...secrets, BERTH_BASE_URL: url }
      const waited = yield* invoke(["node", "wait", "1", "2"], { env })
      assert.strictEqual(waited.code, 9)
      assert.match(waited.stdout, /1 +a +running/)
      assert.match(waited.stdout, /2 +- +failed +Node 2 does not exist/)
    })
  )

  it.live.each([["get"], ["wait"], ["delete", "--yes"], ["delete", "--dry-run"]])(
    "in JSON are data where they succeeded and a line of stderr where they failed: berth node %s",
    (verb) =>
      Effect.gen(function* () {
        const node = { id: 1, name: "a", created_at: "2026-01-01T00:00:00Z", status: "running" }
        // Waits for several nodes read the whole list.
        const url = yield* serve(({ path }) =>
          path === "/nodes/1/" ? ok(node) : path === "/nodes/" ? ok([node]) : refusal(404)
        )
        const env = { ...secrets, BERTH_BASE_URL: url }
        for (const format of ["json", "ndjson"]) {
          const { code, stderr, stdout } = yield* invoke(["node", ...verb, "2", "1", "3", "-o", format], { env })
          assert.strictEqual(code, 9)
          const rows =
            format === "json"
              ? JSON.parse(stdout)
              : stdout
                  .trimEnd()
                  .split("\n")
                  .map((row) => JSON.parse(row))
          assert.deepStrictEqual(
            rows.map(({ id }: { id: number }) => id),
            [1]
          )
          const errors = stderr
            .split("\n")
            .filter((line) => line.startsWith("{"))
            .map((line) => JSON.parse(line).error)
          assert.deepStrictEqual(
            errors.map(({ code, details }) => [code, details.node?.id ?? null, "nodeId" in details]),
            [
              ["NodeNotFound", 2, false],
              ["NodeNotFound", 3, false],
              ["SomeFailed", null, false]
            ]
          )
        }
      })
  )
})

describe("a fault of berth's own", () => {
  it.live("exits 1 and is reported like any other failure, with its trace when --debug is on", () =>
    Effect.gen(function* () {
      const broken = () =>
        Object.assign(new PassThrough(), {
          write: () => {
            throw new Error("a fault on purpose")
          }
        })
      const env = { ...secrets, BERTH_BASE_URL: yield* serve(() => ok([])) }
      const ended = yield* invoke(["node", "list", "-o", "json"], { env, stdout: broken() })
      assert.strictEqual(ended.code, 1)
      const { error } = JSON.parse(ended.stderr)
      assert.deepInclude(error, { code: "Fault", retryable: false, httpStatus: null })
      assert.include(error.message, "a fault on purpose")
      const debugged = yield* invoke(["node", "list", "-o", "json", "--debug"], { env, stdout: broken() })
      assert.match(debugged.stderr, /\n +at /)
    })
  )
})

describe("a full disk", () => {
  it.live("is no fault of berth's: exit 10, and one error on stderr", () =>
    Effect.gen(function* () {
      const full = new PassThrough({
        transform: (_chunk, _encoding, done) => done(new Error("ENOSPC: no space left on device, write"))
      })
      const env = { ...secrets, BERTH_BASE_URL: yield* serve(() => ok([])) }
      const ended = yield* invoke(["node", "list", "-o", "json"], { env, stdout: full })
      assert.strictEqual(ended.code, 10)
      const { error } = JSON.parse(ended.stderr)
      assert.deepInclude(error, {
        code: "StdoutFailed",
        message: "The output cannot be written: no space left on device."
      })
    })
  )
})
