/**
 * The accounts of a machine: a login checks the credentials, only the user can read the profile file, and `berth auth status` shows which
 * setting wins.
 */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import type { IncomingMessage } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { failure, nodeRecord, ok } from "@berthkit/core/testing"
import { freePort } from "@berthkit/testing/freePort"
import { HttpService } from "@berthkit/testing/HttpService"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { run } from "./berth.ts"
import { invoke } from "./invoke.ts"

const apiKey = "the-key-of-a-test"
const accessToken = "the-token-of-a-test"

/** A service with node 7, without images; a create makes node 8. */
const replyTo = ({ method, url = "" }: IncomingMessage) => {
  const node = nodeRecord({ id: 7, name: "web" })
  if (method === "POST") return { ...ok({ ...node, id: 8, plan: "P" }), status: 202 }
  const [, id] = /\/nodes\/(\d+)\//.exec(url) ?? []
  if (id !== undefined) return ok({ ...node, id: Number(id) })
  return ok(url.includes("/nodes/") ? [node] : [])
}

/** A folder for configuration and state, a service with one node, and berth with this folder and service. */
const machine = Effect.gen(function* () {
  const home = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "berth-home-"))),
    (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
  )
  const requests: Array<string> = []
  const { url } = yield* HttpService.start((request, response) => {
    requests.push(request.method ?? "")
    const { body, headers, status } =
      request.headers.authorization === `Bearer ${accessToken}` ? replyTo(request) : failure(401, "Wrong")
    response.writeHead(status, headers).end(body)
  })
  const berth = (
    args: ReadonlyArray<string>,
    options: { readonly env?: Record<string, string>; readonly input?: string } = {}
  ) => {
    const env = { HOME: home, ...options.env }
    // Only a command that reads stdin needs a process.
    const { input } = options
    return Effect.suspend(() => (input === undefined ? invoke(args, { env }) : run(args, { input, env })))
  }
  const login = (name: string, token = accessToken, key = apiKey) =>
    berth(["auth", "login", "--profile", name, "--base-url", url], { input: `${key}\n${token}\n` })
  return { home, url, requests, berth, login, file: join(home, ".config", "berth", "profiles.json") }
})

