import { readFileSync, writeFileSync } from "node:fs"
import { TestServer } from "@berthkit/server/testing"
import { expect, layer } from "@effect/vitest"
import { Store } from "@berthkit/watch/store/Store"
import { Context, Effect, Layer, Random, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { inDialect } from "../account.ts"
import { Daemon } from "./Daemon.ts"
import { faltering, makeFleet } from "./faltering.ts"
import { command, until, wait } from "./Scene.ts"

const ask = (http: string | null, path: string): Promise<{ readonly status: number; readonly body: any }> =>
  fetch(`${http}${path}`).then(async (reply) => ({ status: reply.status, body: await reply.json() }))

layer(TestServer.layer(inDialect({ clock: "real" })), { excludeTestServices: true })(
  "several daemons on one store",
  (it) => {
    it.effect("keep the log of every account whole, whichever of them is killed, frozen, cut off or ended", () =>
      Effect.gen(function* () {
        const { events, taken, takeovers } = yield* faltering({
          accounts: 12,
          faults: ["freeze", "kill", "freeze", "cut", "freeze", "end"]
        })
        expect(events).toBeGreaterThan(100)
        expect(taken).toBeGreaterThanOrEqual(events / 2)
        expect(takeovers.length).toBe(5)
      }).pipe(Random.withSeed("fleet"))
    )

    it.effect("stand still without their server, say so, and go on when it is back", () =>
      Effect.gen(function* () {
        const { config, env, ops, postgres, worlds } = yield* makeFleet(4)
        const start = Daemon.start(["run", "--config", config, "--fast-interval", "200ms"], env)
        const daemons = [yield* start, yield* start]
        const [http, other] = yield* wait(() =>
          Promise.all(daemons.map((daemon) => daemon.ready().then((line) => line.http)))
        )
        const isWell = (each: string | null, query = "") =>
          Effect.map(
            wait(() => ask(each, `/readyz${query}`)),
            ({ status }) => status === 200
          )
        const wellAgain = Effect.gen(function* () {
          for (const each of [http!, other!])
            for (const query of ["", "?fleet"]) while (!(yield* isWell(each, query))) yield* Effect.sleep("100 millis")
        })
        yield* wellAgain
        const { body: accounts } = yield* wait(() => ask(http!, "/api/accounts"))
        expect(accounts.map(({ account }: any) => account)).toEqual(["a0", "a1", "a2", "a3"])
        // What a process shows about the others may be two seconds old.
        const owners = (each: string) =>
          Effect.map(
            wait(() => ask(each, "/api/accounts")),
            ({ body }) => body.map(({ owner }: any) => owner?.process ?? "nobody").join(" ")
          )
        const areAgreed = Effect.zipWith(
          owners(other!),
          owners(http!),
          (theirs, ours) => theirs === ours && !ours.includes("nobody")
        )
        while (!(yield* areAgreed)) yield* Effect.sleep("100 millis")

        yield* wait(() => postgres.stop("SIGQUIT"))
        for (const { program } of daemons) yield* until(() => program.printedOn.stderr.includes("store-failing"))
        expect(yield* isWell(http!)).toBe(false)
        const { control, id: world } = worlds[0]!
        const [node] = yield* Effect.orDie(control.nodes.list({ params: { world }, query: { count: 1 } }))
        const status = node!.status === "running" ? "power-off" : "running"
        yield* Effect.orDie(control.nodes.change({ params: { world, id: node!.id }, payload: { status } }))
        yield* wait(() => postgres.start())
        yield* until(() => ops.taken.some(({ subject, data }) => subject === `nodes/${node!.id}` && data.to === status))
        yield* wellAgain
        for (const { program } of daemons) {
          yield* until(() => /store-failing is over/.test(program.printedOn.stderr))
          expect(program.printedOn.stderr.match(/store-failing:/g)).toHaveLength(1)
          expect((yield* wait(() => program.kill("SIGTERM"))).code).toBe(0)
        }
      })
    )

    it.effect("know after a take-over what the one before them spent, and ask nothing in vain", () =>
      Effect.gen(function* () {
        const { address, config, env, worlds } = yield* makeFleet(1)
        const [world] = worlds
        const sharing = { ...env, BERTH_ALLOWANCE_FILE: "" }
        const refused = Effect.map(world!.journal, (journal) => journal.filter(({ status }) => status === 429).length)
        const first = yield* Daemon.start(["run", "--config", config], sharing)
        yield* wait(() => first.ready())
        // The new limit is lower than the number of requests that were already sent.
        while ((yield* world!.journal).length < 2) yield* Effect.sleep("100 millis")
        yield* Effect.orDie(
          world!.control.worlds.update({ params: { world: world!.id }, payload: { rateLimit: { limit: 1 } } })
        )
        while ((yield* refused) === 0) yield* Effect.sleep("100 millis")
        const sql = Context.get(yield* Layer.build(Store.layerServerReader(address)), SqlClient.SqlClient)
        // The table is made when the process first shares its allowance.
        const paused = Effect.orElseSucceed(
          sql`SELECT 1 FROM shared_allowance WHERE content NOT LIKE '%"pausedUntil":0,%'`,
          () => []
        )
        while ((yield* paused).length === 0) yield* Effect.sleep("100 millis")
        yield* wait(() => first.program.kill())
        const next = yield* Daemon.start(["run", "--config", config], sharing)
        const { http } = yield* wait(() => next.ready())
        /**
         * How long the process has owned the account. A process that knew nothing about the allowance would send a request within a second.
         */
        const hadMillis = Effect.map(
          wait(() => ask(http, "/api/status")),
          ({ body: { accounts, now } }) => {
            const [{ owner }] = accounts
            return owner?.isHere === true ? Date.parse(now) - Date.parse(owner.since) : 0
          }
        )
        while ((yield* hadMillis) < 6000) yield* Effect.sleep("100 millis")
        expect(yield* refused).toBe(1)
        expect(next.program.printedOn.stderr).not.toContain("Cannot share")
      })
    )

    it.effect("keep working while a later version changes the tables, and lose nothing when it takes over", () =>
      Effect.gen(function* () {
        const { address, config, env, ops, worlds } = yield* makeFleet(2)
        const start = Daemon.start(["run", "--config", config, "--fast-interval", "200ms"], env)
        const [first, second] = [yield* start, yield* start]
        for (const daemon of [first, second]) {
          const { http } = yield* wait(() => daemon.ready())
          while ((yield* wait(() => ask(http, "/readyz?fleet"))).status !== 200) yield* Effect.sleep("100 millis")
        }
        const sql = Context.get(yield* Layer.build(Store.layerServerReader(address)), SqlClient.SqlClient)
        const orDie = (statement: string) => Effect.orDie(sql.unsafe<Record<string, any>>(statement))

        /** Turns a node of an account on or off, and waits until this is reported. */
        const turn = Effect.fnUntraced(function* ({ control, id: world }: (typeof worlds)[number]) {
          const nodes = yield* Effect.orDie(control.nodes.list({ params: { world }, query: { count: 9 } }))
          const { id, status: from } = nodes.find(({ status }) => status === "running" || status === "power-off")!
          const to = from === "running" ? "power-off" : "running"
          const before = ops.taken.length
          yield* Effect.orDie(control.nodes.change({ params: { world, id }, payload: { status: to } }))
          const isReported = ({ data, subject }: (typeof ops.taken)[number]) =>
            subject === `nodes/${id}` && data.to === to
          yield* until(() => ops.taken.slice(before).some(isReported))
        })
        for (const world of worlds) yield* turn(world)
        yield* orDie("ALTER TABLE account ADD COLUMN later TEXT")
        yield* orDie(
          "INSERT INTO schema_version (migration_id, name) SELECT max(migration_id) + 1, 'later' FROM schema_version"
        )
        for (const world of worlds) yield* turn(world)

        const refused = yield* command(["run", "--config", config], env)
        expect(refused.code).toBe(2)
        expect(refused.stderr[0]).toMatch(/^berth-watch: The schema of the store is not that of this berth-watch/)
        // A process that knows these tables replaces it.
        expect((yield* wait(() => first.program.kill("SIGTERM"))).code).toBe(0)
        for (const world of worlds) yield* turn(world)
        yield* orDie("DELETE FROM schema_version WHERE name = 'later'")
        const third = yield* start
        yield* wait(() => third.ready())
        expect((yield* wait(() => second.program.kill("SIGTERM"))).code).toBe(0)
        for (const world of worlds) yield* turn(world)

        const log = yield* orDie("SELECT account, seq FROM event WHERE account <> '_daemon' ORDER BY account, seq")
        for (const [index, { account, seq }] of log.entries()) {
          const before = log[index - 1]
          expect(Number(seq)).toBe(before?.["account"] === account ? Number(before?.["seq"]) + 1 : 1)
        }
      })
    )

    it.effect("refuse a user of the database who may not take part", () =>
      Effect.gen(function* () {
        const { address, config, env } = yield* makeFleet(1)
        const first = yield* Daemon.start(["run", "--config", config], env)
        yield* wait(() => first.ready())
        const sql = Context.get(yield* Layer.build(Store.layerServerReader(address)), SqlClient.SqlClient)
        const orDie = (statement: string) => Effect.orDie(sql.unsafe(statement))
        yield* orDie("CREATE ROLE watch LOGIN PASSWORD 'only for tests'")
        yield* orDie("GRANT USAGE ON SCHEMA berth TO watch")
        yield* orDie("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA berth TO watch")
        const own = new URL(Redacted.value(address))
        own.username = "watch"
        const refused = yield* command(["run", "--config", config], { ...env, DATABASE_URL: own.href })
        expect(refused.code).toBe(2)
        expect(refused.stderr[0]).toMatch(/^berth-watch: The store refuses the user: .* or use their sequences\.$/)
        yield* orDie("GRANT USAGE ON ALL SEQUENCES IN SCHEMA berth TO watch")
        // This imitates a table that a later version has made.
        yield* orDie("REVOKE UPDATE ON berth.spend_day FROM watch")
        const lacking = yield* command(["run", "--config", config], { ...env, DATABASE_URL: own.href })
        expect(lacking.code).toBe(2)
        expect(lacking.stderr[0]).toMatch(/^berth-watch: The store refuses the user: .* for table spend_day\.$/)
        yield* orDie("GRANT UPDATE ON berth.spend_day TO watch")
        const taken = yield* Daemon.start(["run", "--config", config], { ...env, DATABASE_URL: own.href })
        yield* wait(() => taken.ready())
        expect((yield* wait(() => first.program.kill("SIGTERM"))).code).toBe(0)
        const pid = taken.program.child.pid
        const owner = Effect.map(
          Effect.orDie(sql<{ owner: string }>`SELECT owner FROM account WHERE name = 'a0'`),
          ([row]) => row!.owner
        )
        while (!(yield* owner).includes(`:${pid}:`)) yield* Effect.sleep("100 millis")
      })
    )

    it.effect("refuse one that watches other accounts, and are shown and changed by commands", () =>
      Effect.gen(function* () {
        const { config, env, ops } = yield* makeFleet(2)
        const daemon = yield* Daemon.start(["run", "--config", config], env)
        yield* wait(() => daemon.ready())
        const text = readFileSync(config, "utf8")
        writeFileSync(`${config}.less`, text.replace(/^ {2}- \{ name: a1.*\n/m, ""))
        const refused = yield* command(["run", "--config", `${config}.less`], env)
        expect(refused.code).toBe(2)
        expect(refused.stderr.join("\n")).toMatch(
          /^berth-watch: The processes on the store have different configs: .* has the account a1 at http:\/\/127\.0\.0\.1:\d+, and this one does not\.\nGive each/
        )
        // Another group of daemons that uses the same schema by mistake.
        writeFileSync(`${config}.other`, text.replace(/(name: a1, baseUrl: "http:\/\/)[^/"]+/, "$1127.0.0.1:1"))
        const other = yield* command(["run", "--config", `${config}.other`], env)
        expect([other.code, other.stderr[0]]).toEqual([
          2,
          expect.stringContaining(": this one has the account a1 at http://127.0.0.1:1, and ")
        ])

        writeFileSync(`${config}.more`, `${text}  - { name: log, stdout: {} }\n`)
        const alsoRefused = yield* command(["run", "--config", `${config}.more`], env)
        expect(alsoRefused.stderr[0]).toMatch(/: this one has the sink log, and .* does not\.$/)

        yield* until(() => ops.taken.filter(({ type }) => type === "berth.watch.baseline").length === 2)
        const status = JSON.parse((yield* command(["status", "--config", config, "-o", "json"], env)).stdout.join(""))
        expect(status.daemon).toMatchObject({
          pid: null,
          processes: [expect.stringContaining(`:${daemon.program.child.pid}:`)]
        })
        const shown = yield* command(["status", "--config", config, "-o", "text"], env)
        expect(shown.stdout.join("\n")).toMatch(
          new RegExp(`account a0: watching.*, watched by .*:${daemon.program.child.pid}:`)
        )
        expect(status.accounts).toMatchObject([
          { account: "a0", state: "watching" },
          { account: "a1", state: "watching" }
        ])
        const before = ops.taken.length
        expect((yield* command(["replay", "--sink", "ops", "--after", "", "--config", config], env)).code).toBe(0)
        yield* until(() => ops.taken.length >= before + 2)
        expect((yield* command(["backup", "/tmp/copy", "--config", config], env)).stderr[0]).toBe(
          "berth-watch: backup works only with a store in a file."
        )
        expect((yield* wait(() => daemon.program.kill("SIGTERM"))).code).toBe(0)
        const after = yield* command(["status", "--config", config, "-o", "text"], env)
        expect(after.stdout[0]).toMatch(/^No daemon runs\./)
      })
    )
  }
)
