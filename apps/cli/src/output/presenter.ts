/**
 * The parser presents nothing by itself: help is printed by `cli.ts` before it, and a fault of the command line is reported by
 * `ending.ts`, in two lines and not as a page of help.
 */
import { Effect, Layer } from "effect"
import { CliOutput } from "effect/cli"

export const presenter = Layer.succeed(CliOutput.Presenter, { present: () => Effect.void })
