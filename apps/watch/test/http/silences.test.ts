/**
 * Silences over HTTP, of a daemon with a real store.
 */
import { PassThrough } from "node:stream"
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { Sinks } from "../../src/deliver/Sinks.ts"
import { Stdout } from "../../src/deliver/Stdout.ts"
import { serve } from "../../src/http/HttpInterface.ts"
import { storeDaemon } from "../../src/http/storeDaemon.ts"
import { stdoutSink } from "../../src/settings/storeSettings.ts"
import { defaultRetention } from "../../src/store/retention.ts"
import { Store } from "../../src/store/Store.ts"
import { Progress } from "../../src/telemetry/Progress.ts"
import { Troubles } from "../../src/troubles/Troubles.ts"
import { created } from "../store/facts.ts"
import { ask } from "./http.ts"
import { memoryStore as store } from "../store/memory.ts"

const ops = { ...stdoutSink, name: "ops" }

const daemon = storeDaemon([ops]).pipe(
  Layer.provideMerge(Troubles.layer(defaultRetention)),
  Layer.provideMerge(Layer.provide(Sinks.layer([ops], []), Stdout.layerOf(new PassThrough().resume()))),
  Layer.provideMerge(Layer.mergeAll(store, Progress.layer(["acme"])))
)

const started = Effect.gen(function* () {
  const url = yield* serve({ host: "127.0.0.1", port: 0 })
  yield* Effect.forkScoped((yield* Sinks).run)
  const post = (path: string, body: unknown) => ask(`${url}${path}`, { method: "POST", body })
  return { url, post, get: (path: string) => Effect.map(ask(`${url}${path}`), ({ json }) => json) }
})

const inOneHour = Effect.map(DateTime.now, (now) => DateTime.formatIso(DateTime.add(now, { hours: 1 })))

describe("silences over HTTP", () => {
  it.live("are added, hold events, show it everywhere, and end", () =>
    Effect.gen(function* () {
      const { claim, commit } = yield* Store
      const { get, post, url } = yield* started
      const { owner } = yield* claim("acme")
      expect(yield* get("/api/silences")).toEqual({ silences: [] })
      const until = yield* inOneHour
      const added = yield* post("/api/silences", { nodes: ["node-1"], until, reason: "new disks" })
      expect(added).toMatchObject({
        status: 200,
        json: {
          id: expect.stringMatching(/^[0-9a-f]{12}$/),
          nodes: ["node-1"],
          accounts: [],
          sinks: [],
          from: expect.stringMatching(/^\d{4}-.*Z$/),
          until,
          reason: "new disks",
          then: "deliver",
          state: "active",
          held: 0,
          dropped: 0
        }
      })
      const { id } = added.json
      const now = DateTime.toEpochMillis(yield* DateTime.now)
      yield* commit(owner, { events: [created(1, now), created(2, now)] })
      const isHeld = (silences: ReadonlyArray<{ readonly held: number }>) => silences[0]?.held === 1
      yield* Effect.repeat(get("/api/silences"), { until: ({ silences }) => isHeld(silences) })
      const status = yield* get("/api/status")
      expect(status.silences).toMatchObject([{ id, state: "active", held: 1 }])
      expect(status.sinks).toMatchObject([{ sink: "ops", lag: 0, silenced: 1 }])
      const { text } = yield* ask(`${url}/metrics`)
      expect(text).toContain('berth_silences{state="active"} 1\n')
      expect(text).toContain('berth_silences{state="over"} 0\n')
      expect(text).toContain('berth_silenced_events{sink="ops"} 1\n')
      // The log has all events, and so does a client that follows it.
      expect((yield* get("/api/events")).events).toHaveLength(2)
      const covered = yield* get(`/api/events?after=&silence=${id}`)
      expect(covered.events.map(({ event }: any) => event.subject)).toEqual(["nodes/1"])
      expect((yield* ask(`${url}/api/events?silence=none`)).status).toBe(404)

      const ended = yield* post(`/api/silences/${id}/end`, { then: "drop" })
      expect(ended).toMatchObject({ status: 200, json: { id, then: "drop", state: "over" } })
      const dropped = yield* Effect.repeat(get("/api/silences"), {
        until: ({ silences }) => silences[0].dropped === 1
      })
      expect(dropped.silences).toMatchObject([{ id, held: 0, state: "over" }])
      expect((yield* get("/api/status")).silences).toEqual([])
      expect((yield* ask(`${url}/metrics`)).text).toMatch(/berth_silence_dropped_events_total\{sink="ops"\} \d/)
      expect((yield* post(`/api/silences/${id}/end`, {})).json).toEqual({
        status: 400,
        message: `The silence ${id} is over already.`
      })
      expect((yield* post("/api/silences/none/end", {})).json).toEqual({
        status: 404,
        message: "There is no silence none."
      })
    }).pipe(Effect.provide(daemon))
  )

  it.live("may be planned and cancelled; bad ones are refused in a sentence", () =>
    Effect.gen(function* () {
      const { post } = yield* started
      const later = yield* inOneHour
      const until = DateTime.formatIso(DateTime.add(DateTime.makeUnsafe(later), { hours: 1 }))
      const planned = yield* post("/api/silences", {
        accounts: ["acme"],
        sinks: ["ops"],
        from: later,
        until,
        reason: "move",
        then: "drop"
      })
      expect(planned.json).toMatchObject({ state: "planned", from: later, until, then: "drop" })
      expect((yield* post(`/api/silences/${planned.json.id}/end`, {})).json).toMatchObject({ state: "over" })
      const refused = (body: unknown) => Effect.map(post("/api/silences", body), ({ json }) => json)
      const fine = { nodes: ["*"], until, reason: "move" }
      for (const wrong of ["01/12/2026", "2026-02-30T10:00:00Z", "tomorrow"]) {
        expect((yield* post("/api/silences", { ...fine, until: wrong })).status).toBe(400)
      }
      expect(yield* refused({ ...fine, accounts: ["other"] })).toEqual({
        status: 400,
        message: "There is no account other. There is acme."
      })
      expect(yield* refused({ ...fine, reason: "" })).toEqual({ status: 400, message: "A silence needs a reason." })
      expect(yield* refused({ nodes: ["*"], until })).toMatchObject({
        status: 400,
        message: expect.stringContaining("reason")
      })
      expect(yield* refused({ ...fine, until: "soon" })).toMatchObject({
        status: 400,
        message: expect.stringContaining("until")
      })
    }).pipe(Effect.provide(daemon))
  )
})
