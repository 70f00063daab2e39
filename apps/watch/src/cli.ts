/**
 * The whole command line of `berth-watch`.
 */
import * as Berth from "@berthkit/core/client/Berth"
import * as NodeTransport from "@berthkit/core/client/transport/NodeTransport"
import { allowanceLayer } from "@berthkit/terminal/allowanceLayer"
import { readConnection } from "@berthkit/terminal/Connection"
import { flagsGiven } from "@berthkit/terminal/connectionFlags"
import { helpLayer } from "@berthkit/terminal/helpFormatter"
import { runArguments } from "@berthkit/terminal/runArguments"
import { usageProblem } from "@berthkit/terminal/usage"
import { Effect, Layer, Logger, Option } from "effect"
import { Argument, CliConfig, type CliError, CliOutput, Command, Flag, GlobalFlag } from "effect/cli"
import pkg from "../package.json" with { type: "json" }
import { addFlags as accountFlags, nameArgument } from "./commands/accountFlags.ts"
import { changing, reading } from "./commands/asking.ts"
import { backup } from "./commands/backup.ts"
import { checkConfig } from "./commands/checkConfig.ts"
import { events, eventsFlags } from "./commands/events.ts"
import { migrateStore } from "./commands/migrate.ts"
import { nodes, nodesFlags } from "./commands/nodes.ts"
import { once } from "./commands/once.ts"
import { run } from "./commands/run.ts"
import { makeSecret } from "./commands/secret.ts"
import { changeSink, deadLetters, listSinks, replaySink, testSink } from "./commands/sinks.ts"
import { addFlags, addSilence, endFlags, endSilence, listSilences, readSilence } from "./commands/silences.ts"
import { formats, status } from "./commands/status.ts"
import { CommandFailed } from "./process/CommandFailed.ts"
import { report } from "./process/report.ts"
import { StopSignal } from "./process/signals.ts"
import {
  connectionFlags,
  type ConnectionOptions,
  fromSettingFault,
  readAccount,
  readRunConfig,
  withoutConfigFlags
} from "./settings/runConfig.ts"
import { runFlags } from "./settings/RunSettings.ts"
import { storeFlags } from "./settings/storeSettings.ts"
import { textFlag } from "./settings/textFlag.ts"

/** Warnings go to stderr; stdout has only events. */
const warnings = Logger.layer([
  Logger.make(({ message }) => {
    Effect.runFork(report(`berth-watch: ${String(message)}`))
  })
])

/** Runs a command with a client for the connection in the settings. */
const connected = <R>(flags: ConnectionOptions, command: (account: string) => Effect.Effect<void, CommandFailed, R>) =>
  Effect.gen(function* () {
    const connection = yield* readConnection(flags.baseUrl, flags.allowHttp, flagsGiven(flags))
    const account = yield* readAccount(flags.account)
    // `readConnection` has checked the options.
    const berth = Layer.orDie(Berth.layerOver(connection.options, NodeTransport.layer)).pipe(
      Layer.provide(allowanceLayer(connection))
    )
    yield* Effect.provide(command(account), berth)
  }).pipe(Effect.provide(warnings), Effect.catchTag("SettingFault", fromSettingFault))

const interrupted = Effect.gen(function* () {
  yield* (yield* StopSignal).received
  return yield* new CommandFailed({ exit: "interrupted", message: "Interrupted; nothing was written." })
})

const onceCommand = Command.make("once", connectionFlags, (flags) =>
  Effect.raceFirst(connected(flags, once), interrupted)
).pipe(
  Command.withDescription("Read the whole list once; print a baseline event, then an event for each node"),
  Command.withExamples([
    { command: "berth-watch once > nodes.ndjson", description: "Save all nodes, one event per line" }
  ])
)

const runCommand = Command.make("run", { ...withoutConfigFlags, ...storeFlags, ...runFlags }, (flags) =>
  readRunConfig(flags).pipe(
    Effect.flatMap((config) => run(config, Option.getOrNull(flags.config), flags)),
    Effect.provide(warnings)
  )
).pipe(
  Command.withDescription("Watch until stopped; without a config, print one event per line to stdout"),
  Command.withExamples([
    { command: "berth-watch run", description: "Print the events of the account set with BERTH_* variables" },
    {
      command: "berth-watch run --store watch.db --listen 127.0.0.1:9500",
      description: "Keep the events in another file, and serve the dashboard on another port"
    },
    {
      command: "berth-watch run --config watch.yaml",
      description: "Watch, and deliver events to the sinks in a config"
    }
  ])
)

const checkConfigCommand = Command.make(
  "check-config",
  { file: Argument.String("FILE").pipe(Argument.withDescription("The config to check")) },
  ({ file }) => checkConfig(file)
).pipe(
  Command.withDescription("Check a config and its secrets, and print errors with line and column"),
  Command.withExamples([{ command: "berth-watch check-config watch.yaml", description: "Check before a reload" }])
)

