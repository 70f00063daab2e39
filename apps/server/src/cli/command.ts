/**
 * `berth-server`: makes the worlds that the flags ask for, listens, prints one line on stdout, and serves until it gets a
 * signal or (with `--exit-with-parent`) its parent ends.
 */
import { Clock, Console, Effect, Option, Redacted, Result } from "effect"
import { Command } from "effect/cli"
import type { HttpServerError } from "effect/http"
import { readFaultFlags } from "../injection/readFaults.ts"
import { defaultTimeouts } from "../transport/limits.ts"
import { listen } from "../listen.ts"
import { claimState, loadState, stateKeeper } from "../state/stateKeeper.ts"
import { canCount, slidingLimitSentence } from "../world/allowance.ts"
import { settingsUnder } from "../profile/settingsUnder.ts"
import { begin } from "../world/scenario.ts"
import { settingsOf, switchesWithoutDialect } from "../world/WorldOptions.ts"
import { type Account, defaults, type WorldSettings } from "../world/WorldSettings.ts"
import { Worlds } from "../world/Worlds.ts"
import { controlTokenVariable, readControlToken } from "./controlToken.ts"
import { faultList } from "./faultList.ts"
import { flagOf, flags, given, readAccount } from "./flags.ts"
import { learnCommand } from "./learnCommand.ts"
import { isStdinPipe, printReadyLine, stdinEnd } from "./starter.ts"
import { readProfileFile } from "@berthkit/profile/readProfileFile"
import { StartFailure } from "@berthkit/terminal/StartFailure"
import { readTls } from "./tls.ts"

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1)$/.test(host)

/** The value, or a failure that ends the program before it serves. */
const orStop = <A, E>(read: Result.Result<A, E>, sentenceOf: (error: E) => string) =>
  Effect.mapError(Effect.fromResult(read), (error) => new StartFailure({ message: sentenceOf(error) }))

const readAccounts = (texts: ReadonlyArray<string>) =>
  orStop(
    Result.all(texts.map((text) => Result.fromOption(readAccount(text), () => undefined))),
    () => "--account: expected KEY:TOKEN"
  )

/** Sentences for the frequent system errors. */
const listenProblems: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is taken",
  EACCES: "that port is not allowed",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "this machine has no such address",
  EAI_AGAIN: "this machine has no such address"
}

const cannotListen = (host: string, port: number) => (error: HttpServerError.ServeError) => {
  const code = error.cause instanceof Error && "code" in error.cause ? String(error.cause.code) : "unknown"
  return new StartFailure({ message: `cannot listen on ${host} port ${port}: ${listenProblems[code] ?? code}` })
}

/**
 * How long a world may be unused before it ends, in milliseconds; `undefined` if no world ends by itself. Worlds in a state file never
 * end by themselves.
 */
const readTtl = (asked: Option.Option<number | "off">, hasState: boolean) => {
  const ttl = Option.getOrElse(asked, () => (hasState ? "off" : defaultTtlMillis))
  return ttl !== "off" && hasState
    ? Effect.fail(
        new StartFailure({
          message: "--world-ttl: worlds under --state never end by themselves; leave out one of the two"
        })
      )
    : Effect.succeed(ttl === "off" ? undefined : ttl)
}

const defaultTtlMillis = 3_600_000

const faults = Command.make("faults", {}, () => Console.log(faultList())).pipe(
  Command.withDescription("List the faults that can be armed, with their options")
)

/** The worlds if no state file has any: one for each account, with the same settings. */
const makeWorlds = Effect.fnUntraced(function* (
  settings: WorldSettings,
  [first = defaults.account, ...others]: ReadonlyArray<Account>,
  realMillis: number
) {
  const worlds = new Worlds(begin({ ...settings, account: first }, realMillis))
  for (const other of others) {
    const added = worlds.add(other, (id, account) => begin({ ...settings, account }, realMillis, id))
    yield* orStop(added, (refusal) =>
      refusal._tag === "TooManyNodes"
        ? `--scenario: the worlds of all accounts have more than ${refusal.limit} nodes together`
        : "--account: each account needs a key and a token of its own"
    )
  }
  return worlds
})

