/**
 * Two projects in two locations share one API key, one state folder and the same keys of creates. Each place has at most one node for a
 * key, and a create returns a node of its own place, even if replies are lost and creates are repeated at any time. The test uses the
 * documented shapes and those of today's API: lists without dates and sizes, SKUs in place of slugs, replies to creates as a list.
 */
import { failure, nodeRecord, ok, type Reply, type Request, scripted } from "@berthkit/core/testing"
import { disksOf } from "@berthkit/testing/disk"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber, Layer, Redacted, Result } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { accountLayer } from "../../../src/client/AccountFiles.ts"
import * as Berth from "../../../src/client/Berth.ts"
import { Nodes } from "../../../src/client/Nodes.ts"

const places = [
  { project: 7, location: "Delhi" },
  { project: 7, location: "Chennai" },
  { project: 8, location: "Delhi" },
  { project: 8, location: "chennai" }
] as const

/** The fate of a step's POST, if it sends one. */
const fates = ["answered", "made, and not answered", "not made, and not answered", "made late", "refused"] as const
type Fate = (typeof fates)[number]

interface Step {
  readonly place: number
  readonly key: string
  readonly fate: Fate
  readonly pauseMinutes: number
  /** Whether the location is written in upper case, which means the same place. */
  readonly isLoud: boolean
  /** Whether the time for all earlier requests is over, so that nothing blocks the create. */
  readonly isLast?: true
}

const placeIn = ({ query }: Pick<Request, "query">) => `${query["project_id"]} ${query["location"]?.toLowerCase()}`

type Shapes = "documented" | "today"

const plan = "C3-4vCPU-8RAM-100DISK-C3-Onetemplate-Ubuntu24.04-Delhi"
const image = "Ubuntu-24.04-Distro"
const system = { name: "Ubuntu", version: "24.04", category: "Linux Virtual Node" }

type Kept = ReturnType<typeof nodeRecord> & { readonly key: string }

/** How a service writes a node in each reply. */
interface Shape {
  readonly record: (node: Kept) => unknown
  readonly listed: (node: Kept) => unknown
  readonly created: (node: Kept) => unknown
  readonly list: (data: ReadonlyArray<unknown>, total: number | undefined, headers: Record<string, string>) => Reply
}

const shapesOf: Readonly<Record<Shapes, Shape>> = {
  documented: {
    record: (node) => node,
    listed: (node) => node,
    created: (node) => node,
    list: (data, _total, headers) => ok(data, headers)
  },
  today: {
    record: ({ created_at, id, name }) => ({
      id,
      name,
      vm_id: 5000 + id,
      plan: "C3.8GB",
      disk: "100 GB",
      memory: "8 GB",
      vcpus: "4",
      created_at,
      os_info: system,
      status: "Creating",
      is_locked: false,
      committed_info: null,
      region: null
    }),
    listed: ({ id, name }) => ({ id, name, status: "Running", plan: "C3.8GB", is_locked: false }),
    created: (node) => ({
      total_number_of_node_requested: 1,
      total_number_of_node_created: 1,
      node_create_response: [shapesOf.today.record(node)]
    }),
    list: (data, total, headers) => ({
      ...ok(data, headers),
      body: JSON.stringify({
        code: 200,
        data,
        errors: {},
        message: "Success",
        ...(total !== undefined && { total_count: total, total_page_number: 1 })
      })
    })
  }
}

/** The image list of today: the plan under its slug, and its SKU. */
const imagesAt = (location: string | undefined) => [
  {
    name: "C3.8GB",
    plan,
    image,
    os: { name: "Ubuntu", version: "24.04", image, category: "Ubuntu" },
    ...(location !== undefined && { location }),
    specs: { sku_name: "C3.8GB", ram: "8.00", cpu: 4, disk_space: 100, price_per_hour: 2.9, committed_sku: [] },
    currency: "INR"
  }
]

/** A list that shows its first nodes for every page number, and states no totals. */
interface CutList {
  /** The number of nodes that each place has at first. */
  readonly older: number
  /** The number of nodes that it shows. */
  readonly shown: number
  /** The first node is deleted before the second page is read for the `deletionBefore`-th time. */
  readonly deletionBefore?: number
}

