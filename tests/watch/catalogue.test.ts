/** The images and plans of an account, read in addition to its nodes, in virtual time against the mock. */
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { RawApi } from "@berthkit/core/client/RawApi"
import { TestServer } from "@berthkit/server/testing"
import { hourly } from "@berthkit/watch/observe/RequestShare"
import { polling } from "./polling.ts"
import { serviceLayer, Wire } from "./Wire.ts"

const minute = 60_000

const images = (request: string) => request.startsWith("GET /images/")

const brief = ({ subject, type }: { readonly subject: string; readonly type: string }) => `${type} ${subject}`

it.effect("an image that is saved is reported, at one request in half an hour and one more for the doubt", () =>
  Effect.gen(function* () {
    const { pass, requests } = yield* Wire
    const { control, id } = yield* TestServer
    const facts = yield* (yield* polling({ intervalMillis: null, fastIntervalMillis: null })).readCatalogue
    yield* pass(20 * minute, 2500)
    const read = () => requests.filter(images).length
    expect(read()).toBe(2)
    yield* Effect.orDie(control.savedImages.add({ params: { world: id }, payload: { name: "golden" } }))
    yield* pass(20 * minute, 2500)
    expect([facts.map(brief), read()]).toEqual([[], 3])
    yield* pass(12 * minute, 2500)
    expect([facts.map(brief), read()]).toEqual([["berth.image.added images/golden"], 4])
    yield* pass(62 * minute, 2500)
    expect(facts).toHaveLength(1)
    expect(read()).toBeLessThanOrEqual(7)
  }).pipe(Effect.provide(serviceLayer({ scenario: "small" })))
)

it.effect("a list of images that fails or is empty reports nothing, and delays no poll of the nodes", () =>
  Effect.gen(function* () {
    const { fail, heal, pass, requests } = yield* Wire
    const facts = yield* (yield* polling({ intervalMillis: null, fastIntervalMillis: null })).readCatalogue
    yield* pass(20 * minute, 2500)
    for (const fault of [
      { status: 503, body: "" },
      { status: 200, body: JSON.stringify({ message: "Success", code: 200, data: [], errors: {} }) }
    ] as const) {
      yield* fail(images, fault)
      const before = requests.length
      yield* pass(35 * minute, 2500)
      expect(facts).toEqual([])
      const others = requests.slice(before).filter((request) => !images(request))
      expect(others.length).toBeGreaterThan(200)
    }
    yield* heal
    yield* pass(35 * minute, 2500)
    expect(facts).toEqual([])
  }).pipe(Effect.provide(serviceLayer({ scenario: "small" })))
)

it.effect("an image whose record cannot be read is not reported as removed, nor is its plan's price as changed", () =>
  Effect.gen(function* () {
    const { fail, pass, requests } = yield* Wire
    const facts = yield* (yield* polling({ intervalMillis: null, fastIntervalMillis: null })).readCatalogue
    yield* pass(20 * minute, 2500)
    const { body } = yield* (yield* RawApi).request({ method: "GET", path: "/images/" })
    const { data } = JSON.parse(body) as { readonly data: ReadonlyArray<object> }
    const spoilt = data.map((record, index) => (index === 0 ? { ...record, image: null } : record))
    yield* fail(images, {
      status: 200,
      body: JSON.stringify({ message: "Success", code: 200, data: spoilt, errors: {} })
    })
    const before = requests.filter(images).length
    yield* pass(90 * minute, 2500)
    expect(requests.filter(images).length - before).toBeGreaterThan(4)
    expect(facts).toEqual([])
  }).pipe(Effect.provide(serviceLayer({ scenario: "small" })))
)

it.effect("the smallest share has room for the catalogue, and no hour has more requests than it", () =>
  Effect.gen(function* () {
    const { pass, requests } = yield* Wire
    yield* (yield* polling({ intervalMillis: 20_000, fastIntervalMillis: null, budget: Effect.succeed(hourly(60)) }))
      .readCatalogue
    let before = 0
    for (let hour = 0; hour < 4; hour++) {
      yield* pass(60 * minute, 2500)
      const sent = requests.slice(before)
      expect(sent.length).toBeLessThanOrEqual(60)
      expect(sent.filter(images).length).toBeGreaterThanOrEqual(1)
      before = requests.length
    }
  }).pipe(Effect.provide(serviceLayer({ scenario: "small" })))
)
