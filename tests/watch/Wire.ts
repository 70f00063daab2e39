/**
 * The wire between the daemon and the mock service of a test. It can be cut, it counts requests, and it knows whether an answer is under
 * way.
 */
import { Clock, Context, Duration, Effect, Layer } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import * as Berth from "@berthkit/core/client/Berth"
import { type Reply, scripted } from "@berthkit/core/testing"
import { TestServer, type TestServerOptions } from "@berthkit/server/testing"
import { inDialect, optionsOf } from "../account.ts"

/** What the wire does with a request instead of carrying it: it replies itself, or it is cut and sends nothing. */
type Fault = Reply | "cut"

export class Wire extends Context.Service<
  Wire,
  {
    /** Every request, as `METHOD /path?query` below the interface's prefix, without the API key. */
    readonly requests: ReadonlyArray<string>
    /** The status of every reply that came over the wire, from the service or from a fault. */
    readonly statuses: ReadonlyArray<number>
    /** From now on, applies this fault to the requests that match. */
    readonly fail: (matches: (request: string) => boolean, fault: Fault) => Effect.Effect<void>
    /** From now on, carries every request again. */
    readonly heal: Effect.Effect<void>
    /** Lets the daemon's time pass in steps. A step is the longest time that a reply takes: 100 ms by default. */
    readonly pass: (millis: number, stepMillis?: number) => Effect.Effect<void>
  }
>()("@berthkit/watch/test/Wire") {}

const defaultStepMillis = 100

/** A turn of the event loop, in which answers arrive. It takes no virtual time. */
const turn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

/** The test's clock, with the instants at which sleeping fibers wake. */
class Wakes extends Context.Service<Wakes, { readonly first: () => number }>()("@berthkit/watch/test/Wakes") {
  static readonly layer = Layer.effectContext(
    Effect.map(Clock.Clock, (clock) => {
      const sleeping = new Set<{ readonly atMillis: number }>()
      const sleep: Clock.Clock["sleep"] = (duration) =>
        Effect.suspend(() => {
          const own = { atMillis: clock.currentTimeMillisUnsafe() + Duration.toMillis(duration) }
          sleeping.add(own)
          return Effect.ensuring(
            clock.sleep(duration),
            Effect.sync(() => sleeping.delete(own))
          )
        })
      const first = () => {
        let atMillis = Number.POSITIVE_INFINITY
        for (const each of sleeping) atMillis = Math.min(atMillis, each.atMillis)
        return atMillis
      }
      return Context.make(Wakes, { first }).pipe(Context.add(Clock.Clock, { ...clock, sleep }))
    })
  )
}

/** After this many turns without traffic, the wire counts as quiet. */
const quietTurns = 5

const describe = (request: { readonly method: string }, url: URL) => {
  const query = new URLSearchParams(url.search)
  for (const name of ["apikey", "project_id", "location"]) query.delete(name)
  const path = url.pathname.replace("/myaccount/api/v1", "")
  return `${request.method} ${path}${query.size > 0 ? `?${query}` : ""}`
}

const cut = Effect.fail({ code: "ECONNREFUSED", message: "refused" })

const faulty = (fault: Fault) => scripted(() => (fault === "cut" ? cut : fault)).httpClient

const wire = Effect.gen(function* () {
  const carry = yield* HttpClient.HttpClient
  const wakes = yield* Wakes
  const requests: Array<string> = []
  const statuses: Array<number> = []
  let faultFor: ((request: string) => Fault | null) | undefined
  let underWay = 0

  const client = HttpClient.make((request, url) =>
    Effect.suspend(() => {
      underWay++
      const described = describe(request, url)
      requests.push(described)
      const fault = faultFor?.(described) ?? null
      return (fault === null ? carry : faulty(fault)).execute(request)
    }).pipe(
      Effect.tap(({ status }) => Effect.sync(() => void statuses.push(status))),
      Effect.ensuring(Effect.sync(() => void underWay--))
    )
  )

  const quiet = Effect.gen(function* () {
    for (let turns = 0; turns < quietTurns;) {
      yield* turn
      turns = underWay === 0 ? turns + 1 : 0
    }
  })
  const pass = (millis: number, stepMillis = defaultStepMillis) =>
    Effect.gen(function* () {
      yield* quiet
      for (let passed = 0; passed < millis;) {
        // Steps in which no fiber wakes are one step.
        const idleMillis = underWay > 0 ? 0 : wakes.first() - (yield* Clock.currentTimeMillis)
        const steps = Math.max(1, Math.ceil(idleMillis / stepMillis))
        const passing = Math.min(steps * stepMillis, millis - passed)
        yield* TestClock.adjust(passing)
        yield* quiet
        passed += passing
      }
    })

  const service = Wire.of({
    requests,
    statuses,
    pass,
    fail: (matches, fault) => Effect.sync(() => void (faultFor = (request) => (matches(request) ? fault : null))),
    heal: Effect.sync(() => void (faultFor = undefined))
  })
  return Context.make(Wire, service).pipe(Context.add(HttpClient.HttpClient, client))
})

/** The client, the wire, and the mock service in this process, whose clock is the test's. */
export const serviceLayer = (options: TestServerOptions = {}) => {
  const server = TestServer.layerHttpClient(inDialect({ clock: "real", ...options }))
  const berth = Layer.unwrap(Effect.map(TestServer, (account) => Berth.layer(optionsOf(account))))
  return berth.pipe(
    Layer.provideMerge(Layer.effectContext(wire)),
    Layer.provideMerge(server),
    Layer.provideMerge(Wakes.layer)
  )
}
