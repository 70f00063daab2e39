/**
 * The program's output: data goes to stdout, everything else to stderr. This service knows what each stream can show; the callers decide
 * what to show.
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
    /** Writes data. After the reader has closed (`berth … | head -1`), it writes nothing and does not fail. */
    readonly data: (text: string) => Effect.Effect<void>
    /**
     * Tells the output that the command changes something. From now on, data that cannot be written to stdout goes to
     * stderr, because the data may be the only report of the change.
     */
    readonly noteChange: Effect.Effect<void>
    /** Whether the command has changed something. */
    readonly hasChanged: Effect.Effect<boolean>
    /** Ends the command because `text` could not be written to stdout. The text goes to stderr if it reports a change. */
    readonly lost: (text: string, why: Pick<StdoutFailed, "error" | "remedy">) => Effect.Effect<never>
    /** Writes to stderr the data of a change that a query has left out. Writes nothing if the command has changed nothing. */
    readonly unqueried: (text: string) => Effect.Effect<void>
    /** Whether the reader of the data has gone. */
    readonly readerGone: Effect.Effect<boolean>
    /** Whether notes and progress are wanted on stderr, in addition to errors. */
    readonly chatty: boolean
    /** Whether errors are for programs, as one line of JSON. */
    readonly jsonErrors: boolean
    /** Writes errors and questions to stderr, with all secrets masked. Notes use `printNote`. */
    readonly note: (text: string) => Effect.Effect<void>
    /** Warns that a result is incomplete, in one line of text, or of JSON if errors are JSON. Silent with `--quiet`. */
    readonly warn: (text: string) => Effect.Effect<void>
    /** Adds the account flags of the command line to the commands of a hint. */
    readonly followable: (hint: string) => string
    /** Writes a question to stderr without a line feed. */
    readonly ask: (question: string) => Effect.Effect<void>
    /** Repaints the live line of stderr; an empty string removes it. Allowed only if `stderr.animate` is true. */
    readonly live: (line: string) => Effect.Effect<void>
  }
>()("@berthkit/cli/output/Output") {
  /** Output to these streams. */
  static readonly layer = (streams: Streams, options: OutputSettings) => Layer.effect(Output, make(streams, options))
}

/** Options of the output. */
export interface OutputSettings {
  /** Masks secrets on stderr. Created at the first text, because most runs write none. */
  readonly redact: Effect.Effect<(text: string) => string>
  /** The value of `--color`. */
  readonly color?: string | undefined
  /** Whether only errors go to stderr; default false. */
  readonly quiet?: boolean
  /** Adds the account flags to the commands of a hint; default unchanged. */
  readonly followable?: (hint: string) => string
  /** Whether errors are JSON; default false. If they are, stderr has no other output, unless it is a terminal. */
  readonly jsonErrors?: boolean
}

/** The streams of a process. */
export interface Streams {
  readonly stdout: TerminalStream
  readonly stderr: TerminalStream
}

const eraseLine = "\r\u001b[2K"

/** Returns the codes that erase a painted line. The line takes several rows if the terminal has become narrower since then. */
const erased = (line: string, columns: number): string => {
  const rows = rowsOf(line, columns)
  return rows === 1 ? eraseLine : `\r\u001b[${rows - 1}A\u001b[J`
}

const environment = Effect.all({
  noColor: readSetting("NO_COLOR"),
  forceColor: readSetting("FORCE_COLOR"),
  term: readSetting("TERM")
})

/** A change that the command has made, for a user who cannot get the command's data about it. */
export interface Changed {
  /** A sentence. */
  readonly message: string
  /** What to do next. */
  readonly hint: string
  /** The change as data, for a program. */
  readonly details: Readonly<Record<string, unknown>>
}

/** Data could not be written to stdout, for example on a full disk. No command can recover from that, so berth raises this as a defect. */
export class StdoutFailed extends Data.TaggedError("StdoutFailed")<{
  readonly error: Error
  /** What a person can do about the failure; undefined if the stream itself failed. */
  readonly remedy?: string | undefined
  /** What the command has changed. Undefined if it has changed nothing, or only things that its arguments name. */
  readonly changed?: Changed | undefined
  /** The data, if it reports a change and was not written to stderr instead. */
  readonly output?: string | undefined
}> {
  readonly exit = "localFile"
  get hint() {
    const remedy = this.remedy ?? outputFault(this.error).hint
    return this.changed?.hint ?? `${remedy} What the command changed stays changed.`
  }
  get details() {
    return this.changed?.details ?? (this.output === undefined ? {} : { output: this.output })
  }
  override get message() {
    const { message } = outputFault(this.error)
    return this.changed === undefined ? message : `${message} ${this.changed.message}`
  }
}

