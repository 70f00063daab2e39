/**
 * The two streams of the program: data goes to stdout, everything else to stderr. Knows what each of them can show; the
 * callers decide what they show.
 */
import type { Writable } from "node:stream"
import { escapeControls, escapeControlsInLines } from "@berthkit/terminal/escapeControls"
import { readSetting } from "@berthkit/terminal/readSetting"
import { Context, Data, Effect, Layer } from "effect"
import { outputFault } from "../failure/outputFault.ts"
import { rowsOf } from "./cells.ts"
import { type Surface, surfaceOf, type TerminalStream } from "./Surface.ts"

export class Output extends Context.Service<
  Output,
  {
    readonly stdout: Surface
    readonly stderr: Surface
    /** Writes data. Once the reader has gone (`berth … | head -1`) it writes nothing more, and that is no failure. */
    readonly data: (text: string) => Effect.Effect<void>
    /** Whether the reader of the data has gone. */
    readonly readerGone: Effect.Effect<boolean>
    /** Whether notes and progress are wanted on stderr, and not errors alone. */
    readonly chatty: boolean
    /** Whether errors are for programs: one line of JSON. */
    readonly jsonErrors: boolean
    /** Writes lines to stderr, without any secret that is set: errors and questions. Notes go by `printNote`. */
    readonly note: (text: string) => Effect.Effect<void>
    /** Writes that a result leaves something out: a line of its own in every format, as JSON where errors are. None with `--quiet`. */
    readonly warn: (text: string) => Effect.Effect<void>
    /** A hint, with its commands for the account that the command line names. */
    readonly followable: (hint: string) => string
    /** Writes a question to stderr and leaves the cursor behind it. */
    readonly ask: (question: string) => Effect.Effect<void>
    /** Repaints the one live line of stderr; an empty text removes it. Only where `stderr.animate` is true. */
    readonly live: (line: string) => Effect.Effect<void>
  }
>()("@berthkit/cli/output/Output") {
  /** Output to these streams. */
  static readonly layer = (streams: Streams, options: OutputSettings) => Layer.effect(Output, make(streams, options))
}

/** How to write to the streams. */
export interface OutputSettings {
  /** Masks secrets in what goes to stderr. Made with the first text: most runs write none. */
  readonly redact: Effect.Effect<(text: string) => string>
  /** The value of `--color`. */
  readonly color?: string | undefined
  /** Whether only errors go to stderr; default false. */
  readonly quiet?: boolean
  /** Makes the commands of a hint name the account that this command line names; default unchanged. */
  readonly followable?: (hint: string) => string
  /** Whether errors are JSON, which stands alone on a stderr that is no terminal; default false. */
  readonly jsonErrors?: boolean
}

/** The streams of a process. */
export interface Streams {
  readonly stdout: TerminalStream
  readonly stderr: TerminalStream
}

const eraseLine = "\r\u001b[2K"

/** Erases a painted line. It takes several rows if the terminal has become narrower since. */
const erased = (line: string, columns: number): string => {
  const rows = rowsOf(line, columns)
  return rows === 1 ? eraseLine : `\r\u001b[${rows - 1}A\u001b[J`
}

const environment = Effect.all({
  noColor: readSetting("NO_COLOR"),
  forceColor: readSetting("FORCE_COLOR"),
  term: readSetting("TERM")
})

/** What a command changed, for a user who does not get the data about it. */
export interface Changed {
  /** A sentence. */
  readonly message: string
  /** What to do next. */
  readonly hint: string
  /** The same for a program. */
  readonly details: Readonly<Record<string, unknown>>
}

/** Data that cannot be written, as on a full disk. No command can do anything about it, so that it is a defect. */
export class StdoutFailed extends Data.TaggedError("StdoutFailed")<{
  readonly error: Error
  /** Undefined where the command has changed nothing, or only what its arguments name. */
  readonly changed?: Changed | undefined
}> {
  readonly exit = "localFile"
  get hint() {
    return this.changed?.hint ?? `${outputFault(this.error).hint} What the command changed stays changed.`
  }
  get details() {
    return this.changed?.details ?? {}
  }
  override get message() {
    const { message } = outputFault(this.error)
    return this.changed === undefined ? message : `${message} ${this.changed.message}`
  }
}

/** Prints data about a change. If it cannot be written, the error says what was changed. */
export const reportingChanged =
  (changed: Changed | undefined) =>
  <A, E, R>(print: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.catchDefect(print, (defect) =>
      Effect.die(defect instanceof StdoutFailed ? new StdoutFailed({ error: defect.error, changed }) : defect)
    )

const isClosed = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "EPIPE"

/** Writes whole texts to a stream, each waiting for the one before, until its reader has gone. */
const writer = (stream: Writable, failed: (error: Error) => Effect.Effect<void>) => {
  let gone = false
  // Each failure is reported to its own write; without a listener the stream would also end the process.
  stream.on("error", () => {})
  const write = (text: string): Effect.Effect<void> =>
    Effect.callback<void>((resume) => {
      if (gone || text === "") return resume(Effect.void)
      stream.write(text, (error) => {
        if (!error) return resume(Effect.void)
        if (!isClosed(error)) return resume(failed(error))
        gone = true
        resume(Effect.void)
      })
    })
  return { write, gone: Effect.sync(() => gone) }
}

const make = Effect.fnUntraced(function* (
  { stderr, stdout }: Streams,
  { color, followable = (hint) => hint, jsonErrors = false, quiet = false, redact }: OutputSettings
) {
  const env = { ...(yield* environment), color }
  const chatty = !quiet && (!jsonErrors || stderr.isTTY === true)
  const out = writer(stdout, (error) => Effect.die(new StdoutFailed({ error })))
  // Nothing is left to report to.
  const err = writer(stderr, () => Effect.void)
  // Not `Effect.cached`, which would keep an interruption, too.
  let mask: ((text: string) => string) | undefined
  const masked = (text: string) =>
    Effect.suspend(() =>
      mask === undefined ? Effect.map(redact, (made) => (mask = made)(text)) : Effect.succeed(mask(text))
    )
  const surface = surfaceOf(stderr, env, chatty)
  let painted = ""

  const note = (text: string) =>
    Effect.flatMap(masked(text), (safe) => {
      const clear = painted === "" ? "" : erased(painted, surface.columns)
      painted = ""
      return err.write(`${clear}${safe}\n`)
    })
  const live = (line: string) =>
    Effect.suspend(() =>
      line === "" && painted === ""
        ? Effect.void
        : Effect.flatMap(masked(line), (safe) => {
            const clear = erased(painted, surface.columns)
            painted = safe
            return err.write(clear + safe)
          })
    )

  return Output.of({
    stdout: surfaceOf(stdout, env),
    stderr: surface,
    chatty,
    jsonErrors,
    // On one terminal the data would follow the live line.
    data: (text) => Effect.andThen(live(""), out.write(text)),
    readerGone: out.gone,
    note,
    warn: (text) => {
      const message = escapeControls(text)
      return quiet ? Effect.void : note(jsonErrors ? JSON.stringify({ warning: { message } }) : message)
    },
    followable,
    ask: (question) => Effect.flatMap(masked(question), err.write),
    live
  })
})

/** Writes a note of one line to stderr, where notes are wanted, with text from outside made safe: a name in it begins no line of its own. */
export const printNote = (text: string) =>
  Output.use(({ chatty, note }) => (chatty ? note(escapeControls(text)) : Effect.void))

/** Writes lines of `--debug` to stderr, where it was asked for. */
export const printDebug = (text: string) => Output.use(({ note }) => note(escapeControlsInLines(text)))