describe("auth login", () => {
  it.live("saves the project and the location that it proves the credentials in", () =>
    Effect.gen(function* () {
      const { berth, file, url } = yield* machine
      const login = (...more: ReadonlyArray<string>) =>
        berth(["auth", "login", "--profile", "test", "--base-url", url, ...more], {
          input: `${apiKey}\n${accessToken}\n`
        })
      const saved = Effect.promise(
        async () => (JSON.parse(await readFile(file, "utf8")) as { profiles: { test: object } }).profiles.test
      )
      const first = yield* login("--project", "7", "--location", "Delhi")
      assert.strictEqual(first.code, 0, first.stderr)
      assert.include(first.stderr, "project 7 in Delhi")
      assert.deepInclude(yield* saved, { project: 7, location: "Delhi" })
      // New credentials keep the place of the old ones, unless the login names another place.
      assert.strictEqual((yield* login()).code, 0)
      assert.deepInclude(yield* saved, { project: 7, location: "Delhi" })
      assert.strictEqual((yield* login("--location", "Chennai")).code, 0)
      assert.deepInclude(yield* saved, { project: 7, location: "Chennai" })
    }).pipe(Effect.scoped)
  )

  it.live("saves the database of the shared state, which commands of the profile use", () =>
    Effect.gen(function* () {
      const { berth, file, login, requests, url } = yield* machine
      const port = yield* Effect.promise(freePort)
      const address = `postgres://ci:hunter2@127.0.0.1:${port}/ci`
      const saved = Effect.promise(
        async () => (JSON.parse(await readFile(file, "utf8")) as { profiles: { test: object } }).profiles.test
      )
      const args = ["auth", "login", "--profile", "test", "--base-url", url]
      const first = yield* berth(args, {
        env: { BERTH_STATE_URL: address },
        input: `${apiKey}\n${accessToken}\n`
      })
      assert.strictEqual(first.code, 0, first.stderr)
      assert.deepInclude(yield* saved, { stateUrl: address })
      assert.strictEqual((yield* login("test")).code, 0)
      assert.deepInclude(yield* saved, { stateUrl: address })
      const flagged = yield* berth([...args, "--state-url", `postgres://ci@127.0.0.1:${port}/other`], {
        env: { BERTH_STATE_URL: address },
        input: `${apiKey}\n${accessToken}\n`
      })
      assert.strictEqual(flagged.code, 0, flagged.stderr)
      assert.deepInclude(yield* saved, { stateUrl: `postgres://ci@127.0.0.1:${port}/other` })
      const again = yield* berth(args, { env: { BERTH_STATE_URL: address }, input: `${apiKey}\n${accessToken}\n` })
      assert.strictEqual(again.code, 0, again.stderr)
      const create = ["node", "create", "web", "--plan", "P", "--image", "I", "--force", "--yes", "--key", "job"]
      const { code, stderr } = yield* berth(create)
      assert.strictEqual(code, 10, stderr)
      assert.include(stderr, `postgres://127.0.0.1:${port}/ci`)
      const other = `postgres://ci@127.0.0.1:${port}/third`
      const elsewhere = yield* berth([...create, "--profile", "test", "--state-url", other])
      assert.strictEqual(elsewhere.code, 10, elsewhere.stderr)
      assert.include(elsewhere.stderr, `postgres://127.0.0.1:${port}/third`)
      assert.notInclude(first.stderr + stderr, "hunter2")
      assert.notInclude(requests, "POST")
      yield* Effect.promise(async () => writeFile(file, (await readFile(file, "utf8")).replace("postgres:", "mysql:")))
      const wrong = yield* berth(["node", "list"])
      assert.deepStrictEqual(
        [wrong.code, wrong.stderr.split("\n")[0]!.slice(0, 53)],
        [2, "error: stateUrl of profile test is not usable: it has"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("saves the User-Agent that it proves the credentials with, and keeps it", () =>
    Effect.gen(function* () {
      const { berth, file, url } = yield* machine
      const login = (...more: ReadonlyArray<string>) =>
        berth(["auth", "login", "--profile", "test", "--base-url", url, ...more], {
          input: `${apiKey}\n${accessToken}\n`
        })
      const saved = Effect.promise(
        async () => (JSON.parse(await readFile(file, "utf8")) as { profiles: { test: object } }).profiles.test
      )
      assert.strictEqual((yield* login()).code, 0)
      assert.notProperty(yield* saved, "userAgent")
      assert.strictEqual((yield* login("--user-agent", "deploy/1.0")).code, 0)
      assert.deepInclude(yield* saved, { userAgent: "deploy/1.0" })
      assert.strictEqual((yield* login()).code, 0)
      assert.deepInclude(yield* saved, { userAgent: "deploy/1.0" })
    }).pipe(Effect.scoped)
  )

  it.live("proves the credentials with one request, and saves them for the user alone", () =>
    Effect.gen(function* () {
      const { berth, file, home, login, requests, url } = yield* machine
      const { code, stderr, stdout } = yield* login("test")
      assert.strictEqual(code, 0)
      assert.lengthOf(requests, 1)
      assert.include(stderr, `Logged in to ${url} as profile test`)
      for (const text of [stdout, stderr]) {
        assert.notInclude(text, apiKey)
        assert.notInclude(text, accessToken)
      }
      const modes = yield* Effect.promise(() =>
        Promise.all([file, join(home, ".config", "berth")].map(async (path) => (await stat(path)).mode & 0o777))
      )
      assert.deepStrictEqual(modes, [0o600, 0o700])
      assert.strictEqual((yield* berth(["node", "list", "-o", "id"])).stdout, "7\n")
    }).pipe(Effect.scoped)
  )

  it.live("with a new API key of the profile keeps the keys of creates, so that none makes a second node", () =>
    Effect.gen(function* () {
      const { berth, home, login, requests } = yield* machine
      yield* login("test")
      const create = ["node", "create", "web", "--plan", "P", "--image", "I", "--force", "--yes", "--key", "job"]
      const first = yield* berth([...create, "-o", "id"])
      assert.deepStrictEqual([first.code, first.stdout], [0, "8\n"], first.stderr)
      yield* login("test", accessToken, "the-new-key-of-a-test")
      const again = yield* berth([...create, "-o", "id"])
      assert.deepStrictEqual([again.code, again.stdout], [0, "8\n"], again.stderr)
      assert.lengthOf(
        requests.filter((method) => method === "POST"),
        1
      )
      assert.include(again.stderr, "Created node 8 earlier with the same key.")
      const kept = yield* Effect.promise(() => readdir(join(home, ".local", "state", "berth"), { recursive: true }))
      assert.lengthOf(
        kept.filter((path) => path.endsWith("job.json")),
        1
      )
    }).pipe(Effect.scoped)
  )

  it.live(
    "with a new API key keeps the keys of creates in every project and location, not only in those of the profile",
    () =>
      Effect.gen(function* () {
        const { berth, requests, url } = yield* machine
        const login = (key: string) =>
          berth(["auth", "login", "--base-url", url, "--project", "7", "--location", "Delhi"], {
            input: `${key}\n${accessToken}\n`
          })
        yield* login(apiKey)
        const order = ["node", "create", "web", "--plan", "P", "--image", "I", "--force", "--yes", "--key", "job"]
        const places = [[], ["--location", "Chennai"], ["--project", "8"]]
        for (const place of places) assert.strictEqual((yield* berth([...order, ...place])).code, 0)
        yield* login("the-new-key-of-a-test")
        for (const place of places) {
          const again = yield* berth([...order, ...place])
          assert.include(again.stderr, "Created node 8 earlier with the same key.", place.join(" "))
        }
        assert.lengthOf(
          requests.filter((method) => method === "POST"),
          3
        )
      }).pipe(Effect.scoped)
  )

  it.live("saves nothing if the service refuses the credentials, or if one is missing", () =>
    Effect.gen(function* () {
      const { berth, file, login, url } = yield* machine
      assert.strictEqual((yield* login("test", "wrong")).code, 3)
      const half = yield* berth(["auth", "login", "--base-url", url], { input: `${apiKey}\n` })
      assert.deepStrictEqual([half.code, half.stderr.split("\n")[0]], [2, "error: The access token is missing."])
      assert.isTrue(
        yield* Effect.promise(() =>
          readFile(file).then(
            () => false,
            () => true
          )
        )
      )
    }).pipe(Effect.scoped)
  )

  it.live("reports a folder that cannot be written, and exits 10", () =>
    Effect.gen(function* () {
      const { berth, url } = yield* machine
      const { code, stderr } = yield* berth(["auth", "login", "--base-url", url], {
        input: `${apiKey}\n${accessToken}\n`,
        env: { XDG_CONFIG_HOME: "/proc" }
      })
      assert.strictEqual(code, 10)
      assert.match(stderr, /^error: \/proc\/berth\/profiles\.json cannot be written: .+\nhint: .+\n$/)
    }).pipe(Effect.scoped)
  )
})

describe("the file of profiles", () => {
  it.live("is refused where others can read it, with the command to run", () =>
    Effect.gen(function* () {
      const { berth, file, login } = yield* machine
      yield* login("test")
      yield* Effect.promise(() => chmod(file, 0o640))
      const { code, stderr } = yield* berth(["node", "list"])
      assert.strictEqual(code, 10)
      assert.include(stderr, `hint: Run: chmod 600 '${file}'`)
    }).pipe(Effect.scoped)
  )

  it.live("that is damaged stops only the commands that need it", () =>
    Effect.gen(function* () {
      const { berth, file, url } = yield* machine
      yield* Effect.promise(async () => {
        await mkdir(join(file, ".."), { recursive: true })
        await writeFile(file, "{", { mode: 0o600 })
      })
      const needs = yield* berth(["node", "list"])
      assert.deepStrictEqual([needs.code, needs.stdout], [10, ""])
      assert.include(needs.stderr, "is not a file of profiles")
      const env = { BERTH_BASE_URL: url, BERTH_API_KEY: apiKey, BERTH_ACCESS_TOKEN: accessToken }
      assert.strictEqual((yield* berth(["node", "list"], { env })).code, 0)
    }).pipe(Effect.scoped)
  )

  it.live.each([
    ["node", "list"],
    ["auth", "login", "--profile", "test"],
    ["auth", "logout"],
    ["profile", "use", "test"]
  ])("of a later version is refused as such, and nothing of it is lost: berth %s %s", (args) =>
    Effect.gen(function* () {
      const { berth, file, requests } = yield* machine
      const later = JSON.stringify({ version: 99, accounts: [{ name: "test", secret: "s" }] })
      yield* Effect.promise(async () => {
        await mkdir(join(file, ".."), { recursive: true })
        await writeFile(file, later, { mode: 0o600 })
      })
      const { code, stderr, stdout } = yield* berth(args, { input: `${apiKey}\n${accessToken}\n` })
      assert.deepStrictEqual([code, stdout], [10, ""])
      assert.include(
        stderr,
        `error: ${file} was written by a later version of berth: it has version 99, and this one reads 1.\nhint: Update berth`
      )
      assert.strictEqual(yield* Effect.promise(() => readFile(file, "utf8")), later)
      assert.deepStrictEqual(requests, [])
    }).pipe(Effect.scoped)
  )

  it.live("keeps fields that this version does not know, of the file and of each profile", () =>
    Effect.gen(function* () {
      const { berth, file, login, url } = yield* machine
      yield* login("test")
      const content = Effect.promise(async () => JSON.parse(await readFile(file, "utf8")))
      const written = yield* content
      const known = { ...written, theme: "dark" }
      known.profiles.test = { ...known.profiles.test, region: "ncr", tags: ["a"] }
      known.profiles.other = { baseUrl: url, apiKey: "k", accessToken: "t", note: null }
      yield* Effect.promise(() => writeFile(file, JSON.stringify(known)))
      yield* login("test")
      assert.deepStrictEqual(yield* content, known)
      yield* berth(["profile", "use", "other"])
      assert.deepStrictEqual(yield* content, { ...known, current: "other" })
      yield* berth(["profile", "remove", "test"])
      const { test: _, ...profiles } = known.profiles
      assert.deepStrictEqual(yield* content, { ...known, current: "other", profiles })
    }).pipe(Effect.scoped)
  )

  it.live("names accounts that can be listed, chosen and removed, without a secret on either stream", () =>
    Effect.gen(function* () {
      const { berth, login, url } = yield* machine
      yield* login("a")
      yield* login("b")
      const list = Effect.map(berth(["profile", "list", "-o", "json"]), ({ stdout }) => JSON.parse(stdout))
      assert.deepStrictEqual(yield* list, [
        { name: "a", current: false, baseUrl: url, project: null, location: null, userAgent: null },
        { name: "b", current: true, baseUrl: url, project: null, location: null, userAgent: null }
      ])
      yield* berth(["profile", "use", "a"])
      assert.deepStrictEqual(JSON.parse((yield* berth(["profile", "show", "a", "-o", "json"])).stdout).current, true)
      yield* berth(["profile", "remove", "b"])
      assert.lengthOf(yield* list, 1)
      const unknown = yield* berth(["node", "list", "--profile", "aa"])
      assert.deepStrictEqual(
        [unknown.code, unknown.stderr.split("\n")[0]],
        [2, "error: There is no profile aa; did you mean a?"]
      )
      const odd = yield* berth(["node", "list", "--profile", "$(id) b"])
      assert.include(odd.stderr, "berth auth login --profile '$(id) b'")
      yield* berth(["auth", "logout"])
      assert.deepStrictEqual(yield* list, [])
      const debug = yield* berth(["node", "list", "--debug"])
      assert.notInclude(debug.stderr + debug.stdout, apiKey)
    }).pipe(Effect.scoped)
  )
})

describe("what sets the account", () => {
  it.live("is a flag before the environment before the profile, and a named profile before the environment", () =>
    Effect.gen(function* () {
      const { berth, login, url } = yield* machine
      yield* login("test")
      const sources = (args: ReadonlyArray<string>, env: Record<string, string>) =>
        Effect.map(berth(["auth", "status", "-o", "json", ...args], { env }), ({ stdout }) => {
          const { accessTokenSource, apiKeySource, baseUrlSource } = JSON.parse(stdout)
          return [baseUrlSource, apiKeySource, accessTokenSource]
        })
      const profile = "profile test"
      const token = { BERTH_ACCESS_TOKEN: accessToken }
      assert.deepStrictEqual(yield* sources([], {}), [profile, profile, profile])
      assert.deepStrictEqual(yield* sources([], token), [profile, profile, "BERTH_ACCESS_TOKEN"])
      assert.deepStrictEqual(yield* sources(["--base-url", url], token), ["--base-url", profile, "BERTH_ACCESS_TOKEN"])
      assert.deepStrictEqual(yield* sources(["--profile", "test"], token), [profile, profile, profile])
      assert.deepStrictEqual(yield* sources([], { ...token, BERTH_PROFILE: "test" }), [
        profile,
        profile,
        "BERTH_ACCESS_TOKEN"
      ])
    }).pipe(Effect.scoped)
  )

  it.live("is failed by doctor where commands refuse to send it to the address", () =>
    Effect.gen(function* () {
      const { berth, login } = yield* machine
      yield* login("test")
      const { code, stdout } = yield* berth(["doctor", "--base-url", "http://127.0.0.1:1", "-o", "json"])
      assert.strictEqual(code, 3)
      const results = Object.fromEntries(
        JSON.parse(stdout).map(({ check, result }: Record<string, string>) => [check, result])
      )
      assert.deepInclude(results, { "API key": "failed", "access token": "failed" })
    }).pipe(Effect.scoped)
  )

  it.live("is shown by doctor, which exits as the first failure would", () =>
    Effect.gen(function* () {
      const { berth, login } = yield* machine
      yield* login("test")
      const well = yield* berth(["doctor", "-o", "json"])
      assert.strictEqual(well.code, 0)
      const details = Object.fromEntries(
        JSON.parse(well.stdout).map(({ check, detail }: Record<string, string>) => [check, detail])
      )
      assert.include(details["API key"], "from profile test")
      assert.strictEqual(details["account"], "has no name: the keys of creates belong to the API key")
      const named = yield* berth(["doctor"], { env: { BERTH_ACCOUNT: "shop" } })
      assert.match(named.stdout, /account +ok +shop, from BERTH_ACCOUNT: the keys of creates belong to it/)
      const refused = yield* berth(["doctor"], { env: { BERTH_ACCESS_TOKEN: "wrong" } })
      assert.strictEqual(refused.code, 3)
      assert.match(refused.stdout, /credentials +failed/)
      const env = { BERTH_API_KEY: apiKey, BERTH_ACCESS_TOKEN: accessToken }
      const nowhere = yield* berth(["doctor", "--base-url", "http://127.0.0.1:1", "--deadline", "300ms"], { env })
      assert.strictEqual(nowhere.code, 7)
      assert.notInclude(nowhere.stdout, apiKey)
    }).pipe(Effect.scoped)
  )
})

describe("--deadline", () => {
  it.live.each(["auth status", "doctor", "auth login"])("limits the one call of berth %s", (command) =>
    Effect.gen(function* () {
      const { home } = yield* machine
      const { url } = yield* HttpService.start(() => {})
      const env = { HOME: home, BERTH_BASE_URL: url, BERTH_API_KEY: apiKey, BERTH_ACCESS_TOKEN: accessToken }
      const ended = yield* run([...command.split(" "), "--deadline", "400ms"], {
        env,
        input: `${apiKey}\n${accessToken}\n`
      })
      assert.strictEqual(ended.code, 7)
      assert.include(ended.stderr, "error: The call exceeded its deadline of 400 ms.")
    }).pipe(Effect.scoped)
  )
})
