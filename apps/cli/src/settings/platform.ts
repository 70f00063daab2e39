/**
 * Node services for some commands. The terminal is loaded at its first use, because most commands ask no question.
 */
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import process from "node:process"
import { Context, Effect, Layer, Scope, Terminal } from "effect"

/** The terminal, which is loaded once in the lifetime of the scope. */
const loadedTerminal = Effect.flatMap(Effect.scope, (scope) =>
  Effect.cached(
    Effect.promise(async () => (await import("@effect/platform-node/NodeTerminal")).layer).pipe(
      Effect.flatMap(Layer.build),
      Effect.map((built) => Context.get(built, Terminal.Terminal)),
      Effect.provideService(Scope.Scope, scope)
    )
  )
)

export const terminal = Layer.effect(
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

/** How long to wait for typed keys. Most terminals deliver them within a turn of the event loop; slow ones need longer. */
const typedAheadPause = "50 millis"

/** The byte of Ctrl-C, which the terminal in raw mode delivers instead of a signal. */
const ctrlC = 0x03

/** Drops what was typed at the terminal so far, even an unfinished line. If that contains Ctrl-C, runs `interrupted`. */
export const dropTypedAhead = <A, E, R>(interrupted: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const { stdin } = process
      const typed: Array<Buffer> = []
      const keep = (data: Buffer) => void typed.push(data)
      // Without raw mode, only whole lines could be read.
      if (stdin.isTTY) stdin.setRawMode(true).on("data", keep).resume()
      return { stdin, typed, keep }
    }),
    ({ stdin, typed }) =>
      stdin.isTTY
        ? Effect.andThen(
            Effect.sleep(typedAheadPause),
            Effect.suspend((): Effect.Effect<A | void, E, R> =>
              typed.some((data) => data.includes(ctrlC)) ? interrupted : Effect.void
            )
          )
        : Effect.void,
    ({ keep, stdin }) =>
      Effect.sync(() => {
        if (stdin.isTTY) stdin.off("data", keep).pause().setRawMode(false)
      })
  )

export const platform = Layer.merge(NodeStdio.layer, terminal)
