/**
 * Entry point of `berth-server`. On stdout it prints the ready line and nothing else; it exits with 0 after a signal and with
 * 2 and one line when it cannot start.
 */
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Effect, Exit, Layer, Logger, type Runtime, Stdio } from "effect"
import { CliConfig, CliError, CliOutput, Command, GlobalFlag } from "effect/cli"
import pkg from "../package.json" with { type: "json" }
import { command, StartFailure } from "./cli/command.ts"
import { usageSentence } from "./cli/usageSentence.ts"

const reportLine = (message: string) => Console.error(`berth-server: ${message.split("\n", 1)[0]}`)

/** A usage error is one line on stderr; help goes to stdout only when it was asked for. */
const presenter: CliOutput.Presenter = {
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? reportLine(`${usageSentence(event.errors)} (see --help)`)
      : CliOutput.defaultPresenter.present(event)
}

/** 0 after a signal, because that is how a server ends; 2 where it could not start. */
const teardown: Runtime.Teardown = (exit, onExit) => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return onExit(0)
  const error = Cause.squash(exit.cause)
  onExit(CliError.isCliError(error) || error instanceof StartFailure ? 2 : 1)
}

const program = Stdio.Stdio.use(({ args }) =>
  Effect.flatMap(args, Command.runWith(command, { version: pkg.version }))
).pipe(
  Effect.tapErrorTag("StartFailure", ({ message }) => reportLine(message)),
  Effect.tapDefect((defect) => Effect.logFatal("berth-server failed", defect)),
  Effect.provide([
    NodeServices.layer,
    CliOutput.layerPresenter(presenter),
    CliConfig.layer({ builtIns: GlobalFlag.BuiltIns.filter((flag) => flag !== GlobalFlag.Wizard) }),
    Layer.succeed(Logger.LogToStderr)(true)
  ])
)

NodeRuntime.runMain(program, { disableErrorReporting: true, teardown })