const pick = ({ error, output, remedy }: StdoutFailed) => ({ error, output, remedy })

/** Prints data about a change. If writing fails, the error says what was changed. */
export const reportingChanged =
  (changed: Changed | undefined) =>
  <A, E, R>(print: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.catchDefect(print, (defect) =>
      Effect.die(defect instanceof StdoutFailed ? new StdoutFailed({ ...pick(defect), changed }) : defect)
    )

const isClosed = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "EPIPE"

/** How to react to a string that cannot be written. */
interface Untaken {
  readonly failed: (text: string, error: Error) => Effect.Effect<void>
  readonly unread: (text: string) => Effect.Effect<void>
}

/** Writes strings to a stream one after the other until its reader has closed. */
const writer = (stream: Writable, { failed, unread }: Untaken) => {
  let gone = false
  // Each write reports its own failure. Without this listener, the stream would also end the process.
  stream.on("error", () => {})
  const write = (text: string): Effect.Effect<void> =>
    Effect.callback<void>((resume) => {
      if (text === "") return resume(Effect.void)
      if (gone) return resume(unread(text))
      stream.write(text, (error) => {
        if (!error) return resume(Effect.void)
        if (!isClosed(error)) return resume(failed(text, error))
        gone = true
        resume(unread(text))
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
  // A failure of stderr cannot be reported anywhere.
  const err = writer(stderr, { failed: () => Effect.void, unread: () => Effect.void })
  // Do not use `Effect.cached`, which would also cache an interruption.
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

  let hasChanged = false
  const told = (text: string) => note(escapeControlsInLines(text.trimEnd()))
  const lost = (text: string, { error, remedy }: Pick<StdoutFailed, "error" | "remedy">) =>
    Effect.suspend(() => {
      const failed = { error, remedy }
      if (!hasChanged) return Effect.die(new StdoutFailed(failed))
      // Programs expect a single line of JSON, so the text becomes a field of the error.
      if (jsonErrors) return Effect.die(new StdoutFailed({ ...failed, output: text }))
      return Effect.andThen(told(text), Effect.die(new StdoutFailed(failed)))
    })
  /** Writes to stderr, even with `--quiet`, the data about a change that stdout did not take, because nothing else shows the change. */
  const untold = (message: string) => (text: string) =>
    !hasChanged
      ? Effect.void
      : jsonErrors
        ? note(JSON.stringify({ warning: { message, details: { output: text } } }))
        : told(text)
  const out = writer(stdout, {
    failed: (text, error) => lost(text, { error, remedy: undefined }),
    unread: untold("The reader of the output has gone; this is what it did not read.")
  })

  return Output.of({
    stdout: surfaceOf(stdout, env),
    stderr: surface,
    chatty,
    jsonErrors,
    // Erase the live line first: on a shared terminal the data would be appended to it.
    data: (text) => Effect.andThen(live(""), out.write(text)),
    noteChange: Effect.sync(() => {
      hasChanged = true
    }),
    hasChanged: Effect.sync(() => hasChanged),
    lost,
    unqueried: (text) => Effect.suspend(() => untold("The query has no result; these are the changes.")(text)),
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

/** Writes a one-line note to stderr if notes are wanted. Control characters are escaped, so names cannot start new lines. */
export const printNote = (text: string) =>
  Output.use(({ chatty, note }) => (chatty ? note(escapeControls(text)) : Effect.void))

/** Reports a change that the command's data does not show, even with `--quiet`. The report is JSON if errors are JSON. */
export const printChange = (message: string, details: Readonly<Record<string, unknown>>) =>
  Output.use(({ chatty, jsonErrors, note }) =>
    note(jsonErrors && !chatty ? JSON.stringify({ change: { message, details } }) : escapeControls(message))
  )

/** Writes lines to stderr, for `--debug`. */
export const printDebug = (text: string) => Output.use(({ note }) => note(escapeControlsInLines(text)))
