import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer, type TestWorld } from "../../src/testing.ts"
import { ask, create, list } from "./client.ts"

const params = (world: TestWorld) => ({ params: { world: world.id } })

/** The replies of a world while its faults act. */
const goOn = (world: TestWorld) =>
  Effect.gen(function* () {
    const lists = yield* Effect.forEach(Array.from({ length: 20 }), () => list(world))
    const reborn = yield* create(world, "reborn")
    return { statuses: lists.map(({ status }) => status), texts: lists.map(({ text }) => text), reborn: reborn.json }
  })

it.effect("a snapshot contains the armed faults, their counts, and the deleted nodes", () =>
  Effect.gen(function* () {
    const { makeWorld } = yield* TestServer
    const world = yield* makeWorld({ scenario: "small" })
    yield* world.arm([
      { fault: "status", status: 502, times: 6, until: "1 day", scope: { operation: "nodes.list" } },
      { fault: "status", status: 500, probability: 0.5, after: 3, scope: { operation: "nodes.list" } },
      { fault: "field-missing", probability: 0.5, scope: { operation: "nodes.list" } },
      { fault: "id-reuse", scope: { node: "reborn" } }
    ])
    const { id } = (yield* create(world)).json.data
    yield* ask(world, "DELETE", `/nodes/${id}/`)
    yield* world.advance("2 seconds")
    yield* Effect.forEach(Array.from({ length: 4 }), () => list(world))
    const { control } = world
    const snapshot = yield* Effect.orDie(control.worlds.snapshot(params(world)))
    const twin = yield* makeWorld()
    yield* Effect.orDie(control.worlds.restore({ ...params(twin), payload: snapshot }))
    const [expected, found] = [yield* goOn(world), yield* goOn(twin)]
    expect(found).toEqual(expected)
    expect(expected.statuses.indexOf(502)).toBe(0)
    expect(expected.statuses.lastIndexOf(502)).toBe(1)
    expect(new Set(expected.statuses)).toEqual(new Set([200, 500, 502]))
    expect(expected.reborn.data.id).toBe(id)
    const armed = (one: TestWorld) => Effect.orDie(control.faults.read(one === world ? params(world) : params(twin)))
    expect(yield* armed(twin)).toEqual(yield* armed(world))
  }).pipe(Effect.provide(TestServer.layer()))
)

it.effect("a snapshot arms no more header patterns than a client may, and their names in any case", () =>
  Effect.gen(function* () {
    const { makeWorld } = yield* TestServer
    const world = yield* makeWorld()
    yield* world.arm([{ fault: "status", status: 418, scope: { header: { "X-Test": "a*" } } }])
    const { control } = world
    const snapshot = yield* Effect.orDie(control.worlds.snapshot(params(world)))
    const [one] = snapshot.faults
    const withHeader = (count: number, header: Readonly<Record<string, string>>) => ({
      ...snapshot,
      faults: Array.from({ length: count }, () => ({ ...one!, fault: { ...one!.fault, scope: { header } } }))
    })
    yield* Effect.orDie(control.worlds.restore({ ...params(world), payload: withHeader(1, { "X-Other": "b*" }) }))
    expect((yield* ask(world, "GET", "/nodes/", { headers: { "x-other": "bc" } })).status).toBe(418)
    const tooMany = withHeader(8, { x: `*${"a".repeat(1023)}` })
    const refused = yield* Effect.flip(control.worlds.restore({ ...params(world), payload: tooMany }))
    expect(JSON.stringify(refused)).toContain("patterns of headers")
  }).pipe(Effect.provide(TestServer.layer()))
)
