/**
 * What some commands need of Node. The terminal and files are loaded when they are first used: most commands ask no
 * question and read no file.
 */
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import { Context, Effect, FileSystem, Layer, Scope, Terminal } from "effect"

/** A service of a layer that is loaded and built once, for as long as the scope lasts, when it is first used. */
const onFirstUse = <I, S>(key: Context.Key<I, S>, load: () => Promise<Layer.Layer<I>>) =>
  Effect.flatMap(Effect.scope, (scope) =>
    Effect.cached(
      Effect.promise(load).pipe(
        Effect.flatMap(Layer.build),
        Effect.map((built) => Context.get(built, key)),
        Effect.provideService(Scope.Scope, scope)
      )
    )
  )

const terminal = Layer.effect(
  Terminal.Terminal,
  Effect.map(
    onFirstUse(Terminal.Terminal, async () => (await import("@effect/platform-node/NodeTerminal")).layer),
    (loaded) =>
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

/** Those of its methods that flags and commands use; the others fail. */
const files = Layer.effect(
  FileSystem.FileSystem,
  Effect.map(
    onFirstUse(FileSystem.FileSystem, async () => (await import("@effect/platform-node/NodeFileSystem")).layer),
    (loaded) =>
      FileSystem.makeNoop({
        exists: (path) => Effect.flatMap(loaded, ({ exists }) => exists(path)),
        stat: (path) => Effect.flatMap(loaded, ({ stat }) => stat(path)),
        readFileString: (path, encoding) =>
          Effect.flatMap(loaded, ({ readFileString }) => readFileString(path, encoding))
      })
  )
)

export const platform = Layer.mergeAll(NodePath.layer, NodeStdio.layer, terminal, files)
