/**
 * `berth-server`: makes the worlds the flags ask for, listens, says so in one line on stdout, and serves until it is told
 * to stop.
 */
import { Clock, Console, Effect, Option, Redacted } from "effect"
import { Command } from "effect/cli"
import type { HttpServerError } from "effect/http"
import { readFaultFlag } from "../injection/readFaults.ts"
import { defaultTimeouts } from "../transport/limits.ts"
import { listen } from "../listen.ts"
import { defaultLifecycle } from "../lifecycle/Lifecycle.ts"
import { loadState, stateKeeper } from "../state/stateKeeper.ts"
import { begin } from "../world/scenario.ts"
import * as World from "../world/World.ts"
import { Worlds } from "../world/Worlds.ts"
import { faultList } from "./faultList.ts"
import { flags, readAccount } from "./flags.ts"
import { StartFailure } from "./StartFailure.ts"

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1)$/.test(host)

const readAccounts = (texts: ReadonlyArray<string>) =>
  Effect.forEach(texts, (text) =>
    Effect.mapError(
      Effect.fromOption(readAccount(text)),
      () => new StartFailure({ message: "--account: expected KEY:TOKEN" })
    )
  )

const readFaults = (texts: ReadonlyArray<string>) =>
  Effect.forEach(texts, (text) =>
    Effect.mapError(
      Effect.fromResult(readFaultFlag(text)),
      (sentence) => new StartFailure({ message: `--fault: ${sentence}` })
    )
  )

/** The system's reason, in words for the ones people meet. */
const cannotListen = (host: string, port: number) => (error: HttpServerError.ServeError) => {
  const code = error.cause instanceof Error && "code" in error.cause ? String(error.cause.code) : "unknown"
  const reason =
    code === "EADDRINUSE"
      ? "the port is taken"
      : code === "EACCES"
        ? "that port is not allowed"
        : code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN"
          ? "this machine has no such address"
          : code
  return new StartFailure({ message: `cannot listen on ${host} port ${port}: ${reason}` })
}

const faults = Command.make("faults", {}, () => Console.log(faultList())).pipe(
  Command.withDescription("Lists the faults that can be armed, with their options")
)

/** The worlds of a first start: one per account, all alike. */
const makeWorlds = Effect.fnUntraced(function* (
  settings: World.WorldSettings,
  [first = World.defaults.account, ...others]: ReadonlyArray<World.Account>,
  realMillis: number
) {
  const worlds = new Worlds(begin({ ...settings, account: first }, realMillis))
  for (const other of others) {
    yield* Effect.mapError(
      Effect.fromResult(worlds.add(other, (id, account) => begin({ ...settings, account }, realMillis, id))),
      () => new StartFailure({ message: "--account: each account needs a key and a token of its own" })
    )
  }
  return worlds
})

export const command = Command.make("berth-server", flags, (options) =>
  Effect.scoped(
    Effect.gen(function* () {
      if (!isLoopback(options.host) && Option.isNone(options.controlToken)) {
        return yield* new StartFailure({
          message: `--host ${options.host} is beyond loopback and needs --control-token`
        })
      }
      const realMillis = yield* Clock.currentTimeMillis
      const settings = {
        ...World.defaults,
        seed: options.seed,
        clock: options.clock,
        lifecycle: {
          ...defaultLifecycle,
          provisioningMillis: options.provisioning,
          terminationMillis: options.termination
        },
        allowance: { ...options.rateLimit, algorithm: options.rateLimitAlgorithm },
        auth: options.auth,
        deleteStyle: options.deleteStyle,
        uniqueNames: options.uniqueNames,
        scenario: options.scenario,
        faults: yield* readFaults(options.fault)
      }
      const accounts = yield* readAccounts(options.account)
      const loaded = Option.isSome(options.state) ? yield* loadState(options.state.value) : Option.none<Worlds>()
      const worlds = Option.isSome(loaded) ? loaded.value : yield* makeWorlds(settings, accounts, realMillis)
      // Before the listening, so that the last save comes after the last request; it begins once the port is ours.
      const keep = Option.isSome(options.state) ? yield* stateKeeper(worlds, options.state.value) : Effect.void
      const { host, port } = options
      const url = yield* listen(worlds, {
        host,
        port,
        timeouts: defaultTimeouts,
        checkReplies: false,
        controlToken: Option.getOrUndefined(options.controlToken)
      }).pipe(Effect.mapError(cannotListen(host, port)))
      yield* keep
      const { account } = worlds.main.settings
      yield* Console.log(
        JSON.stringify({
          url,
          apiKey: Redacted.value(account.apiKey),
          accessToken: Redacted.value(account.accessToken),
          pid: process.pid
        })
      )
      return yield* Effect.never
    })
  )
).pipe(
  Command.withDescription("A faithful, stateful mock of the compute node and image service"),
  Command.withSubcommands([faults])
)
