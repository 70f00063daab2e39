/** A program that gets its promises from an Effect runtime and keeps its keys in a database. */
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { TestServer } from "@berthkit/server/testing"
import { Postgres } from "@berthkit/testing/Postgres"
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { berth } from "../cli/berth.ts"
import { stateFolder } from "../cli/stateFolder.ts"

it.live("a program with promises and berth make one node per key, through a database", () =>
  Effect.gen(function* () {
    const { accessToken, apiKey, baseUrl } = yield* TestServer
    const postgres = yield* Postgres.scoped()
    const env = { XDG_STATE_HOME: yield* stateFolder, BERTH_STATE_URL: postgres.url() }
    const migrated = yield* berth(["state", "migrate"], { env })
    assert.strictEqual(migrated.code, 0, migrated.stderr)

    const { stdout } = yield* Effect.promise(() =>
      promisify(execFile)(process.execPath, ["tests/repository/fragments/sharedState.ts"], {
        env: {
          BERTH_BASE_URL: baseUrl,
          BERTH_API_KEY: Redacted.value(apiKey),
          BERTH_ACCESS_TOKEN: Redacted.value(accessToken),
          BERTH_STATE_URL: postgres.url()
        }
      })
    )

    const args = ["node", "create", "web", "--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04"]
    const again = yield* berth([...args, "--key", "order-7", "--yes", "-o", "id"], { env })
    assert.deepStrictEqual([again.code, again.stdout], [0, stdout], again.stderr)
  }).pipe(Effect.scoped, Effect.provide(TestServer.layer({ clock: "real" })))
)