export const command = Command.make("berth-server", flags, (options) =>
  Effect.scoped(
    Effect.gen(function* () {
      const controlToken = yield* readControlToken(options)
      if (!isLoopback(options.host) && Option.isNone(controlToken)) {
        return yield* new StartFailure({
          message: `--host ${options.host} is reachable from other machines and needs ${controlTokenVariable} or --control-token-file`
        })
      }
      if (options.exitWithParent && !isStdinPipe()) {
        return yield* new StartFailure({
          message:
            "--exit-with-parent: stdin is not a pipe; start the server with a pipe, and keep it open while the server runs"
        })
      }
      const realMillis = yield* Clock.currentTimeMillis
      const { account, host, port, rateLimit, rateLimitAlgorithm: algorithm, state, world } = options
      const profile = Option.isSome(options.profile)
        ? yield* readProfileFile("--profile", options.profile.value)
        : undefined
      const base = profile === undefined ? defaults : settingsUnder(profile, defaults, realMillis)
      const worldTtlMillis = yield* readTtl(options.worldTtl, Option.isSome(state))
      const [misplaced] = switchesWithoutDialect(given(world))
      if (misplaced !== undefined)
        return yield* new StartFailure({ message: `--${flagOf(misplaced)} needs --dialect today` })
      if (profile !== undefined && settingsOf(given(world), defaults.account).today !== undefined)
        return yield* new StartFailure({
          message: "--profile: a profile describes the documented dialect; leave out one of the two"
        })
      const asked = { ...given(world), rateLimit: { ...Option.getOrUndefined(rateLimit), ...given({ algorithm }) } }
      const settings = {
        ...settingsOf(asked, defaults.account, base),
        faults: yield* orStop(readFaultFlags(options.fault), (sentence) => `--fault: ${sentence}`)
      }
      if (!canCount(settings.rateLimit))
        return yield* new StartFailure({ message: `--rate-limit: ${slidingLimitSentence}` })
      const accounts = yield* readAccounts(account)
      const tls = yield* readTls(options)
      // This comes before everything else about the file. Scopes close in reverse order, so the lock is released after the last save.
      const file = Option.isSome(state) ? yield* claimState(state.value) : undefined
      const loaded = file === undefined ? Option.none<Worlds>() : yield* loadState(file, base.catalogue)
      const worlds = Option.isSome(loaded) ? loaded.value : yield* makeWorlds(settings, accounts, realMillis)
      worlds.base = base
      // This comes before `listen`, so that the last save follows the last request. Saving begins only when the server has its port.
      const keep = file === undefined ? Effect.void : yield* stateKeeper(worlds, file)
      const { url } = yield* listen(worlds, {
        host,
        port,
        tls,
        timeouts: defaultTimeouts,
        checkReplies: false,
        control: { token: Option.getOrUndefined(controlToken), hosts: options.allowHost },
        cors: options.cors,
        profile,
        worldTtlMillis
      }).pipe(Effect.mapError(cannotListen(host, port)))
      yield* keep
      const { accessToken, apiKey } = worlds.main.settings.account
      const ready = JSON.stringify({
        url,
        apiKey: Redacted.value(apiKey),
        accessToken: Redacted.value(accessToken),
        pid: process.pid
      })
      yield* Effect.mapError(
        printReadyLine(ready),
        (code) => new StartFailure({ message: `cannot write the ready line to stdout: ${code}` })
      )
      if (!options.exitWithParent) return yield* Effect.never
      yield* stdinEnd
      return yield* Console.error("berth-server: stdin has ended, and with it the server (--exit-with-parent)")
    })
  ).pipe(Effect.catchTag("StateFailure", ({ message }) => Effect.fail(new StartFailure({ message }))))
).pipe(
  Command.withDescription("A stateful mock of the cloud service's API, for tests"),
  Command.withExamples([
    { command: "berth-server --port 4010 --scenario small", description: "A service with some nodes" },
    {
      command: "berth-server --port 4010 --fault status:status=503:every=3",
      description: "A service that fails at times"
    },
    {
      command: "berth-server --port 4010 --state mock.json",
      description: "A service that keeps its nodes across restarts"
    }
  ]),
  Command.withSubcommands([faults, learnCommand])
)
