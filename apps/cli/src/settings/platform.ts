/**
 * What some commands need of Node. The terminal is loaded when it is first used: most commands ask no question.
 */
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import { Context, Effect, Layer, Scope, Terminal } from "effect"

/** Loaded and built once, for as long as the scope lasts. */
const loadedTerminal = Effect.flatMap(Effect.scope, (scope) =>
  Effect.cached(
    Effect.promise(async () => (await import("@effect/platform-node/NodeTerminal")).layer).pipe(
      Effect.flatMap(Layer.build),
      Effect.map((built) => Context.get(built, Terminal.Terminal)),
      Effect.provideService(Scope.Scope, scope)
    )
  )
)

const terminal = Layer.effect(
  Terminal.Terminal,
  Effect.map(loadedTerminal, (loaded) =>
    Terminal.make({
      columns: Effect.flatMap(loaded, ({ columns }) => columns),
      rows: Effect.flatMap(loaded, ({ rows }) => rows),
      size: Effect.flatMap(loaded, ({ size }) => size),
      readInput: Effect.flatMap(loaded, ({ readInput }) => readInput),
      readLine: Effect.flatMap(loaded, ({ readLine }) => readLine),
      display: (text) => Effect.flatMap(loaded, ({ display }) => display(text))
    })
  )
)

export const platform = Layer.merge(NodeStdio.layer, terminal)
