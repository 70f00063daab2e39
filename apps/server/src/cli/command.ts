/**
 * `berth-server`: makes the worlds the flags ask for, listens, says so in one line on stdout, and serves until it is told
 * to stop.
 */
import { Clock, Console, Effect, Option, Redacted } from "effect"
import { Command } from "effect/cli"
import type { HttpServerError } from "effect/http"
import { defaultTimeouts } from "../http/limits.ts"
import { listen } from "../http/listen.ts"
import { populate } from "../world/scenario.ts"
import * as World from "../world/World.ts"
import * as Worlds from "../world/Worlds.ts"
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

export const command = Command.make("berth-server", flags, (options) =>
  Effect.scoped(
    Effect.gen(function* () {
      if (!isLoopback(options.host) && Option.isNone(options.controlToken)) {
        return yield* new StartFailure({
          message: `--host ${options.host} is beyond loopback and needs --control-token`
        })
      }
      const realMs = yield* Clock.currentTimeMillis
      const makeWorld = (account: World.Account) => {
        const world = World.make(
          {
            account,
            seed: options.seed,
            clock: options.clock,
            lifecycle: { provisioningMs: options.provisioning, terminationMs: options.termination },
            allowance: { ...options.rateLimit, algorithm: options.rateLimitAlgorithm },
            auth: options.auth,
            deleteStyle: options.deleteStyle,
            uniqueNames: options.uniqueNames
          },
          realMs
        )
        populate(world, options.scenario)
        return world
      }
      const [first = World.defaults.account, ...others] = yield* readAccounts(options.account)
      const worlds = Worlds.make([makeWorld(first), ...others.map(makeWorld)])
      const { host, port } = options
      const url = yield* listen(worlds, { host, port, timeouts: defaultTimeouts, checkReplies: false }).pipe(
        Effect.mapError(cannotListen(host, port))
      )
      yield* Console.log(
        JSON.stringify({
          url,
          apiKey: Redacted.value(first.apiKey),
          accessToken: Redacted.value(first.accessToken),
          pid: process.pid
        })
      )
      return yield* Effect.never
    })
  )
).pipe(Command.withDescription("A faithful, stateful mock of the compute node and image service"))
