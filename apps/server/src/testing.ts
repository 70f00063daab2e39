/**
 * The mock service inside a test: on a free port, or without a socket. The time of its worlds is frozen unless the test asks
 * for another clock. Then time passes only when the test advances it, and the same calls return the same bytes.
 */
import { Clock, Context, Duration, Effect, Layer, type Redacted, Result, type Scope } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest, type HttpServerError } from "effect/http"
import { type AppOptions, makeApp } from "./app.ts"
import { clientOf } from "./transport/inProcess.ts"
import { type Fault, type FaultName, kindByName } from "./injection/catalogue.ts"
import { defaultTimeouts, type Timeouts } from "./transport/limits.ts"
import { listen } from "./listen.ts"
import {
  bindWorld,
  makeControlClient,
  makeTestWorld,
  type TestWorld,
  type TestWorldOptions,
  worldOptions
} from "./testing/TestWorld.ts"
import type { Profile } from "@berthkit/profile/Profile"
import { settingsUnder } from "./profile/settingsUnder.ts"
import { profileIn } from "./testing/profileIn.ts"
import { nodeProblems } from "./world/givenNodes.ts"
import { begin } from "./world/scenario.ts"
import { needsDialectToday, settingsOf, switchesWithoutDialect } from "./world/WorldOptions.ts"
import { type Account, defaults } from "./world/WorldSettings.ts"
import { Worlds } from "./world/Worlds.ts"

export type { Fault, TestWorld, TestWorldOptions }

/** The names of all faults. */
export const faultNames: ReadonlyArray<FaultName> = Array.from(kindByName.keys()) as ReadonlyArray<FaultName>

/**
 * How long idle connections stay open: practically without limit. A test and its service share an event loop, so after
 * a stall of seconds the service could close a connection just when the test's client uses it.
 */
const keepAliveMillis = 600_000

/** The options of a test's service: the options of its main world, and the options of the server. Everything has a default. */
export interface TestServerOptions extends TestWorldOptions {
  /**
   * The account of the main world, and accounts of further worlds on the same server. Default: one account with `berth-key`
   * and `berth-token`.
   */
  readonly accounts?: readonly [Account, ...Array<Account>]
  /**
   * The token that requests to the control plane must have; the client `control` sends it. Default: requests need no token.
   */
  readonly controlToken?: Redacted.Redacted
  /** Origins whose pages may call the service; `*` means all origins. Default: none. */
  readonly cors?: ReadonlyArray<string>
  /**
   * A file that `berth-server learn --profile` has written. All worlds imitate the service that it describes. Default: none.
   */
  readonly profile?: string
  /**
   * How long a world from `makeWorld` may be unused before it ends, by the service's `Clock`. Default: no world ends by
   * itself.
   */
  readonly worldTtl?: Duration.Input
  /**
   * Timeouts, only for a service that listens. Default: 10 s for headers, 30 s for a request, 10 minutes for an idle
   * connection.
   */
  readonly timeouts?: Partial<Omit<Timeouts, "drainMillis">>
}

/**
 * The service of a test: its main world, and any further worlds that tests ask for.
 *
 * @example
 * ```ts
 * import * as Berth from "@berthkit/core/client/Berth"
 * import { Nodes } from "@berthkit/core/client/Nodes"
 * import { TestServer } from "@berthkit/server/testing"
 * import { Console, Effect, Layer } from "effect"
 *
 * const client = Layer.unwrap(
 *   Effect.map(TestServer, ({ accessToken, apiKey, baseUrl }) =>
 *     Berth.layer({ baseUrl, credentials: { accessToken, apiKey } })
 *   )
 * )
 *
 * const program = Effect.gen(function* () {
 *   const nodes = yield* Nodes
 *   const { node } = yield* nodes.create({ name: "web", plan: "C-4VCPU-16RAM-100DISK", image: "Ubuntu-24.04" })
 *   const running = yield* nodes.awaitStatus(node.id, "running")
 *   yield* Console.log(running.name, running.status) // web running
 * }).pipe(Effect.provide(Layer.provideMerge(client, TestServer.layerHttpClient({ clock: "real" }))))
 * ```
 */
export class TestServer extends Context.Service<
  TestServer,
  TestWorld & {
    /**
     * Makes a world with its own credentials, which is deleted when the scope closes. Tests that share the server but not a
     * world never affect each other. If the scope closes with a failure, stderr shows what is necessary to replay it.
     */
    readonly makeWorld: (options?: TestWorldOptions) => Effect.Effect<TestWorld, never, Scope.Scope>
  }
