/** Limits on what a world keeps apart from its nodes, for requests and snapshots alike. */
import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { listen } from "../../src/listen.ts"
import { TestServer } from "../../src/testing.ts"
import { maxSlidingLimit } from "../../src/world/allowance.ts"
import { defaultTimeouts } from "../../src/transport/limits.ts"
import { populate } from "../../src/world/scenario.ts"
import * as World from "../../src/world/World.ts"
import { Worlds } from "../../src/world/Worlds.ts"
import { defaults } from "../../src/world/WorldSettings.ts"
import { maxSavedImages } from "../../src/world/savedImages.ts"
import { callAs, errorsOf } from "../http/service.ts"
import { control, controlAt } from "./plane.ts"

const snapshotOf = (id: string) => Effect.map(control("GET", `/${id}/snapshot`), ({ json }) => json)

layer(TestServer.layer())("a world", (it) => {
  describe("with as many saved images as it may have", () => {
    it.effect("takes no further one, by a request or a snapshot", () =>
      Effect.gen(function* () {
        const world = yield* Effect.flatMap(TestServer, ({ makeWorld }) => makeWorld({ scenario: "small" }))
        const snapshot = yield* snapshotOf(world.id)
        const imagesOf = (count: number) =>
          Array.from({ length: count }, (_, index) => ({ ...snapshot.savedImages[0], id: index + 1 }))
        const put = (count: number) =>
          control("PUT", `/${world.id}/snapshot`, { ...snapshot, savedImages: imagesOf(count) })
        const refused = yield* put(maxSavedImages + 1)
        expect(errorsOf(refused, 422)).toEqual({ savedImages: [`There are more than ${maxSavedImages}.`] })
        expect((yield* snapshotOf(world.id)).savedImages).toEqual(snapshot.savedImages)
        expect((yield* put(maxSavedImages - 1)).json.savedImages).toBe(maxSavedImages - 1)
        const save = control("POST", `/${world.id}/saved-images`, { name: "golden" })
        expect((yield* save).status).toBe(201)
        const full = yield* save
        errorsOf(full, 409)
        expect(full.json.message).toBe(`The world has ${maxSavedImages} saved images already.`)
        const { json } = yield* callAs(world, "GET", "/images/", { query: { image_type: "private" } })
        expect(json.data.length).toBe(maxSavedImages)
        expect((yield* snapshotOf(world.id)).savedImages.length).toBe(maxSavedImages)
      })
    )
  })

  describe("with a sliding window", () => {
    const rateLimit = { limit: maxSlidingLimit, algorithm: "sliding-window" }

    it.effect("has a limit that is bounded, because the instant of each request is kept", () =>
      Effect.gen(function* () {
        const refused = yield* control("POST", "/worlds", { rateLimit: { ...rateLimit, limit: maxSlidingLimit + 1 } })
        expect(errorsOf(refused, 422)).toEqual({ rateLimit: ["a sliding window has a limit of at most 100000."] })
        const { id } = (yield* control("POST", "/worlds", { clock: "frozen", rateLimit })).json
        const snapshot = yield* snapshotOf(id)
        const settings = { ...snapshot.settings.rateLimit, limit: maxSlidingLimit + 1 }
        const larger = { ...snapshot, settings: { ...snapshot.settings, rateLimit: settings } }
        expect(Object.keys(errorsOf(yield* control("PUT", `/${id}/snapshot`, larger), 422))).toEqual([
          "settings.rateLimit"
        ])
        const put = (count: number) =>
          control("PUT", `/${id}/snapshot`, {
            ...snapshot,
            allowance: { ...snapshot.allowance, grants: Array(count).fill(snapshot.latest) }
          })
        expect(Object.keys(errorsOf(yield* put(maxSlidingLimit + 1), 422))).toEqual(["allowance.grants"])
        expect((yield* put(maxSlidingLimit)).json.allowance).toMatchObject({ limit: maxSlidingLimit, remaining: 0 })
        expect((yield* snapshotOf(id)).allowance.grants.length).toBe(maxSlidingLimit)
      })
    )
  })
})

const fleetOf = (nodes: number, id?: string, account = defaults.account) => {
  const world = World.make({ ...defaults, account, clock: "frozen" }, 0, id)
  populate(world, { fleet: nodes })
  return world
}

describe("worlds that may have ten nodes together", () => {
  const tooMany = (present: number, more: number) => ({ _tag: "TooManyNodes", limit: 10, present, more })
  const makeWorlds = (nodes: number) => new Worlds(fleetOf(nodes), [], 0, 10)

  it("are as many as before where one would be added beyond them", () => {
    const worlds = makeWorlds(6)
    const add = (nodes: number) => worlds.add({}, (id, account) => fleetOf(nodes, id, account))
    expect(add(5)).toEqual(Result.fail(tooMany(6, 5)))
    expect([worlds.size, worlds.made]).toEqual([1, 0])
    expect(Result.getOrThrow(add(4)).id).toBe("w1")
  })

  it.effect("take no snapshot beyond them, and do not make its world first", () =>
    Effect.gen(function* () {
      const options = {
        host: "127.0.0.1",
        port: 0,
        checkReplies: true,
        timeouts: { ...defaultTimeouts, drainMillis: 0 }
      }
      const { url: baseUrl } = yield* listen(makeWorlds(10), options)
      const snapshot = (yield* controlAt({ baseUrl }, "GET", "/default/snapshot")).json
      const last = { ...snapshot.nodes[9], id: snapshot.nextNodeId, plan: "none" }
      const put = (nodes: ReadonlyArray<unknown>) =>
        controlAt({ baseUrl }, "PUT", "/default/snapshot", { ...snapshot, nodes, nextNodeId: snapshot.nextNodeId + 1 })
      errorsOf(yield* put([...snapshot.nodes.slice(1), last]), 422)
      expect(Object.keys(errorsOf(yield* put([...snapshot.nodes, last]), 409))).toEqual(["nodes"])
      expect((yield* put(snapshot.nodes)).status).toBe(200)
    })
  )
})