/** A service that keeps its places apart. */
const makeService = (shapes: Shapes, cut?: CutList) => {
  const shape = shapesOf[shapes]
  const nodes = new Map<string, Array<Kept>>()
  let fate: Fate = "answered"
  let next = 101
  let late: Array<() => void> = []
  let secondPages = 0
  const service = scripted((request) =>
    Effect.map(Clock.currentTimeMillis, (nowMillis): Reply => {
      const place = placeIn(request)
      const here =
        nodes.get(place) ??
        Array.from({ length: cut?.older ?? 0 }, (_, i) => {
          const name = `older-${i}`
          return { ...nodeRecord({ id: next++, name, created_at: "2026-01-01T00:00:00Z" }), key: name }
        })
      nodes.set(place, here)
      const headers = { date: new Date(nowMillis).toUTCString() }
      const { body, method, path, query } = request
      if (path === "/nodes/" && method === "GET") {
        if (cut !== undefined) {
          if (query["page_no"] === "2" && ++secondPages === cut.deletionBefore) here.shift()
          return shape.list(here.slice(0, cut.shown).map(shape.listed), undefined, headers)
        }
        const [page, size] = [Number(query["page_no"] ?? 1), Number(query["per_page"])]
        return shape.list(here.slice((page - 1) * size, page * size).map(shape.listed), here.length, headers)
      }
      if (path === "/images/") return ok(imagesAt(query["location"]), headers)
      if (method === "GET") {
        const found = here.find(({ id }) => path === `/nodes/${id}/`)
        return found === undefined ? failure(404, "Not found", {}, headers) : ok(shape.record(found), headers)
      }
      const { name } = body as { readonly name: string }
      const make = (atMillis: number) => {
        const node = { ...nodeRecord({ id: next++, name, created_at: new Date(atMillis).toISOString() }), key: name }
        here.push(node)
        return node
      }
      switch (fate) {
        case "answered":
          return ok(shape.created(make(nowMillis)), headers)
        case "made, and not answered":
          make(nowMillis)
          return "lost"
        case "made late":
          // A gateway may keep a request for ten minutes.
          late.push(() => void make(nowMillis + 240_000))
          return "lost"
        case "not made, and not answered":
          return "lost"
        case "refused":
          return failure(403, "Forbidden", {}, headers)
      }
    })
  )
  return {
    ...service,
    nodes,
    setFate: (value: Fate) => void (fate = value),
    /** Carries out the late requests, as if four minutes had passed. */
    settle: () => {
      for (const make of late) make()
      late = []
    }
  }
}

const temporary = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "berth-places-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const { getBuiltinModule } = process
const disks: Readonly<Record<string, unknown>> = disksOf({ isDead: false }, () => undefined)
// The client takes its files from the process.
beforeAll(() => {
  process.getBuiltinModule = ((name: string) => disks[name] ?? getBuiltinModule(name)) as typeof getBuiltinModule
})
afterAll(() => void (process.getBuiltinModule = getBuiltinModule))

/** Fibers run in turns of the event loop. After several turns all of them wait for time to pass, because files are used at once. */
const settled = Effect.promise(async () => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
})

/** Runs an effect while virtual time passes. */
const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    while (fiber.pollUnsafe() === undefined) {
      yield* settled
      yield* TestClock.adjust("1 second")
    }
    return yield* Fiber.join(fiber)
  })

const played = Effect.fnUntraced(function* (steps: ReadonlyArray<Step>, shapes: Shapes, cut?: CutList) {
  const folder = yield* temporary
  const service = makeService(shapes, cut)
  const begun = new Set<string>()
  for (const { fate, isLast = false, isLoud, key, pauseMinutes, place } of steps) {
    const { location, project } = places[place]!
    const options = {
      baseUrl: "https://service.example",
      credentials: { apiKey: Redacted.make("key"), accessToken: Redacted.make("token") },
      project,
      location: isLoud ? location.toUpperCase() : location
    }
    service.setFate(fate)
    const spec =
      shapes === "today"
        ? { name: `web-${key}`, plan, image }
        : { name: `web-${key}`, plan: "C-4VCPU-16RAM-100DISK", image: "Ubuntu-22.04" }
    const client = Layer.provide(Berth.layer(options), accountLayer(options, folder)).pipe(
      Layer.provide(Layer.succeed(HttpClient.HttpClient, service.httpClient))
    )
    // Each step is a separate process.
    const create = Nodes.use((nodes) => nodes.create(spec, { key, deadline: "40 seconds" }))
    const result = yield* inTime(Effect.result(Effect.provide(create, client)))
    const where = `${project} ${location.toLowerCase()}`
    const here = service.nodes.get(where) ?? []
    // Events about the key in another place never block a create.
    const isFree = isLast || (fate === "answered" && !begun.has(`${key} ${where}`))
    if (isFree && Result.isFailure(result)) {
      assert.fail(`${where}: ${result.failure.message}`)
    }
    begun.add(`${key} ${where}`)
    if (Result.isSuccess(result)) {
      const { id } = result.success.node
      assert.isTrue(
        here.some((node) => node.id === id),
        `node ${id} is not in project ${project}, ${location}`
      )
    }
    yield* TestClock.adjust(Duration.minutes(Math.max(pauseMinutes, fate === "made late" ? 4 : 0)))
    service.settle()
  }
  return service
}, Effect.scoped)

/** Pairs of places that may be confused, named after their difference. */
const pairs = {
  "another location": [0, 1],
  "another project": [0, 2],
  "another project and location": [0, 3]
} as const

const others = { fate: fc.constantFrom(...fates), pauseMinutes: fc.constantFrom(0, 1, 12), isLoud: fc.boolean() }

/**
 * Histories of one key in two places that may be confused. Each place has a create, which may lose anything, and both are repeated at the
 * end. So a history begins with a create that is open in one place but not in the other, and ends with its outcome. In between, anything
 * may happen in both places, also under another key.
 */