>()("@berthkit/server/testing/TestServer") {
  /** The service on a free port of the loopback interface. Fails with `ServeError` if it cannot listen. */
  static readonly layer = (options: TestServerOptions = {}): Layer.Layer<TestServer, HttpServerError.ServeError> =>
    Layer.effect(
      TestServer,
      Effect.gen(function* () {
        const profile = yield* profileOf(options)
        const worlds = yield* makeWorlds(options, profile)
        const timeouts = { ...defaultTimeouts, keepAliveMillis, ...options.timeouts, drainMillis: 0 }
        const { url: baseUrl } = yield* listen(worlds, {
          host: "127.0.0.1",
          port: 0,
          timeouts,
          ...appOptions(options, profile)
        })
        const client = yield* Effect.provide(HttpClient.HttpClient, FetchHttpClient.layer)
        return yield* describe(worlds, client, baseUrl, options.controlToken)
      })
    )

  /**
   * The service without a socket. The `HttpClient` that this layer provides reaches only this service. A call takes no time
   * and no turn of the event loop. So with `clock: "real"`, one `TestClock.adjust("1 hour")` takes a program through an hour
   * of calls.
   */
  static readonly layerHttpClient = (
    options: Omit<TestServerOptions, "timeouts"> = {}
  ): Layer.Layer<TestServer | HttpClient.HttpClient> =>
    Layer.effectContext(
      Effect.gen(function* () {
        const profile = yield* profileOf(options)
        const worlds = yield* makeWorlds(options, profile)
        const { handle, requestContext } = yield* makeApp(worlds, appOptions(options, profile))
        const client = clientOf(handle, requestContext)
        return Context.make(
          TestServer,
          yield* describe(worlds, client, "http://berth.test", options.controlToken)
        ).pipe(Context.add(HttpClient.HttpClient, client))
      })
    )
}

/** The profile, if the options name its file. Dies if the file is not a profile. */
const profileOf = Effect.fnUntraced(function* ({ profile }: TestServerOptions) {
  if (profile === undefined) return undefined
  const read = yield* Effect.promise(() => profileIn(profile))
  return Result.isSuccess(read) ? read.success : yield* Effect.die(new Error(read.failure))
})

const appOptions = ({ controlToken, cors, worldTtl }: TestServerOptions, profile: Profile | undefined): AppOptions => ({
  // No check with a profile, because an observed service may deviate from the interface.
  checkReplies: profile === undefined,
  profile,
  control: { token: controlToken },
  cors,
  worldTtlMillis: worldTtl === undefined ? undefined : Duration.toMillis(worldTtl)
})

const makeWorlds = Effect.fnUntraced(function* (options: TestServerOptions, profile: Profile | undefined) {
  const realMillis = yield* Clock.currentTimeMillis
  const base = profile === undefined ? defaults : settingsUnder(profile, defaults, realMillis)
  const settings = worldOptions(options)
  const [misplaced] = switchesWithoutDialect(settings)
  if (misplaced !== undefined) return yield* Effect.die(new Error(`${misplaced}: ${needsDialectToday}.`))
  const [problem] = Object.entries(nodeProblems(settingsOf(settings, base.account, base)))
  if (problem !== undefined) return yield* Effect.die(new Error(`${problem[0]}: ${problem[1].join(" ")}`))
  const makeWorld = (account: Account, id?: string) => begin(settingsOf(settings, account, base), realMillis, id)
  const [main, ...others] = options.accounts ?? [defaults.account]
  const worlds = new Worlds(makeWorld(main))
  worlds.base = base
  for (const other of others) Result.getOrThrow(worlds.add(other, (id, account) => makeWorld(account, id)))
  return worlds
})

const describe = Effect.fnUntraced(function* (
  { main }: Worlds,
  client: HttpClient.HttpClient,
  baseUrl: string,
  token: Redacted.Redacted | undefined
) {
  const withToken = token === undefined ? client : HttpClient.mapRequest(client, HttpClientRequest.bearerToken(token))
  const control = yield* makeControlClient(withToken, baseUrl)
  return TestServer.of({
    ...bindWorld(control, { id: main.id, baseUrl, ...main.settings.account }),
    makeWorld: (options = {}) => makeTestWorld(control, baseUrl, options)
  })
})
