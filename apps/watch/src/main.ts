/**
 * The process of `berth-watch`: runs the command line and ends with its exit code.
 */
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Effect, Layer } from "effect"
import { main } from "./cli.ts"
import { Stdout } from "./deliver/Stdout.ts"
import { exitCodes } from "./process/CommandFailed.ts"
import { say } from "./process/say.ts"
import { StopSignal } from "./process/StopSignal.ts"

const exitCode = main(process.argv.slice(2)).pipe(
  Effect.as<number>(exitCodes.done),
  Effect.catch(({ code, hint, message }) =>
    Effect.as(say(`berth-watch: ${message}`, ...(hint === undefined ? [] : [hint])), code)
  ),
  Effect.catchCause((cause) =>
    Effect.as(say("berth-watch: this is a fault of berth-watch.", ...Cause.pretty(cause).split("\n")), exitCodes.fault)
  ),
  Effect.provide(Layer.mergeAll(NodeServices.layer, StopSignal.layer, Stdout.layer))
)

// The process may not wait for a reader that never reads, so it does not end by itself.
Effect.runPromise(exitCode).then((code) => process.stderr.write("", () => process.exit(code)))