const historiesIn = (pair: readonly [number, number]): fc.Arbitrary<ReadonlyArray<Step>> =>
  fc
    .record({
      isSwapped: fc.boolean(),
      first: fc.record(others),
      second: fc.record(others),
      between: fc.array(fc.record({ ...others, side: fc.nat(1), key: fc.constantFrom("a", "b") }), { maxLength: 2 }),
      again: fc.tuple(fc.boolean(), fc.boolean())
    })
    .map(({ again, between, first, isSwapped, second }) => {
      const [here, there] = isSwapped ? [pair[1], pair[0]] : pair
      const last = { key: "a", fate: "answered", pauseMinutes: 0, isLast: true } as const
      const later = between.map(({ side, ...step }) => ({ ...step, place: side === 0 ? here : there }))
      const open = [{ ...first, place: here, key: "a" }, { ...second, place: there, key: "a" }, ...later]
      return [
        ...open.slice(0, -1),
        ...open.slice(-1).map((step) => ({ ...step, pauseMinutes: 12 })),
        { ...last, place: here, isLoud: again[0] },
        { ...last, place: there, isLoud: again[1] }
      ]
    })

const counted = (service: ReturnType<typeof makeService>) =>
  Array.from(service.nodes, ([place, nodes]) =>
    Array.from(
      Map.groupBy(nodes, ({ key }) => key),
      ([key, all]) => [`${key} in ${place}`, all.length] as const
    )
  ).flat()

describe.each<Shapes>(["documented", "today"])(
  "creates under one key in several places, in the shapes %s",
  (shapes) => {
    it.effect("each have a node of their own, and no second one", () =>
      Effect.gen(function* () {
        const steps = [0, 1, 2, 3, 0, 1, 2, 3].map((place): Step => ({
          place,
          key: "a",
          fate: "answered",
          pauseMinutes: 0,
          isLoud: place % 2 === 0
        }))
        const service = yield* played(steps, shapes)
        assert.deepStrictEqual(
          counted(service).map(([, count]) => count),
          [1, 1, 1, 1]
        )
        assert.lengthOf(
          service.requests.filter(({ method }) => method === "POST"),
          4
        )
      })
    )

    it.effect("are looked for where they were sent: a lost one of another place is not taken for absent", () =>
      Effect.gen(function* () {
        const step: Step = { place: 0, key: "a", fate: "made, and not answered", pauseMinutes: 0, isLoud: false }
        const service = yield* played(
          [
            { ...step, fate: "not made, and not answered" },
            { ...step, place: 1, fate: "answered", pauseMinutes: 12 },
            { ...step, fate: "answered", isLoud: true }
          ],
          shapes
        )
        assert.deepStrictEqual(
          new Map(counted(service)),
          new Map([
            ["web-a in 7 chennai", 1],
            ["web-a in 7 delhi", 1]
          ])
        )
      })
    )

    it.effect.each(Object.entries(pairs))("make one node at most in each place, whatever is lost: %s", ([, pair]) =>
      Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(historiesIn(pair), async (steps) => {
            const service = await Effect.runPromise(Effect.provide(played(steps, shapes), TestClock.layer()))
            for (const [what, count] of counted(service)) assert.isAtMost(count, 1, what)
            for (const { query } of service.requests) {
              assert.isDefined(query["project_id"])
              assert.isDefined(query["location"])
            }
          }),
          { seed: 11, numRuns: 4 }
        )
      )
    )
  }
)

describe.each<Shapes>(["documented", "today"])(
  "a create under a key, if every page of the list is its first one and states no totals, in the shapes %s",
  (shapes) => {
    const step: Step = { place: 0, key: "a", fate: "answered", pauseMinutes: 12, isLoud: false }
    const made = (service: ReturnType<typeof makeService>) =>
      (service.nodes.get("7 delhi") ?? []).filter(({ key }) => key === "web-a").length

    it.effect.each([1, 10, 20, 50, 99])("is never sent again if its node may be behind the %i shown ones", (shown) =>
      Effect.gen(function* () {
        const steps: ReadonlyArray<Step> = [
          { ...step, fate: "made, and not answered" },
          { ...step, fate: "not made, and not answered" },
          step
        ]
        assert.strictEqual(made(yield* played(steps, shapes, { older: 120, shown })), 1)
      })
    )

    // The reads before and after the one at which the create would be sent again.
    it.effect.each([18, 19, 20, 21, 22])(
      "is never sent again if a shown node is deleted before page 2 is read for time %i",
      (deletionBefore) =>
        Effect.gen(function* () {
          const steps: ReadonlyArray<Step> = [{ ...step, fate: "made, and not answered" }, step]
          const service = yield* played(steps, shapes, { older: 120, shown: 20, deletionBefore })
          assert.strictEqual(made(service), 1)
        })
    )

    it.effect("is sent the first time, and finds its node again if the list shows it", () =>
      Effect.gen(function* () {
        const cut = { older: 3, shown: 20 }
        assert.strictEqual(made(yield* played([step, step], shapes, cut)), 1)
        assert.strictEqual(
          made(
            yield* played(
              [
                { ...step, fate: "made, and not answered" },
                { ...step, isLast: true }
              ],
              shapes,
              cut
            )
          ),
          1
        )
      })
    )
  }
)