const eventsCommand = Command.make("events", { ...storeFlags, ...eventsFlags }, (flags) => events(flags)).pipe(
  Command.withDescription("Print events from the store, one per line"),
  Command.withExamples([
    { command: "berth-watch events --follow --type 'berth.node.*'", description: "Follow what happens to nodes" },
    {
      command: "berth-watch events --node 97899 --format csv > node.csv",
      description: "The history of a node as a table"
    }
  ])
)

const nodesCommand = Command.make("nodes", { ...storeFlags, ...nodesFlags }, (flags) =>
  reading(flags, (daemon) => nodes(daemon, flags.at))
).pipe(
  Command.withDescription("Print the nodes, now or at an earlier time"),
  Command.withExamples([{ command: "berth-watch nodes --at 2h", description: "The nodes of two hours ago" }])
)

const outputFlags = {
  ...storeFlags,
  output: Flag.Literals("output", formats).pipe(
    Flag.withAlias("o"),
    Flag.withDescription("text or json; default text at a terminal, otherwise json"),
    Flag.optional
  )
}

const formatOf = ({ output }: { readonly output: Option.Option<(typeof formats)[number]> }) =>
  Option.getOrElse(output, () => (process.stdout.isTTY ? "text" : "json"))

const statusCommand = Command.make("status", outputFlags, (flags) => reading(flags, status(formatOf(flags)))).pipe(
  Command.withDescription("Print what is wrong, and the state of accounts and sinks"),
  Command.withExamples([{ command: "berth-watch status -o json", description: "For a program" }])
)

const sinkName = {
  ...storeFlags,
  name: Argument.String("NAME").pipe(Argument.withDescription("Name of the sink, as in the config"))
}

const sinkChange = (change: "enable" | "retry" | "remove", description: string) =>
  Command.make(change, sinkName, (flags) => changing(flags, (daemon) => changeSink(daemon, change, flags.name))).pipe(
    Command.withDescription(description)
  )

const deadFlags = {
  retry: textFlag("retry", "ID", "Deliver the event with this id now")
}

const sinksCommand = Command.make("sinks", storeFlags, (flags) => reading(flags, listSinks)).pipe(
  Command.withDescription("Show the delivery progress of each sink (event receiver), or manage one"),
  Command.withExamples([
    {
      command: "berth-watch sinks --config watch.yaml",
      description: "Lag, waiting events and dead letters of each sink"
    },
    { command: "berth-watch sinks retry ops", description: "Deliver the failed events of the sink ops now" }
  ]),
  Command.withSubcommands([
    sinkChange("enable", "Enable a disabled sink"),
    sinkChange("retry", "Deliver a sink's dead letters (failed events) and waiting events now"),
    sinkChange("remove", "Forget a sink that is no longer in the config"),
    Command.make("dead", { ...sinkName, ...deadFlags }, (flags) =>
      (Option.isSome(flags.retry) ? changing : reading)(flags, (daemon) => deadLetters(daemon, flags.name, flags.retry))
    ).pipe(
      Command.withDescription("Print the events that a sink gave up on, with the reason"),
      Command.withExamples([
        { command: "berth-watch sinks dead ops", description: "All dead letters, one JSON document per line" }
      ])
    ),
    Command.make("test", sinkName, (flags) => testSink(flags.name, flags)).pipe(
      Command.withDescription("Send a test event to the receiver of a sink"),
      Command.withExamples([
        {
          command: "berth-watch sinks test ops --config watch.yaml",
          description: "Works without a running daemon, too"
        }
      ])
    )
  ])
)

const silenceCommand = Command.make("silence").pipe(
  Command.withDescription("Hold events back from sinks for a while, e.g. during maintenance"),
  Command.withSubcommands([
    Command.make("add", { ...outputFlags, ...addFlags }, (flags) =>
      Effect.flatMap(readSilence(flags), (request) =>
        changing(flags, (daemon) => addSilence(daemon, request, formatOf(flags)))
      )
    ).pipe(
      Command.withDescription("Begin a silence, or plan one with --from"),
      Command.withExamples([
        {
          command: "berth-watch silence add --nodes 'web-*' --for 2h --reason upgrade",
          description: "Hold back events about web-* for two hours"
        },
        {
          command: "berth-watch silence add --account acme --from 30m --for 1h --reason migration",
          description: "Plan a silence for all events of an account"
        }
      ])
    ),
    Command.make("list", outputFlags, (flags) =>
      reading(flags, (daemon) => listSilences(daemon, formatOf(flags)))
    ).pipe(Command.withDescription("Print silences: planned, active, or ended within a day")),
    Command.make("end", { ...outputFlags, ...endFlags }, (flags) =>
      changing(flags, (daemon) => endSilence(daemon, flags, formatOf(flags)))
    ).pipe(
      Command.withDescription("End a silence now, or cancel a planned one"),
      Command.withExamples([
        { command: "berth-watch silence end ID --then drop", description: "End a silence and discard the held events" }
      ])
    )
  ])
)

