import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Option } from "effect"
import { TestClock } from "effect/testing"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { recordsOf } from "../../src/client/RecordFolder.ts"
import { makeAccount } from "../../src/client/creation/IntentFolder.ts"
import { goOnIn, type IntentPlace } from "../../src/client/creation/IntentPlace.ts"
import { recordContract } from "./state/recordContract.ts"

const [one, two] = ["1".repeat(32), "2".repeat(32)] as const

const accountsFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-records-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const placeIn = (accounts: string, id: string = one): IntentPlace => ({
  accounts,
  origin: "https://service.test",
  id,
  key: undefined
})

recordContract("a folder", (count) =>
  Effect.map(accountsFolder, (accounts) => Array.from({ length: count }, () => recordsOf(placeIn(accounts))))
)

describe("the records of an account", () => {
  it.effect("have an empty value where their file cannot be read", () =>
    Effect.gen(function* () {
      const place = placeIn(yield* accountsFolder)
      const { list, put } = recordsOf(place)
      yield* put("lease", "whole", "{}")
      mkdirSync(join(place.accounts, one, "records/lease/folder.json"))
      assert.deepStrictEqual(yield* list("lease"), [
        { key: "folder", value: "" },
        { key: "whole", value: "{}" }
      ])
    }).pipe(Effect.scoped)
  )

  it.effect("are appended behind all others whatever the clock says, and the first ones go", () =>
    Effect.gen(function* () {
      const { append, list } = recordsOf(placeIn(yield* accountsFolder))
      yield* TestClock.setTime(9_000)
      yield* append("change", "1", 3)
      yield* append("change", "2", 3)
      yield* TestClock.setTime(1_000)
      yield* append("change", "3", 3)
      const last = yield* append("change", "4", 3)
      const listed = yield* list("change")
      assert.deepStrictEqual(
        listed.map(({ value }) => value),
        ["2", "3", "4"]
      )
      assert.strictEqual(listed[2]!.key, last)
    }).pipe(Effect.scoped)
  )

  it.effect(
    "about nodes are the same for all API keys of a service and place, and those of the account are found elsewhere",
    () =>
      Effect.gen(function* () {
        const accounts = yield* accountsFolder
        const [first, second] = [recordsOf(placeIn(accounts, one)), recordsOf(placeIn(accounts, two))]
        yield* first.put("commitment", "7", "shared")
        yield* first.put("lease", "run-1", "own")
        assert.deepStrictEqual(yield* second.get("commitment", "7"), Option.some("shared"))
        assert.deepStrictEqual(yield* second.list("lease"), [])
        assert.deepStrictEqual(yield* second.elsewhere("lease"), [{ key: "run-1", value: "own" }])
        const other = recordsOf({ ...placeIn(accounts, two), origin: "https://other.test" })
        assert.deepStrictEqual(yield* other.list("commitment"), [])
      }).pipe(Effect.scoped)
  )

  it.live("move along when the account continues in another account, which keeps its own records", () =>
    Effect.gen(function* () {
      const accounts = yield* accountsFolder
      const [before, after] = [placeIn(accounts, one), placeIn(accounts, two)]
      yield* makeAccount(before).find("job")
      yield* recordsOf(before).put("proposal", "p1", "own")
      yield* recordsOf(after).put("proposal", "p1", "lost")
      yield* recordsOf(after).put("lease", "run-1", "carried")
      assert.isTrue(yield* goOnIn(after, before))
      const { get } = recordsOf(after)
      assert.deepStrictEqual(yield* get("proposal", "p1"), Option.some("own"))
      assert.deepStrictEqual(yield* get("lease", "run-1"), Option.some("carried"))
    }).pipe(Effect.scoped)
  )

  it.effect("are refused next to files of an earlier version, and the error names these files", () =>
    Effect.gen(function* () {
      for (const name of ["leases", "proposals", "commitments.json", "fleets.json"]) {
        const accounts = yield* accountsFolder
        mkdirSync(join(accounts, one), { mode: 0o700 })
        if (name.endsWith(".json")) writeFileSync(join(accounts, one, name), "{}")
        else mkdirSync(join(accounts, one, name))
        const { list, put } = recordsOf(placeIn(accounts))
        const refused = yield* Effect.flip(put("lease", "run-1", "{}"))
        const path = join(accounts, one, name)
        assert.deepInclude(refused, { path, isLockLost: false, hint: "See: berth doctor" })
        assert.include(refused.message, `${path} was written by an earlier version of berth`)
        assert.isTrue(Exit.isFailure(yield* Effect.exit(list("lease"))))
      }
    }).pipe(Effect.scoped)
  )

  it.live("are not written under a lock that was lost", () =>
    Effect.gen(function* () {
      const place = placeIn(yield* accountsFolder)
      const { get, put, remove, withLock } = recordsOf(place)
      yield* put("lease", "run-1", "before")
      const failures = yield* withLock("lease.run-1")((lock) =>
        Effect.gen(function* () {
          yield* put("lease", "run-1", "first", lock)
          const locks = join(place.accounts, one, "records/_locks/lease.run-1.lock")
          const [token] = readdirSync(locks)
          rmSync(join(locks, token!))
          return [
            yield* Effect.flip(put("lease", "run-1", "second", lock)),
            yield* Effect.flip(remove("lease", "run-1", lock))
          ]
        })
      )
      assert.deepStrictEqual(
        failures.map(({ isLockLost }) => isLockLost),
        [true, true]
      )
      assert.deepStrictEqual(yield* get("lease", "run-1"), Option.some("first"))
    }).pipe(Effect.scoped)
  )
})
