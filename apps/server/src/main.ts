/**
 * Entry point of `berth-server`. The server prints only the ready line on stdout. After a signal it exits with 0. If it
 * cannot start, it prints one line on stderr and exits with 2.
 */
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { exitCode } from "@berthkit/terminal/exitCode"
import { helpLayer } from "@berthkit/terminal/helpFormatter"
import { runArguments } from "@berthkit/terminal/runArguments"
import { usageProblem } from "@berthkit/terminal/usage"
import { Cause, Console, Effect, Exit, Layer, Logger, type Runtime, Stdio } from "effect"
import { CliConfig, CliError, CliOutput, GlobalFlag } from "effect/cli"
import pkg from "../package.json" with { type: "json" }
import { command } from "./cli/command.ts"
import { handleSignals } from "./cli/signals.ts"
import { Declined, ServiceMoved } from "@berthkit/learn/outcomes"
import { StartFailure } from "@berthkit/terminal/StartFailure"

/** Prints one line on stderr. It begins with the program's name. */
const reportLine = (message: string) =>
  Console.error(escapeControls(message.startsWith("berth-server ") ? message : `berth-server: ${message}`))

/** A usage error, with its hint on the same line. */
const reportUsage = (error: CliError.CliError) => {
  const { hint, message } = usageProblem("berth-server", error, { hasSecretFlags: true })
  return reportLine(`${message} ${hint}`)
}

/** Shows the help that the user has requested. It shows no usage errors, because `reportUsage` prints those when the program fails. */
const presenter: CliOutput.Presenter = {
  present: (event) => (event._tag === "InvalidInvocation" ? Effect.void : CliOutput.defaultPresenter.present(event))
}

/** Whether the command is `learn`, which is not a server: it ends by itself, and a signal aborts it. */
const isLearning = process.argv[2] === "learn"

/** Chooses the exit code: `done` after a signal, which is the normal end of a server; `usage` if the program could not start. */
const teardown: Runtime.Teardown = (exit, onExit) => {
  if (Exit.isSuccess(exit)) return onExit(exitCode.done)
  if (Cause.hasInterruptsOnly(exit.cause)) return onExit(isLearning ? exitCode.interrupted : exitCode.done)
  const error = Cause.squash(exit.cause)
  if (error instanceof Declined) return onExit(exitCode.interrupted)
  if (error instanceof ServiceMoved) return onExit(exitCode.different)
  onExit(CliError.isCliError(error) || error instanceof StartFailure ? exitCode.usage : exitCode.fault)
}

const program = Stdio.Stdio.use(({ args }) =>
  Effect.flatMap(args, runArguments(command, { presenter, version: pkg.version }))
).pipe(
  Effect.tapError((error) => (CliError.isCliError(error) ? reportUsage(error) : reportLine(error.message))),
  Effect.tapDefect((defect) => Effect.logFatal("berth-server failed", defect)),
  Effect.provide([
    NodeServices.layer,
    helpLayer,
    CliConfig.layer({ builtIns: GlobalFlag.BuiltIns.filter((flag) => flag !== GlobalFlag.Wizard) }),
    Layer.succeed(Logger.LogToStderr)(true)
  ])
)

handleSignals()
NodeRuntime.runMain(program, { disableErrorReporting: true, teardown })