type Accounts = typeof import("./commands/accounts.ts")

/** Runs a command of `account`, and loads its code only now. */
const ofAccounts = <A, E, R>(command: (accounts: Accounts) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    Effect.promise(() => import("./commands/accounts.ts")),
    command
  )

const accountName = { ...storeFlags, name: nameArgument }

const accountChange = (name: string, state: "active" | "paused" | "removed", description: string) =>
  Command.make(name, accountName, (flags) => ofAccounts(({ setAccount }) => setAccount(flags, flags.name, state))).pipe(
    Command.withDescription(description)
  )

const accountCommand = Command.make("account").pipe(
  Command.withDescription("Manage accounts in a PostgreSQL store, in addition to those in the config"),
  Command.withSubcommands([
    Command.make("add", { ...storeFlags, ...accountFlags }, (flags) =>
      ofAccounts(({ addAccount }) => addAccount(flags, flags))
    ).pipe(
      Command.withDescription("Start watching an account, with credentials from variables, files or stdin"),
      Command.withExamples([
        {
          command:
            "berth-watch account add acme --base-url https://HOST --api-key-env ACME_KEY --access-token-env ACME_TOKEN",
          description: "Read the credentials from variables"
        }
      ])
    ),
    Command.make("list", outputFlags, (flags) =>
      ofAccounts(({ listAccounts }) => listAccounts(flags, formatOf(flags)))
    ).pipe(Command.withDescription("Print the accounts and where their credentials are")),
    accountChange("pause", "paused", "Stop polling an account until you resume it"),
    accountChange("resume", "active", "Continue watching a paused account"),
    accountChange(
      "remove",
      "removed",
      "Stop watching an account; its events are kept for the configured retention time"
    ),
    Command.make("reseal", storeFlags, (flags) => ofAccounts(({ resealAccounts }) => resealAccounts(flags))).pipe(
      Command.withDescription("Encrypt all credentials again with the newest key")
    )
  ])
)

const replayFlags = {
  ...storeFlags,
  sink: Flag.String("sink").pipe(Flag.withMetavar("NAME"), Flag.withDescription("Name of the sink")),
  after: Flag.String("after").pipe(
    Flag.withMetavar("CURSOR"),
    Flag.withDescription(
      "Start after this cursor (printed by berth-watch events); '' for the oldest event that is kept"
    )
  ),
  account: textFlag("account", "NAME", "Only events of this account")
}

const replayCommand = Command.make("replay", replayFlags, (flags) =>
  changing(flags, (daemon) => replaySink(daemon, flags.sink, flags.after, Option.getOrUndefined(flags.account)))
).pipe(
  Command.withDescription("Redeliver all events after a cursor to a sink"),
  Command.withExamples([
    { command: "berth-watch replay --sink ops --after ''", description: "Deliver all kept events again" }
  ])
)

const backupCommand = Command.make(
  "backup",
  { ...storeFlags, file: Argument.String("FILE").pipe(Argument.withDescription("Where to write the copy")) },
  (flags) => backup(flags, flags.file)
).pipe(
  Command.withDescription("Copy the store to a file"),
  Command.withExamples([
    { command: "berth-watch backup watch-backup.db", description: "A consistent copy while the daemon runs" }
  ])
)

const migrateCommand = Command.make("migrate", storeFlags, migrateStore).pipe(
  Command.withDescription(
    "Make or update the tables of a PostgreSQL store, and print the rights that the daemon's database user needs"
  )
)

const secretCommand = Command.make("secret", {}, () => makeSecret).pipe(
  Command.withDescription("Print a new signing secret for a webhook")
)

const berthWatch = Command.make("berth-watch").pipe(
  Command.withDescription("Watch the nodes of an account and report each change as an event"),
  Command.withExamples([
    { command: "berth-watch run --config watch.yaml", description: "Watch until stopped" },
    {
      command: "berth-watch status --config watch.yaml",
      description: "What is wrong, and how far each sink has got"
    },
    {
      command: "berth-watch silence add --nodes 'web-*' --for 2h --reason upgrade",
      description: "Hold back events during maintenance"
    }
  ]),
  Command.withSubcommands([
    onceCommand,
    runCommand,
    checkConfigCommand,
    statusCommand,
    eventsCommand,
    nodesCommand,
    sinksCommand,
    silenceCommand,
    accountCommand,
    replayCommand,
    secretCommand,
    backupCommand,
    migrateCommand
  ])
)

/**
 * Prints help on stdout if the user asked for it. Usage errors print nothing here, because they become failures of the command.
 */
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
  runArguments(berthWatch, { presenter, version: pkg.version })(args).pipe(
    Effect.mapError(asFailure),
    Effect.provide([
      CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] }),
      helpLayer
    ])
  )
