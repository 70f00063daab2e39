import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { recordsOf } from "@berthkit/core/client/RecordFolder"
import type { Change } from "@berthkit/core/client/state/Change"
import { changeKind, writeChange } from "@berthkit/core/client/state/noteChanges"
import { type RecordStore, StateFailed } from "@berthkit/core/client/state/RecordStore"
import { describe, expect, it } from "@effect/vitest"
import { Console, Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeExplain } from "../../src/daemon/causes.ts"
import { aChange } from "../diff/aChange.ts"
import { aNode } from "../diff/aNode.ts"

const store = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "causes-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true }))
  ),
  (accounts) => recordsOf({ accounts, origin: "", id: "one", key: undefined })
)

const change = (over: Partial<Change>): string => writeChange(aChange({ outcome: "unknown", ...over }))

type Notes = Pick<RecordStore, "get" | "list" | "placeOf">

const placeOf: Notes["placeOf"] = (kind, key) => Effect.succeed(`${kind}/${key}`)

const gone = (id: number) => ({ before: aNode({ id, createdAt: null }), fromMillis: 0, toMillis: 1000 })

const commitment = (id: number, record: object) =>
  JSON.stringify({ version: 1, id, entry: null, open: null, ...record })

/** Runs an effect, and collects what it reports on stderr. */
const reporting = <A, E, R>(use: (lines: ReadonlyArray<string>) => Effect.Effect<A, E, R>) => {
  const lines: Array<string> = []
  const collecting = { ...globalThis.console, error: (line: string) => void lines.push(line) }
  return Effect.provideService(use(lines), Console.Console, collecting)
}

const away = new StateFailed({ detail: "it is away", code: null, path: null, hint: "Wait.", isLockLost: false })

