/**
 * The whole command line of `berth-watch`.
 */
import * as Berth from "@berth/core/client/Berth"
import * as NodeTransport from "@berth/core/client/transport/NodeTransport"
import { baseUrlFlag, readConnection } from "@berth/terminal/Connection"
import { usageProblem } from "@berth/terminal/usage"
import { Effect, Layer, Logger, type Option } from "effect"
import { Argument, CliConfig, type CliError, CliOutput, Command, GlobalFlag } from "effect/cli"
import pkg from "../package.json" with { type: "json" }
import { checkConfig } from "./commands/checkConfig.ts"
import { once } from "./commands/once.ts"
import { run } from "./commands/run.ts"
import { CommandFailed } from "./process/CommandFailed.ts"
import { report } from "./process/report.ts"
import { StopSignal } from "./process/StopSignal.ts"
import { accountFlag, readAccount } from "./settings/account.ts"
import { runFlags } from "./settings/RunSettings.ts"

/** The client's warnings go to stderr; stdout has events and nothing else. */
const warnings = Logger.layer([
  Logger.make(({ message }) => {
    Effect.runFork(report(`berth-watch: ${String(message)}`))
  })
])

const connectionFlags = { baseUrl: baseUrlFlag, account: accountFlag }

interface ConnectionOptions {
  readonly baseUrl: Option.Option<string>
  readonly account: Option.Option<string>
}

/** Runs a command with a client for the connection that the settings name. */
const connected = <R>(flags: ConnectionOptions, command: (account: string) => Effect.Effect<void, CommandFailed, R>) =>
  Effect.gen(function* () {
    const { options } = yield* readConnection(flags.baseUrl)
    const account = yield* readAccount(flags.account)
    // `readConnection` has checked the options.
    const berth = Layer.orDie(Berth.layerOver(options, NodeTransport.layer))
    yield* Effect.provide(command(account), berth)
  }).pipe(
    Effect.provide(warnings),
    Effect.catchTag("SettingFault", ({ exit, hint, message }) => new CommandFailed({ exit, message, hint }))
  )

const interrupted = Effect.gen(function* () {
  yield* (yield* StopSignal).received
  return yield* new CommandFailed({ exit: "interrupted", message: "Interrupted; nothing was written." })
})

const onceCommand = Command.make("once", connectionFlags, (flags) =>
  Effect.raceFirst(connected(flags, once), interrupted)
).pipe(Command.withDescription("Read the whole list once and print it as one baseline event"))

const runCommand = Command.make("run", { ...connectionFlags, ...runFlags }, (flags) =>
  connected(flags, (account) => run(account, flags))
).pipe(Command.withDescription("Watch until stopped; one event per line on stdout"))

const checkConfigCommand = Command.make("check-config", { file: Argument.String("FILE") }, ({ file }) =>
  checkConfig(file)
).pipe(Command.withDescription("Read a config with its secrets and report what it would do"))

const berthWatch = Command.make("berth-watch").pipe(
  Command.withDescription("Reports changes to the nodes of an account, by polling"),
  Command.withSubcommands([onceCommand, runCommand, checkConfigCommand])
)

/** Help goes to stdout where it was asked for; a usage error is reported as a failure of the command. */
const presenter: CliOutput.Presenter = {
  present: (event) =>
    event._tag === "InvalidInvocation" || (event._tag === "Help" && event.reason === "Implicit")
      ? Effect.void
      : CliOutput.defaultPresenter.present(event)
}

const asFailure = (error: CliError.CliError | CommandFailed): CommandFailed =>
  error._tag === "CommandFailed" ? error : new CommandFailed({ exit: "usage", ...usageProblem("berth-watch", error) })

/** Runs the command line `args`. */
export const main = (args: ReadonlyArray<string>) =>
  Command.runWith(berthWatch, { version: pkg.version })(args).pipe(
    Effect.mapError(asFailure),
    Effect.provide([
      CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] }),
      CliOutput.layerPresenter(presenter)
    ])
  )
