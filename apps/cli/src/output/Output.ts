/**
 * The two streams of the program: data goes to stdout, everything else to stderr. Knows what each of them can show; the
 * callers decide what they show.
 */
import type { Writable } from "node:stream"
import { escapeControls } from "@berth/terminal/escapeControls"
import { Config, Context, Effect, Layer, Option } from "effect"

/** What a stream can show. */
export interface Surface {
  readonly isTerminal: boolean
  /** Width in cells; infinite where it is no terminal. */
  readonly columns: number
  /** Whether it shows colours. */
  readonly colour: boolean
  /** Whether a line may be repainted on it. */
  readonly animate: boolean
}

export class Output extends Context.Service<
  Output,
  {
    readonly stdout: Surface
    readonly stderr: Surface
    /** Writes data. Once the reader has gone (`berth … | head -1`) it writes nothing more, and that is no failure. */
    readonly data: (text: string) => Effect.Effect<void>
    /** Whether the reader of the data has gone. */
    readonly readerGone: Effect.Effect<boolean>
    /** Writes lines to stderr, without any secret that is set in the environment. */
    readonly note: (text: string) => Effect.Effect<void>
    /** Writes a question to stderr and leaves the cursor behind it. */
    readonly ask: (question: string) => Effect.Effect<void>
    /** Repaints the one live line of stderr; an empty text removes it. Only where `stderr.animate` is true. */
    readonly live: (line: string) => Effect.Effect<void>
  }
>()("@berth/cli/output/Output") {
  /** Output to these streams. `redact` masks secrets in what goes to stderr. */
  static readonly layer = (streams: Streams, redact: (text: string) => string) =>
    Layer.effect(Output, make(streams, redact))
}

/** A stream that may be a terminal. */
export type TerminalStream = Writable & { readonly isTTY?: boolean; readonly columns?: number }

/** What a process has of them. */
export interface Streams {
  readonly stdout: TerminalStream
  readonly stderr: TerminalStream
}

const fallbackColumns = 80
const eraseLine = "\r\u001b[2K"

const environment = Config.all({
  noColor: Config.option(Config.String("NO_COLOR")),
  forceColor: Config.option(Config.String("FORCE_COLOR")),
  term: Config.option(Config.String("TERM"))
})

/** What a stream can show, by the conventions of NO_COLOR, FORCE_COLOR and TERM; the first of these wins. */
export const surfaceOf = (
  stream: Pick<TerminalStream, "isTTY" | "columns">,
  env: {
    readonly noColor?: string | undefined
    readonly forceColor?: string | undefined
    readonly term?: string | undefined
  }
): Surface => {
  const isTerminal = stream.isTTY === true
  const forced = env.forceColor === undefined ? undefined : !/^(?:0|false)$/i.test(env.forceColor)
  const dumb = env.term === "dumb"
  return {
    isTerminal,
    columns: isTerminal ? stream.columns || fallbackColumns : Number.POSITIVE_INFINITY,
    colour: env.noColor === undefined && (forced ?? (isTerminal && !dumb)),
    animate: isTerminal && !dumb
  }
}

const isClosed = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "EPIPE"

/** Writes whole texts to a stream, each waiting for the one before, until its reader has gone. */
const writer = (stream: Writable, name: string) => {
  let gone = false
  // Each failure is reported to its own write; without a listener the stream would also end the process.
  stream.on("error", () => {})
  const write = (text: string): Effect.Effect<void> =>
    Effect.callback<void>((resume) => {
      if (gone || text === "") return resume(Effect.void)
      stream.write(text, (error) => {
        if (!error) return resume(Effect.void)
        if (!isClosed(error)) return resume(Effect.die(new Error(`${name} cannot be written: ${error.message}`)))
        gone = true
        resume(Effect.void)
      })
    })
  return { write, gone: Effect.sync(() => gone) }
}

const make = Effect.fnUntraced(function* ({ stderr, stdout }: Streams, redact: (text: string) => string) {
  const read = yield* Effect.orDie(environment)
  const env = {
    noColor: Option.getOrUndefined(read.noColor),
    forceColor: Option.getOrUndefined(read.forceColor),
    term: Option.getOrUndefined(read.term)
  }
  const out = writer(stdout, "stdout")
  const err = writer(stderr, "stderr")
  let painted = false

  const note = (text: string) =>
    Effect.suspend(() => {
      const clear = painted ? eraseLine : ""
      painted = false
      return err.write(`${clear}${redact(text)}\n`)
    })
  const live = (line: string) =>
    Effect.suspend(() => {
      if (line === "" && !painted) return Effect.void
      painted = line !== ""
      return err.write(eraseLine + redact(line))
    })

  return Output.of({
    stdout: surfaceOf(stdout, env),
    stderr: surfaceOf(stderr, env),
    // On one terminal the data would follow the live line.
    data: (text) => Effect.andThen(live(""), out.write(text)),
    readerGone: out.gone,
    note,
    ask: (question) => err.write(redact(question)),
    live
  })
})

/** Writes a note of one line to stderr, with text from outside made safe: a name in it begins no line of its own. */
export const printNote = (text: string) => Output.use(({ note }) => note(escapeControls(text)))