describe("causes of deletions", () => {
  it.effect("come from the log of changes and the commitments of the account", () =>
    Effect.gen(function* () {
      const records = yield* store
      yield* records.append(changeKind, change({ node: 1 }), 99)
      yield* records.append(changeKind, change({ node: 2, lease: "run-1" }), 99)
      const entry = { setMillis: 0, setting: "auto_terminate", untilMillis: 0 }
      yield* records.put("commitment", "3", commitment(3, { entry }))
      yield* records.put("commitment", "4", commitment(4, { entry: { ...entry, setting: "auto_renew" } }))
      const open = { sentMillis: 0, setting: "auto_terminate" }
      yield* records.put("commitment", "5", commitment(5, { open }))
      const explained = yield* makeExplain("a", records)([1, 2, 3, 4, 5, 6].map(gone))
      expect(explained.map(({ cause }) => cause)).toEqual([
        "requested",
        "lease",
        "commitment",
        "unknown",
        "commitment",
        "unknown"
      ])
    }).pipe(Effect.scoped)
  )

  it.effect("of many nodes at once come from all commitments", () =>
    Effect.gen(function* () {
      const records = yield* store
      const entry = { setMillis: 0, setting: "auto_terminate", untilMillis: 0 }
      yield* records.put("commitment", "30", commitment(30, { entry }))
      const ids = Array.from({ length: 40 }, (_, index) => index + 1)
      const explained = yield* makeExplain("a", records)(ids.map(gone))
      expect(ids.filter((_, at) => explained[at]!.cause === "commitment")).toEqual([30])
    }).pipe(Effect.scoped)
  )

  it.effect("name the person who set a commitment long ago, but ignore a delete of long ago", () =>
    Effect.gen(function* () {
      const records = yield* store
      const day = 86_400_000
      yield* records.append(changeKind, change({ node: 1, action: "commitment", asked: "auto_terminate" }), 99)
      yield* records.append(changeKind, change({ node: 2, outcome: "deleted" }), 99)
      const entry = { setMillis: 0, setting: "auto_terminate", untilMillis: 0 }
      yield* records.put("commitment", "1", commitment(1, { entry }))
      yield* records.append(changeKind, change({ node: 3, action: "commitment", asked: "auto_terminate" }), 99)
      const goneLater = (id: number) => ({ ...gone(id), fromMillis: 3 * day, toMillis: 3 * day })
      const explained = yield* makeExplain("a", records)([1, 2, 3].map(goneLater))
      const bySetting = { cause: "commitment", causedBy: { user: "ann" } }
      expect(explained).toMatchObject([bySetting, { cause: "unknown" }, bySetting])
    }).pipe(Effect.scoped)
  )

  it.effect("are unknown without a store, and nothing is read without a deletion", () =>
    Effect.gen(function* () {
      expect(yield* makeExplain("a", undefined)([gone(1)])).toEqual([{ cause: "unknown", causedBy: null }])
      const unread: Notes = { placeOf, get: () => Effect.die("it was read"), list: () => Effect.die("it was read") }
      expect(yield* makeExplain("a", unread)([])).toEqual([])
    })
  )

  it.effect("are unknown while the store fails, with one warning, and it is asked again only after a pause", () =>
    reporting((lines) =>
      Effect.gen(function* () {
        let reads = 0
        let isAway = true
        const records: Notes = {
          placeOf,
          get: () => Effect.succeedNone,
          list: (kind) =>
            Effect.suspend(() => {
              reads += 1
              if (isAway) return Effect.fail(away)
              return Effect.succeed(kind === changeKind ? [{ key: "1", value: change({ node: 1 }) }] : [])
            })
        }
        const explain = makeExplain("acme", records)
        const causeOf = Effect.map(explain([gone(1)]), ([first]) => first!.cause)
        expect(yield* causeOf).toBe("unknown")
        const asked = reads
        expect(yield* causeOf).toBe("unknown")
        expect(reads).toBe(asked)
        yield* TestClock.adjust("31 seconds")
        expect(yield* causeOf).toBe("unknown")
        expect(reads).toBeGreaterThan(asked)
        expect(lines).toEqual(["berth-watch: account acme: What berth changed cannot be read: it is away. Wait."])
        isAway = false
        yield* TestClock.adjust("31 seconds")
        expect(yield* causeOf).toBe("requested")
        isAway = true
        expect(yield* causeOf).toBe("unknown")
        expect(lines).toHaveLength(2)
      })
    )
  )

  it.effect("are unknown where the store does not answer", () =>
    reporting((lines) =>
      Effect.gen(function* () {
        const silent: Notes = { placeOf, get: () => Effect.never, list: () => Effect.never }
        const asking = yield* Effect.forkChild(makeExplain("a", silent)([gone(1)]), { startImmediately: true })
        yield* TestClock.adjust("3 seconds")
        expect(asking.pollUnsafe()).toMatchObject({ value: [{ cause: "unknown" }] })
        expect(lines).toEqual([
          "berth-watch: account a: What berth changed cannot be read: no answer within 3 seconds."
        ])
      })
    )
  )

  it.effect("of other nodes are known despite a damaged entry, which is reported once", () =>
    reporting((lines) =>
      Effect.gen(function* () {
        const records = yield* store
        const key = yield* records.append(changeKind, change({ node: 1 }), 99)
        const folder = join(yield* records.placeOf(changeKind, key), "..")
        writeFileSync(join(folder, "9.json"), change({ node: 2 }).slice(0, 20))
        mkdirSync(join(folder, "8.json"))
        yield* records.put("commitment", "2", "damaged")
        const explain = makeExplain("a", records)
        expect((yield* explain([gone(1)]))[0]!.cause).toBe("requested")
        expect(lines).toEqual([])
        for (const _ of [1, 2]) {
          const both = yield* explain([gone(1), gone(2)])
          expect(both.map(({ cause }) => cause)).toEqual(["requested", "unknown"])
        }
        expect(lines).toEqual([
          `berth-watch: account a: What berth changed cannot be read: ${join(folder, "8.json")} is damaged.`
        ])
      }).pipe(Effect.scoped)
    )
  )

  it.effect("are unknown where the folder cannot be read", () =>
    reporting((lines) =>
      Effect.gen(function* () {
        const records = yield* store
        const key = yield* records.append(changeKind, change({ node: 1 }), 99)
        const folder = join(yield* records.placeOf(changeKind, key), "..")
        rmSync(folder, { recursive: true })
        writeFileSync(folder, "")
        expect((yield* makeExplain("a", records)([gone(1)]))[0]!.cause).toBe("unknown")
        expect(lines).toHaveLength(1)
      }).pipe(Effect.scoped)
    )
  )
})
