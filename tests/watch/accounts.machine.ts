import { readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { TestServer, type TestWorld } from "@berthkit/server/testing"
import { seenOf } from "@berthkit/testing/spellings"
import { Store } from "@berthkit/watch/store/Store"
import { expect, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { inDialect, placeFlags } from "../account.ts"
import { Daemon } from "./Daemon.ts"
import { checkDelivered, makeFleet } from "./faltering.ts"
import { command, until, wait } from "./Scene.ts"

layer(TestServer.layer(inDialect({ clock: "real" })), { excludeTestServices: true })(
  "a store that an administrator prepares",
  (it) => {
    it.effect("is run on by a role that has the rights which migrate prints", () =>
      Effect.gen(function* () {
        const { address, config, env } = yield* makeFleet(1)
        const unprepared = yield* command(["status", "--config", config], env)
        expect(unprepared).toMatchObject({
          code: 2,
          stderr: [
            expect.stringMatching(/does not have the tables of this version/),
            expect.stringMatching(/berth-watch migrate/)
          ]
        })
        const first = yield* command(["migrate", "--config", config], env)
        expect(first).toMatchObject({ code: 0, stderr: [] })
        expect(first.stdout[0]).toMatch(
          /^postgres:\/\/[^@]*\?schema=berth has the tables of version \d+ now; it had none\.$/
        )
        const again = yield* command(["migrate", "--store", Redacted.value(address)])
        expect(again.stdout[0]).toMatch(/ has the tables of version \d+ already\.$/)

        const sql = Context.get(yield* Layer.build(Store.layerServerReader(address)), SqlClient.SqlClient)
        yield* Effect.orDie(sql.unsafe("CREATE ROLE watch LOGIN PASSWORD 'only for tests'"))
        const tables = yield* Effect.orDie(sql`SELECT 1 FROM pg_tables WHERE tablename = 'shared_allowance'`)
        expect(tables).toHaveLength(1)
        for (const grant of again.stdout.slice(2)) yield* Effect.orDie(sql.unsafe(grant.replace("ROLE", "watch")))
        const own = new URL(Redacted.value(address))
        own.username = "watch"
        const daemon = yield* Daemon.start(["run", "--config", config], { ...env, DATABASE_URL: own.href })
        const { http } = yield* wait(() => daemon.ready())
        while (!(yield* wait(() => fetch(`${http}/readyz`))).ok) yield* Effect.sleep("50 millis")

        yield* Effect.orDie(sql`INSERT INTO schema_version (migration_id, name) VALUES (999, 'later')`)
        for (const verb of ["migrate", "run"]) {
          const refused = yield* command([verb, "--config", config], env)
          expect(refused).toMatchObject({ code: 2, stdout: [] })
          expect(refused.stderr[0]).toMatch(
            /^berth-watch: The schema of the store is not that of this berth-watch: .*version 999/
          )
        }
      })
    )
  }
)

const sealKeys = {
  old: Buffer.alloc(32, "old key").toString("base64"),
  new: Buffer.alloc(32, "a new key").toString("base64")
}

const secretsOf = (worlds: ReadonlyArray<TestWorld>) => [
  ...Object.values(sealKeys),
  ...worlds.flatMap(({ accessToken, apiKey }) => [Redacted.value(apiKey), Redacted.value(accessToken)])
]

/**
 * Several accounts, of which the config has only the first, and functions that run the account commands and make the arguments that add the
 * others.
 */
const makeTable = Effect.fnUntraced(function* (count: number) {
  const { address, config, env: all, ops, worlds } = yield* makeFleet(count)
  writeFileSync(config, readFileSync(config, "utf8").replace(/^ {2}- \{ name: a[1-9].*\n/gm, ""))
  const env = { ...all, BERTH_WATCH_SEAL_KEY: sealKeys.new, BERTH_WATCH_SEAL_KEY_OLD: sealKeys.old }
  const printed: Array<string> = []
  const account = (args: ReadonlyArray<string>, own: Readonly<Record<string, string>> = {}, input?: string) =>
    Effect.map(command(["account", ...args, "--config", config], { ...env, ...own }, input), (ended) => {
      printed.push(...ended.stdout, ...ended.stderr)
      return ended
    })
  const pace = ["--interval", "1s", "--hold", "1s"]
  const add = (index: number, ...more: ReadonlyArray<string>) => [
    "add",
    `a${index}`,
    "--base-url",
    worlds[index]!.baseUrl,
    ...placeFlags,
    ...pace,
    ...more
  ]
  const given = (index: number) => {
    const { accessToken, apiKey } = worlds[index]!
    return { apiKey: Redacted.value(apiKey), accessToken: Redacted.value(accessToken) }
  }
  const startWith = (own: Readonly<Record<string, string>>) =>
    Daemon.start(["run", "--config", config, "--fast-interval", "200ms"], { ...env, ...own })
  const start = startWith({})
  const eventsOf = (name: string) => ops.taken.filter(({ source }) => source === `/accounts/${name}`)
  /** Turns a node of a world on or off; returns a query for the events of this change. */
  const turn = Effect.fnUntraced(function* (index: number) {
    const { control, id: world } = worlds[index]!
    const [node] = yield* Effect.orDie(control.nodes.list({ params: { world }, query: { count: 1 } }))
    const status = node!.status === "running" ? "power-off" : "running"
    yield* Effect.orDie(control.nodes.change({ params: { world, id: node!.id }, payload: { status } }))
    return () =>
      eventsOf(`a${index}`).filter(({ data, subject }) => subject === `nodes/${node!.id}` && data.to === status)
  })
  const expectNoSecrets = (more: string) => expect(seenOf([...printed, more].join("\n"), secretsOf(worlds))).toEqual([])
  return { account, add, address, config, env, eventsOf, expectNoSecrets, given, ops, start, startWith, turn, worlds }
})

const accountsOf = (http: string | null): Effect.Effect<ReadonlyArray<any>> =>
  wait(() => fetch(`${http}/api/accounts`).then((reply) => reply.json() as Promise<ReadonlyArray<any>>))

layer(TestServer.layer(inDialect({ clock: "real" })), { excludeTestServices: true })("accounts of the table", (it) => {
  it.effect("come, pause, go on and go while two processes run, and nothing is lost", () =>
    Effect.gen(function* () {
      const made = yield* makeTable(4)
      const { account, add, address, config, env, eventsOf, expectNoSecrets, given, ops, start, turn, worlds } = made
      const daemons = [yield* start, yield* start]
      const https = yield* wait(() => Promise.all(daemons.map((each) => each.ready().then(({ http }) => http))))
      const sql = Context.get(yield* Layer.build(Store.layerServerReader(address)), SqlClient.SqlClient)
      const everywhere = (condition: (accounts: ReadonlyMap<string, any>) => boolean) =>
        Effect.gen(function* () {
          for (const http of https) {
            for (;;) {
              const accounts = yield* accountsOf(http)
              if (condition(new Map(accounts.map((each) => [each.account, each])))) break
              yield* Effect.sleep("50 millis")
            }
          }
        })
      const isSwept = (name: string) => (accounts: ReadonlyMap<string, any>) =>
        accounts.get(name)?.state === "watching" && accounts.get(name).lastSweep !== null

      // Every way to name credentials.
      const byName = yield* account(add(1, "--api-key-env", "KEY1", "--access-token-env", "TOKEN1"))
      expect(byName).toMatchObject({ code: 0, stdout: ["The account a1 is added."], stderr: [] })
      const sealing = { BERTH_WATCH_SEAL_KEY: sealKeys.old, BERTH_WATCH_SEAL_KEY_OLD: "" }
      expect((yield* account(add(2, "--sealed"), sealing, JSON.stringify(given(2)))).code).toBe(0)
      const files = { apiKey: join(dirname(config), "key"), accessToken: join(dirname(config), "token") }
      writeFileSync(files.apiKey, given(3).apiKey)
      writeFileSync(files.accessToken, given(3).accessToken)
      const byFile = add(3, "--api-key-file", files.apiKey, "--access-token-file", files.accessToken)
      expect((yield* account(byFile)).code).toBe(0)
      for (const name of ["a0", "a1", "a2", "a3"]) {
        yield* everywhere(isSwept(name))
        yield* until(() => eventsOf(name).some(({ type }) => type === "berth.watch.baseline"))
      }

      expect((yield* account(["pause", "a1"])).stdout).toEqual(["The account a1 is paused."])
      yield* everywhere((accounts) => accounts.get("a1").state === "paused")
      const pausedChange = yield* turn(1)
      // This takes long enough that a request for the account would be seen.
      for (let times = 0; times < 3; times++) {
        const change = yield* turn(2)
        yield* until(() => change().length > 0)
      }
      expect(pausedChange()).toEqual([])
      for (const http of https) expect((yield* wait(() => fetch(`${http}/readyz?fleet`))).status).toBe(200)
      expect((yield* account(["resume", "a1"])).code).toBe(0)
      yield* until(() => pausedChange().length > 0)
      expect(pausedChange()[0].data.afterGap).toBe(true)
      yield* everywhere(isSwept("a1"))

      const listed = yield* account(["list", "-o", "json"])
      const byAccount = new Map(listed.stdout.map((line) => JSON.parse(line)).map((each) => [each.account, each]))
      expect(byAccount.get("a1")).toMatchObject({ state: "active", credentials: { apiKey: { env: "KEY1" } } })
      const oldKey = byAccount.get("a2").credentials.sealedUnder
      const epochOf = (name: string) =>
        Effect.map(Effect.orDie(sql<{ epoch: bigint }>`SELECT epoch FROM account WHERE name = ${name}`), ([row]) =>
          Number(row!.epoch)
        )
      const before = { a1: yield* epochOf("a1"), a2: yield* epochOf("a2") }
      const resealed = yield* account(["reseal"])
      expect(resealed).toMatchObject({ code: 0, stdout: [expect.stringMatching(/^1 account is sealed anew, under/)] })
      while ((yield* epochOf("a2")) === before.a2) yield* Effect.sleep("50 millis")
      const again = yield* account(["reseal"])
      expect(again.stdout).toEqual([expect.stringMatching(/^0 accounts are sealed anew/)])
      const text = (yield* account(["list", "-o", "text"])).stdout
      expect(text[1]).toMatch(/^account a2: active, http:.*, credentials sealed under /)
      expect(text[1]).not.toContain(oldKey)
      const afterReseal = yield* turn(2)
      yield* until(() => afterReseal().length > 0)
      expect(yield* epochOf("a1"), "the others do not begin anew").toBe(before.a1)

      // An account that cannot be watched at first.
      const bad = ["add", "bad", "--base-url", worlds[1]!.baseUrl, ...placeFlags, "--interval", "1s"]
      const named = ["--api-key-env", "NO_KEY", "--access-token-env", "NO_TOKEN"]
      expect((yield* account([...bad, ...named, "--unchecked"])).code).toBe(0)
      yield* until(() =>
        daemons.some(({ program }) => /account-refused \(bad\): .* NO_KEY is not set\./.test(program.output))
      )
      const beside = yield* turn(3)
      yield* until(() => beside().length > 0)
      expect(
        (yield* account([...bad, "--api-key-env", "KEY1", "--access-token-env", "TOKEN1", "--replace"])).code
      ).toBe(0)
      yield* everywhere(isSwept("bad"))
      for (const name of ["bad", "a2"]) {
        expect((yield* account(["remove", name])).stdout).toEqual([`The account ${name} is removed.`])
        yield* everywhere((accounts) => !accounts.has(name))
      }
      const kept = yield* command(["events", "--account", "a2", "--config", config], env)
      expect(kept.stdout.length).toBeGreaterThan(3)
      const shown = yield* command(["status", "--config", config, "-o", "json"], env)
      expect(JSON.parse(shown.stdout.join("")).accounts.map((each: any) => each.account)).toEqual(["a0", "a1", "a3"])
      const missed = yield* turn(2)
      expect((yield* account(add(2, "--sealed"), {}, `${given(2).apiKey}\n${given(2).accessToken}\n`)).code).toBe(0)
      yield* until(() => missed().length > 0)

      yield* checkDelivered(sql, ops.idsTaken)
      const table = yield* Effect.orDie(sql`SELECT * FROM watched_account`)
      const rows = JSON.stringify(table, (_, value) => (typeof value === "bigint" ? Number(value) : value))
      for (const { program } of daemons) {
        expect(program.child.exitCode, "it was not restarted").toBe(null)
        expect((yield* wait(() => program.kill("SIGTERM"))).code).toBe(0)
      }
      expectNoSecrets(rows + daemons.map(({ program }) => program.output).join(""))
    })
  )

  it.effect("may be all that there are, and are found again after a restart", () =>
    Effect.gen(function* () {
      const { account, add, config, ops, start } = yield* makeTable(2)
      writeFileSync(config, readFileSync(config, "utf8").replace(/^accounts:\n(?: .*\n)+/m, ""))
      const first = yield* start
      const { accounts, http } = yield* wait(() => first.ready())
      expect(accounts).toEqual([])
      expect((yield* wait(() => fetch(`${http}/readyz`))).status).toBe(200)
      yield* account(add(1, "--api-key-env", "KEY1", "--access-token-env", "TOKEN1"))
      yield* until(() => ops.taken.some(({ type }) => type === "berth.watch.baseline"))
      yield* account(add(0, "--api-key-env", "KEY0", "--access-token-env", "TOKEN0"))
      yield* account(["pause", "a0"])
      expect((yield* wait(() => first.program.kill("SIGTERM"))).code).toBe(0)
      const second = yield* start
      const ready = yield* wait(() => second.ready())
      expect(ready.accounts.toSorted()).toEqual(["a0", "a1"])
      const states = Effect.map(accountsOf(ready.http), (all) =>
        all.map((each) => `${each.account} ${each.state}`).toSorted()
      )
      while ((yield* states).join() !== "a0 paused,a1 watching") yield* Effect.sleep("50 millis")
      expect((yield* wait(() => second.program.kill("SIGTERM"))).code).toBe(0)
    })
  )

  it.effect("get another sealing key while two processes are restarted one by one, and are watched all the time", () =>
    Effect.gen(function* () {
      const { account, add, address, given, ops, startWith, turn } = yield* makeTable(2)
      const keys = {
        before: { BERTH_WATCH_SEAL_KEY: sealKeys.old, BERTH_WATCH_SEAL_KEY_OLD: "" },
        both: { BERTH_WATCH_SEAL_KEY: sealKeys.new, BERTH_WATCH_SEAL_KEY_OLD: sealKeys.old },
        after: { BERTH_WATCH_SEAL_KEY: sealKeys.new, BERTH_WATCH_SEAL_KEY_OLD: "" }
      }
      let daemons = [yield* startWith(keys.before), yield* startWith(keys.before)]
      for (const each of daemons) yield* wait(() => each.ready())
      expect((yield* account(add(1, "--sealed"), keys.before, JSON.stringify(given(1)))).code).toBe(0)
      const isWatched = Effect.gen(function* () {
        for (const index of [0, 1]) {
          const change = yield* turn(index)
          yield* until(() => change().length > 0)
        }
      })
      yield* until(() => ops.taken.filter(({ type }) => type === "berth.watch.baseline").length >= 2)
      const restart = Effect.fnUntraced(function* (own: Readonly<Record<string, string>>) {
        for (const each of daemons) {
          expect((yield* wait(() => each.program.kill("SIGTERM"))).code).toBe(0)
          yield* isWatched
          const next = yield* startWith(own)
          yield* wait(() => next.ready())
          daemons = [...daemons.filter((other) => other !== each), next]
          yield* isWatched
        }
      })
      yield* restart(keys.both)
      expect((yield* account(["reseal"], keys.both)).stdout).toEqual([
        expect.stringMatching(/^1 account is sealed anew, under/)
      ])
      yield* isWatched
      yield* restart(keys.after)
      expect(daemons.map(({ program }) => program.output).join("")).not.toContain("account-refused")
      const sql = Context.get(yield* Layer.build(Store.layerServerReader(address)), SqlClient.SqlClient)
      yield* checkDelivered(sql, ops.idsTaken)
    })
  )

  it.effect("are refused in one line that shows no secret, and nothing is written", () =>
    Effect.gen(function* () {
      const { account, add, address, config, env, expectNoSecrets, given, start, worlds } = yield* makeTable(3)
      const before = yield* account(["list"])
      expect([before.code, before.stderr[0]]).toEqual([
        2,
        expect.stringMatching(/does not have the tables of this version/)
      ])
      const daemon = yield* start
      yield* wait(() => daemon.ready())
      const good = ["--api-key-env", "KEY1", "--access-token-env", "TOKEN1"]
      expect((yield* account(add(1, ...good))).code).toBe(0)
      const { accessToken, apiKey } = given(2)
      const at = (baseUrl: string) => ["add", "x", "--base-url", baseUrl, ...good]
      const noKey = { BERTH_WATCH_SEAL_KEY: "", BERTH_WATCH_SEAL_KEY_OLD: "" }
      const cases: ReadonlyArray<readonly [RegExp, ReadonlyArray<string>, Readonly<Record<string, string>>?, string?]> =
        [
          [/^berth-watch: The account a0 is in the config/, add(0, ...good)],
          [/^berth-watch: The account a1 exists already\.$/, add(1, ...good)],
          [
            /^berth-watch: The account name is not usable\.$/,
            ["add", "_daemon", "--base-url", worlds[2]!.baseUrl, ...good]
          ],
          [
            /^berth-watch: The account name is not usable\.$/,
            ["add", "a/b\u001b", "--base-url", worlds[2]!.baseUrl, ...good]
          ],
          [/^berth-watch: --base-url is plain http, .* use https, or add --allow-http\.$/, at("http://192.0.2.1")],
          [/^berth-watch: --base-url is not usable: expected http/, at("ftp://example.com")],
          [/^berth-watch: --base-url is not usable: expected http/, at(`https://me:${apiKey}@example.com`)],
          [/^berth-watch: NONE is not set\.$/, add(2, "--api-key-env", "NONE", "--access-token-env", "TOKEN1")],
          [
            /^berth-watch: --api-key-env has to be the name of a variable/,
            add(2, "--api-key-env", `${apiKey}!`, "--access-token-env", "TOKEN1")
          ],
          [
            /^berth-watch: Variables that begin with BERTH_WATCH_ are the daemon's own\.$/,
            add(2, "--api-key-env", "BERTH_WATCH_SEAL_KEY", "--access-token-env", "TOKEN1", "--unchecked")
          ],
          [
            /^berth-watch: \/dev\/zero cannot be read\.$/,
            add(2, "--api-key-file", "/dev/zero", "--access-token-env", "TOKEN1")
          ],
          [/^berth-watch: \/none cannot be read\.$/, add(2, "--api-key-file", "/none", "--access-token-env", "TOKEN1")],
          [/^berth-watch: The account needs one of --access-token-env and/, add(2, "--api-key-env", "KEY1")],
          [/^berth-watch: The account needs one of --api-key-env and/, add(2)],
          [/^berth-watch: --sealed reads the credentials from stdin/, add(2, "--sealed", ...good)],
          [/^berth-watch: BERTH_WATCH_SEAL_KEY is not set\.$/, add(2, "--sealed"), noKey, `${apiKey}\n${accessToken}`],
          [
            /^berth-watch: BERTH_WATCH_SEAL_KEY has to be 32 bytes/,
            add(2, "--sealed"),
            { BERTH_WATCH_SEAL_KEY: apiKey }
          ],
          [/^berth-watch: stdin does not have an API key/, add(2, "--sealed"), {}, apiKey],
          [/^berth-watch: stdin does not have an API key/, add(2, "--sealed"), {}, `{"apiKey":"${apiKey}"}`],
          [
            /^berth-watch: stdin does not have an API key/,
            add(2, "--sealed"),
            {},
            `${apiKey.repeat(10_000)}\n${accessToken}`
          ],
          [/^berth-watch: The API key is not usable/, add(2, "--sealed"), {}, `${apiKey} ${apiKey}\n${accessToken}`],
          [/^berth-watch: The account a0 is in the config/, ["pause", "a0"]],
          [/^berth-watch: BERTH_WATCH_SEAL_KEY is not set\.$/, ["reseal"], noKey]
        ]
      for (const [message, args, own, input] of cases) {
        const { code, stderr, stdout } = yield* account(args, own, input)
        expect({ code, stdout, first: stderr[0] }).toEqual({
          code: 2,
          stdout: [],
          first: expect.stringMatching(message)
        })
        expect(stderr.length).toBeLessThanOrEqual(2)
      }
      const unknown = yield* account(["remove", "nobody"])
      expect(unknown.stderr[0]).toBe("berth-watch: There is no account of that name.")
      const inFile = yield* command(["account", "list", "--store", join(dirname(config), "watch.db")])
      expect([inFile.code, inFile.stderr[0]]).toEqual([2, "berth-watch: account works only with a PostgreSQL store."])
      expect((yield* account(["list", "-o", "text"])).stdout).toEqual([
        `account a1: active, ${worlds[1]!.baseUrl}, credentials KEY1 TOKEN1`
      ])
      // Without a config, the command asks the running daemons.
      const withoutConfig = ["account", ...add(0, ...good), "--store", Redacted.value(address)]
      expect((yield* command(withoutConfig, env)).stderr[0]).toMatch(/a0 is in the config/)

      // The credentials are sealed with a key that is then lost.
      const lost = { BERTH_WATCH_SEAL_KEY: Buffer.alloc(32, "lost").toString("base64") }
      expect((yield* account(add(2, "--sealed"), lost, `${apiKey}\n${accessToken}`)).code).toBe(0)
      const opened = yield* account(["reseal"])
      expect(opened).toMatchObject({
        code: 2,
        stderr: [
          "berth-watch: account a2: The credentials were sealed with a key that is in neither BERTH_WATCH_SEAL_KEY nor BERTH_WATCH_SEAL_KEY_OLD.",
          "berth-watch: The credentials of some accounts cannot be opened; they stay as they are."
        ]
      })
      yield* until(() => /account-refused \(a2\): .* sealed with a key that is in neither/.test(daemon.program.output))
      expect((yield* wait(() => daemon.program.kill("SIGTERM"))).code).toBe(0)

      expect((yield* command(withoutConfig, env)).code).toBe(0)
      const twice = yield* command(["run", "--config", config], env)
      expect(twice).toMatchObject({
        code: 2,
        stderr: [
          "berth-watch: The account a0 is in the config and also in the table of the store.",
          "Run berth-watch account remove a0."
        ]
      })
      expectNoSecrets(daemon.program.output)
    })
  )
})
