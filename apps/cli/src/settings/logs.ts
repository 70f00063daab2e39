/**
 * Sends the client's warnings to stderr with `--debug`, and drops them otherwise, because they are not data.
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
