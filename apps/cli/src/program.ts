/**
 * The process around `cli.ts`: its streams, its signals and its exit code.
 */
import { exitCode } from "@berthkit/terminal/exitCode"
import { Effect, Exit, Runtime } from "effect"
import { run } from "./cli.ts"

/** What a signal ends the process with, once what runs has been interrupted and has reported it. */
const signals = {
  SIGINT: exitCode.interrupted,
  SIGHUP: exitCode.hungUp,
  SIGTERM: exitCode.terminated
} as const

const runMain = Runtime.makeRunMain(({ fiber }) => {
  let signalled: number | undefined
  for (const [signal, code] of Object.entries(signals)) {
    process.on(signal, () => {
      signalled ??= code
      fiber.interruptUnsafe(fiber.id)
    })
  }
  fiber.addObserver((exit) => {
    if (signalled !== undefined || Exit.isFailure(exit)) process.exit(signalled ?? exitCode.fault)
  })
})

// Set and not called: the process ends by itself once everything it wrote has been taken.
const exit = (code: number) => {
  process.exitCode = code
}

runMain(Effect.map(run(process.argv.slice(2), process), exit), { disableErrorReporting: true })
