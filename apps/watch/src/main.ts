/**
 * The process of `berth-watch`: runs the command line and ends with its exit code.
 */
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { exitCode } from "@berthkit/terminal/exitCode"
import { Cause, Effect, Layer } from "effect"
import { main } from "./cli.ts"
import { Stdout } from "./deliver/Stdout.ts"
import { report } from "./process/report.ts"
import { StopSignal } from "./process/signals.ts"

/** The sentence with the program's name in front, unless it already begins with the name. */
const named = (message: string): string => (message.startsWith("berth-watch ") ? message : `berth-watch: ${message}`)

const program = main(process.argv.slice(2)).pipe(
  Effect.as<number>(exitCode.done),
  Effect.catch(({ exit, hint, message }) =>
    Effect.as(report(named(message), ...(hint === undefined ? [] : [hint])), exitCode[exit])
  ),
  Effect.catchCause((cause) =>
    Effect.as(report("berth-watch: this is a bug in berth-watch.", ...Cause.pretty(cause).split("\n")), exitCode.fault)
  ),
  Effect.provide(Layer.mergeAll(NodeServices.layer, StopSignal.layer, Stdout.layer))
)

// Exit explicitly. Otherwise a program that never reads our output would keep the process alive.
Effect.runPromise(program).then((code) => process.stderr.write("", () => process.exit(code)))
