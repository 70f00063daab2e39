/** `berth-watch silence` on a store without a running daemon, and what other commands show about silences. */
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { Store } from "@berthkit/watch/store/Store"
import { Effect } from "effect"
import { Daemon } from "./Daemon.ts"
import { folder } from "./Scene.ts"

const run = (store: string, ...args: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    await using daemon = new Daemon(args, { BERTH_WATCH_STORE: store })
    return await daemon.finished()
  })

const reason = ["--reason", "new disks"]

describe("the commands about silences", () => {
  it.live("add, list and end them, and show what they hold", () =>
    Effect.gen(function* () {
      const store = join(yield* folder, "watch.db")
      const added = yield* run(store, "silence", "add", "--nodes", "web-*", "--nodes", "db-1", "--for", "2h", ...reason)
      expect(added).toMatchObject({ code: 0, stderr: [] })
      const silence = JSON.parse(added.stdout[0]!)
      expect(silence).toMatchObject({ nodes: ["web-*", "db-1"], state: "active", reason: "new disks", held: 0 })
      // Makes the state in the store that a sink leaves after it has read an event of such a node.
      yield* Effect.gen(function* () {
        const { claim, commit, meet, take } = yield* Store
        const { owner } = yield* claim("eu")
        const version = "1"
        const identity = { nodeId: null, incarnation: null, life: null, version }
        const data = { sink: "a", reason: "gone", message: "410" } as const
        const fact = { type: "berth.sink.disabled", data, identity, atMillis: 1000 } as const
        const [event] = yield* commit(owner, { events: [fact, { ...fact, identity: { ...identity, version: "2" } }] })
        yield* meet("ops")
        const key = { account: "eu", seq: 1, node: 7 }
        const { body, id } = event!
        const held = [{ ...key, id, attempt: 0, dueMillis: 0, held: null, body }]
        const events = [{ ...key, id, silence: silence.id, outcome: "held" }] as const
        yield* take({
          sink: "ops",
          after: null,
          account: "eu",
          seq: 2,
          deliveries: [],
          dropped: [],
          silenced: { held, events }
        })
      }).pipe(Effect.provide(Store.layerFile(store)), Effect.scoped)

      const window = ["--account", "eu", "--sink", "ops", "--from", "2h", "--for", "1h"]
      const planned = yield* run(store, "silence", "add", ...window, ...reason, "--then", "drop", "-o", "text")
      expect(planned.stdout).toEqual([
        expect.stringMatching(
          /^silence \w+: planned from \S+Z until \S+Z, accounts eu, sinks ops, 0 events held, 0 events dropped: new disks$/
        )
      ])
      const listed = yield* run(store, "silence", "list")
      expect(listed.stdout.map((line) => JSON.parse(line))).toMatchObject([
        { id: silence.id, held: 1, state: "active" },
        { accounts: ["eu"], sinks: ["ops"], state: "planned", then: "drop" }
      ])
      const status = yield* run(store, "status", "-o", "text")
      expect(status.stdout).toContain(
        "sink ops (not configured): up, lag 0, waiting 0, dead letters 0, held by silences 1"
      )
      expect(status.stdout).toContain(
        `silence ${silence.id}: active until ${silence.until}, nodes web-* db-1, 1 event held: new disks`
      )
      const json = JSON.parse((yield* run(store, "status", "-o", "json")).stdout.join("\n"))
      expect(json).toMatchObject({ sinks: [{ silenced: 1, waiting: 0 }], silences: [{ id: silence.id }, {}] })
      const covered = yield* run(store, "events", "--silenced", silence.id)
      expect(covered.stdout.map((line) => JSON.parse(line).sequence)).toEqual(["0000000000000001"])

      const ended = yield* run(store, "silence", "end", silence.id, "--then", "drop")
      expect(JSON.parse(ended.stdout[0]!)).toMatchObject({ id: silence.id, state: "over", then: "drop", held: 1 })
      expect(yield* run(store, "silence", "end", silence.id)).toMatchObject({
        code: 2,
        stderr: [`berth-watch: The silence ${silence.id} is over already.`]
      })
      expect((yield* run(store, "silence", "end", "none")).code).toBe(4)
      expect((yield* run(store, "events", "--silenced", "none")).code).toBe(4)
    })
  )

  it.live("refuse what cannot be meant", () =>
    Effect.gen(function* () {
      const store = join(yield* folder, "watch.db")
      const refused = (...args: ReadonlyArray<string>) =>
        Effect.map(run(store, "silence", "add", ...args), ({ code, stderr }) => [code, stderr[0]])
      const nodes = ["--nodes", "*"]
      const noEnd = "berth-watch: A silence needs an end: add --for DURATION or --until TIME."
      expect(yield* refused(...nodes, ...reason)).toEqual([2, noEnd])
      expect(yield* refused(...nodes, ...reason, "--for", "1h", "--until", "2h")).toEqual([2, noEnd])
      expect(yield* refused(...nodes, ...reason, "--for", "soon")).toEqual([
        2,
        "berth-watch: --for cannot be soon: expected a duration, such as 90s, 5m or 1h30m."
      ])
      expect(yield* refused(...nodes, ...reason, "--until", "soon")).toEqual([
        2,
        "berth-watch: --until cannot be soon: expected an instant that exists, with its offset, such as 2026-03-01T10:20:30Z or 2026-03-01T10:20+05:30, or a duration, such as 2h."
      ])
      expect(yield* refused(...nodes, ...reason, "--until", "2001-01-01T00:00Z")).toEqual([
        2,
        "berth-watch: A silence cannot end in the past."
      ])
      expect(yield* refused(...reason, "--for", "1h")).toEqual([
        2,
        "berth-watch: A silence needs nodes or accounts: the pattern * covers every node."
      ])
      const [code, message] = yield* refused(...nodes, "--for", "1h")
      expect([code, message]).toEqual([2, expect.stringContaining("--reason")])
    })
  )
})
