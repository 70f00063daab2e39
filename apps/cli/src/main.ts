/**
 * The process around `cli.ts`: its arguments, its streams, its signals and its exit code.
 */
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import { run } from "./cli.ts"

// Set and not called: the process ends by itself once everything it wrote has been taken.
const exit = (code: number) => {
  process.exitCode = code
}

NodeRuntime.runMain(Effect.map(run(process.argv.slice(2), process), exit), { disableErrorReporting: true })
