/**
 * The client's warnings are no data: they go to stderr, with `--debug`, and nowhere without.
 */
import { Effect, Layer, Logger } from "effect"
import { Output, printDebug } from "../output/Output.ts"

export const logs = (debug: boolean) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const output = yield* Output
      const debugLine = Logger.make(({ message }) => {
        Effect.runFork(Effect.provideService(printDebug(`debug: ${String(message)}`), Output, output))
      })
      return Logger.layer(debug ? [debugLine] : [])
    })
  )
