import { TestServer } from "@berth/server/testing"
import { Store } from "@berth/watch/store/Store"
import { expect, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Daemon } from "./Daemon.ts"
import { makeFleet } from "./faltering.ts"
import { command, wait } from "./Scene.ts"

layer(TestServer.layer({ clock: "real" }), { excludeTestServices: true })(
  "a store that an administrator prepares",
  (it) => {
    it.effect("is run on by a role that has the rights which migrate prints", () =>
      Effect.gen(function* () {
        const { address, config, env } = yield* makeFleet(1)
        const unprepared = yield* command(["status", "--config", config], env)
        expect(unprepared).toMatchObject({
          code: 2,
          stderr: [expect.stringMatching(/lacks tables of this version/), expect.stringMatching(/berth-watch migrate/)]
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
          expect(refused.stderr[0]).toMatch(/^berth-watch: The store was made by a newer berth-watch: .*version 999/)
        }
      })
    )
  }
)
