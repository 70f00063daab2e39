/**
 * The whole command line of `berth-watch`.
 */
import { Effect, Logger } from "effect"
import { CliConfig, type CliError, CliOutput, Command, GlobalFlag } from "effect/cli"
import { accountFiles } from "@berth/core/client/AccountFiles"
import * as Berth from "@berth/core/client/Berth"
import * as NodeTransport from "@berth/core/client/transport/NodeTransport"
import pkg from "../package.json" with { type: "json" }
import { once } from "./commands/once.ts"
import { run } from "./commands/run.ts"
import { type ConnectionInput, connectionFlags, readConnection } from "./config/Connection.ts"
import { runFlags } from "./config/RunSettings.ts"
import { CommandFailed, exitCodes, unauthenticated, usage } from "./process/CommandFailed.ts"
import { say } from "./process/say.ts"
import { StopSignal } from "./process/StopSignal.ts"
import { usageMessage } from "./process/usageMessage.ts"

/** What the client warns of goes to whoever looks after the process; stdout has events and nothing else. */
const warnings = Logger.layer([
  Logger.make(({ message }) => {
    Effect.runFork(say(`berth-watch: ${String(message)}`))
  })
])

/** Runs a command with a client for the connection it was asked for. */
const connected = <R>(input: ConnectionInput, command: (account: string) => Effect.Effect<void, CommandFailed, R>) =>
  Effect.gen(function* () {
    const { account, client } = yield* readConnection(input)
    const { allowanceFile } = yield* accountFiles(client)
    const berth = Berth.layerOver({ ...client, allowanceFile }, NodeTransport.layer)
    yield* Effect.provide(command(account), berth)
  }).pipe(
    Effect.provide(warnings),
    Effect.catchTag("InvalidOption", ({ detail, option }) =>
      Effect.fail(
        isSecret(option)
          ? unauthenticated(
              `${settingNames[option]} is not usable: ${detail}.`,
              "Copy it again from the account portal."
            )
          : usage(`${settingNames[option] ?? option} is not usable: ${detail}.`)
      )
    )
  )

/** The settings by the names under which people set them. */
const settingNames: Readonly<Record<string, string>> = {
  baseUrl: "--base-url (BERTH_BASE_URL)",
  apiKey: "BERTH_API_KEY",
  accessToken: "BERTH_ACCESS_TOKEN"
}

const isSecret = (option: string): boolean => option === "apiKey" || option === "accessToken"

const interrupted = Effect.gen(function* () {
  yield* (yield* StopSignal).received
  return yield* new CommandFailed({ code: exitCodes.interrupted, message: "Interrupted; nothing was written." })
})

const onceCommand = Command.make("once", connectionFlags, (input) =>
  Effect.raceFirst(connected(input, once), interrupted)
).pipe(Command.withDescription("Read the whole list once and print it as one baseline event"))

const runCommand = Command.make("run", { ...connectionFlags, ...runFlags }, (input) =>
  connected(input, (account) => run(account, input))
).pipe(Command.withDescription("Watch until stopped; one event per line on stdout"))

const berthWatch = Command.make("berth-watch").pipe(
  Command.withDescription("Tells what happens to the nodes of an account, by polling"),
  Command.withSubcommands([onceCommand, runCommand])
)

/** Help goes to stdout where it was asked for; a usage error is ours to tell (see `usageMessage`). */
const presenter: CliOutput.Presenter = {
  present: (event) =>
    event._tag === "InvalidInvocation" || (event._tag === "Help" && event.reason === "Implicit")
      ? Effect.void
      : CliOutput.defaultPresenter.present(event)
}

const asFailure = (error: CliError.CliError | CommandFailed): CommandFailed =>
  error._tag === "CommandFailed" ? error : usage(usageMessage(error), `Run berth-watch --help to see what there is.`)

/** Runs the command line `args`. */
export const main = (args: ReadonlyArray<string>) =>
  Command.runWith(berthWatch, { version: pkg.version })(args).pipe(
    Effect.mapError(asFailure),
    Effect.provide([
      CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] }),
      CliOutput.layerPresenter(presenter)
    ])
  )
