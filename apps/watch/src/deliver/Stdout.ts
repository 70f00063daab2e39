/** Standard output: batches of lines are written one after the other, each completely before the next. */
import type { Writable } from "node:stream"
import { Context, Data, Effect, Layer } from "effect"

/** The stream takes no more data, usually because its reader has gone. */
export class StreamClosed extends Data.TaggedError("StreamClosed")<{
  /** The system's code, such as `EPIPE` or `ENOSPC`. */
  readonly code: string
}> {
  override get message() {
    return `Cannot write to standard output (${this.code}).`
  }
}

export class Stdout extends Context.Service<
  Stdout,
  {
    /** Writes `text`; completes once the system has taken all of it, however slow the reader is. */
    readonly write: (text: string) => Effect.Effect<void, StreamClosed>
  }
>()("@berthkit/watch/deliver/Stdout") {
  static readonly layerOf = (stream: Writable): Layer.Layer<Stdout> =>
    Layer.sync(Stdout, () => {
      // Each write gets its own failure. Without this listener, an error of the stream would also end the process.
      stream.on("error", () => {})
      const write = (text: string) =>
        Effect.callback<void, StreamClosed>((resume) => {
          stream.write(text, (error?: NodeJS.ErrnoException | null) =>
            resume(error ? Effect.fail(new StreamClosed({ code: error.code ?? error.message })) : Effect.void)
          )
        })
      return Stdout.of({ write })
    })

  static readonly layer = Layer.suspend(() => Stdout.layerOf(process.stdout))
}
