import * as SqliteClient from "@berthkit/sql-sqlite/SqliteClient"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { makeOwnership } from "../../src/store/ownership.ts"

it.effect("an account stays owned when the reply to an older claim comes last, and that claim is given up", () =>
  Effect.gen(function* () {
    const { epochOf, note, release } = makeOwnership(yield* SqlClient.SqlClient)
    const claimed = (epoch: number) => ({ account: "eu", accountId: "id", epoch })
    note(claimed(5))
    note(claimed(4))
    assert.strictEqual(epochOf("eu"), 5)
    release(claimed(4))
    assert.strictEqual(epochOf("eu"), 5)
    release(claimed(5))
    assert.isNull(epochOf("eu"))
  }).pipe(Effect.provide(Layer.orDie(SqliteClient.layer({ filename: ":memory:" }))))
)
