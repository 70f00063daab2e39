/**
 * The whole service inside a test: on a free port, or without a socket at all. Its world is frozen unless the test says
 * otherwise, so that time passes when the test says so and the same calls give the same bytes.
 */
import { Clock, Context, DateTime, Duration, Effect, Layer, type Redacted, type Scope } from "effect"
import { FetchHttpClient, HttpClient, HttpEffect, type HttpServerError, type HttpServerRequest } from "effect/http"
import { makeApp } from "./http/app.ts"
import { defaultTimeouts, type Timeouts } from "./http/limits.ts"
import { listen } from "./http/listen.ts"
import type { AllowancePolicy } from "./world/allowance.ts"
import { populate, type Scenario } from "./world/scenario.ts"
import type { ClockMode } from "./world/VirtualClock.ts"
import * as World from "./world/World.ts"
import * as Worlds from "./world/Worlds.ts"

/** What the service of a test begins with. Everything has a default. */
export interface TestServerOptions {
  /** Default 1. */
  readonly seed?: number
  /** Default `frozen`, at 2026-01-01T00:00:00.000Z. `real` follows the `Clock` of the test. */
  readonly clock?: ClockMode
  /** Default `empty`. */
  readonly scenario?: Scenario
  /** From a create to `running`. Default 2 seconds of the world's time. */
  readonly provisioning?: Duration.Input
  /** From a delete to being gone. Default 2 seconds of the world's time. */
  readonly termination?: Duration.Input
  /** Default 1200 per hour, `fixed-window`. */
  readonly allowance?: AllowancePolicy
  /** Default `strict`. */
  readonly auth?: World.AuthMode
  /** Default `documented`. */
  readonly deleteStyle?: World.DeleteStyle
  /** Default false. */
  readonly uniqueNames?: boolean
  /** The account of the world, and of further worlds on the same server. Default `berth-key` and `berth-token`. */
  readonly accounts?: readonly [World.Account, ...Array<World.Account>]
  /** Only for a service that listens; default 10 s for headers, 30 s for a request. */
  readonly timeouts?: Partial<Omit<Timeouts, "drainMs">>
}

/** The service of a test, and its main world's clock. */
export class TestServer extends Context.Service<
  TestServer,
  {
    /** Scheme and host, without a path. */
    readonly baseUrl: string
    readonly apiKey: Redacted.Redacted
    readonly accessToken: Redacted.Redacted
    /** The world's present instant. */
    readonly now: Effect.Effect<DateTime.Utc>
    /** Moves the world's clock on and gives its new instant. */
    readonly advance: (by: Duration.Input) => Effect.Effect<DateTime.Utc>
  }
>()("@berth/server/testing/TestServer") {
  /** The service on a free port of the loopback interface. Fails with `ServeError` when there is none. */
  static readonly layer = (options: TestServerOptions = {}): Layer.Layer<TestServer, HttpServerError.ServeError> =>
    Layer.effect(
      TestServer,
      Effect.gen(function* () {
        const worlds = yield* makeWorlds(options)
        const timeouts = { ...defaultTimeouts, ...options.timeouts, drainMs: 0 }
        const baseUrl = yield* listen(worlds, { host: "127.0.0.1", port: 0, timeouts, checkReplies: true })
        return yield* describe(worlds, baseUrl)
      })
    )

  /** The service without a socket: the `HttpClient` it provides reaches nothing else. */
  static readonly layerHttpClient = (
    options: Omit<TestServerOptions, "timeouts"> = {}
  ): Layer.Layer<TestServer | HttpClient.HttpClient> =>
    Layer.effectContext(
      Effect.gen(function* () {
        const worlds = yield* makeWorlds(options)
        const { handle, requestContext } = yield* makeApp(worlds, { checkReplies: true })
        const handler = HttpEffect.toWebHandlerWith<never, HttpServerRequest.HttpServerRequest | Scope.Scope>(
          requestContext
        )(handle)
        const inProcess: typeof globalThis.fetch = (input, init) => handler(new Request(input, init))
        const client = yield* HttpClient.HttpClient.pipe(
          Effect.map(HttpClient.transform(Effect.provideService(FetchHttpClient.Fetch, inProcess))),
          Effect.provide(FetchHttpClient.layer)
        )
        return Context.make(TestServer, yield* describe(worlds, "http://berth.test")).pipe(
          Context.add(HttpClient.HttpClient, client)
        )
      })
    )
}

const makeWorlds = Effect.fnUntraced(function* (options: TestServerOptions) {
  const realMs = yield* Clock.currentTimeMillis
  const toMs = (duration: Duration.Input | undefined, defaultMs: number) =>
    duration === undefined ? defaultMs : Duration.toMillis(duration)
  const { lifecycle } = World.defaults
  const settings = {
    ...World.defaults,
    seed: options.seed ?? World.defaults.seed,
    clock: options.clock ?? "frozen",
    lifecycle: {
      provisioningMs: toMs(options.provisioning, lifecycle.provisioningMs),
      terminationMs: toMs(options.termination, lifecycle.terminationMs)
    },
    allowance: options.allowance ?? World.defaults.allowance,
    auth: options.auth ?? World.defaults.auth,
    deleteStyle: options.deleteStyle ?? World.defaults.deleteStyle,
    uniqueNames: options.uniqueNames ?? World.defaults.uniqueNames
  }
  const makeWorld = (account: World.Account) => {
    const world = World.make({ ...settings, account }, realMs)
    populate(world, options.scenario ?? "empty")
    return world
  }
  const [main, ...others] = options.accounts ?? [World.defaults.account]
  return Worlds.make([makeWorld(main), ...others.map(makeWorld)])
})

const describe = Effect.fnUntraced(function* ({ main }: Worlds.Worlds, baseUrl: string) {
  const clock = yield* Clock.Clock
  const instant = (ms: number) => DateTime.makeUnsafe(ms)
  return TestServer.of({
    baseUrl,
    ...main.settings.account,
    now: Effect.sync(() => instant(World.enter(main, clock.currentTimeMillisUnsafe()))),
    advance: (by) =>
      Effect.sync(() => instant(World.advance(main, clock.currentTimeMillisUnsafe(), Duration.toMillis(by))))
  })
})
