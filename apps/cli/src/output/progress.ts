/**
 * Shows on stderr what a command waits for: on a terminal as a live line that is repainted every second, otherwise as one line per change.
 * Waits and the client's request path (calls, retries, pauses for the rate limit) report to it.
 */
import { Allowance } from "@berthkit/core/client/Allowance"
import { Observer } from "@berthkit/core/client/telemetry/Observer"
import { spans } from "@berthkit/core/client/telemetry/Telemetry"
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { Clock, Context, Effect, Exit, Layer } from "effect"
import { cut } from "./cells.ts"
import { capitalized, elapsed } from "./format.ts"
import { Output, printNote } from "./Output.ts"
import {
  type Activity,
  type Call,
  type FailedAttempt,
  type Goal,
  liveText,
  maxNamed,
  pauseMillisOf,
  pauseText,
  reachedOf,
  retryText,
  settling,
  silentText,
  type Unsettled,
  unsettledOf,
  unsettledText,
  type Waiting
} from "./progressText.ts"

/** The state of one awaited thing. */
interface WaitState {
  /** The awaited thing, for example `web-1 (12)`. */
  readonly what: string
  /** The state of the thing, for example `created`. */
  readonly state: string
}

/** Shows a state. An unchanged state is not shown again. */
export type ShowState = (state: WaitState) => Effect.Effect<void>

/** An effect that shows its states while it runs. */
type Use<A, E, R> = (show: ShowState) => Effect.Effect<A, E, R>

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
const frameMillis = 100

/** Without a terminal, the count of many things is printed at most this often. */
const countLineMillis = 5000

/** A retry is printed only if its call has taken this long, because most calls end sooner. */
const retryLineMillis = 1000

/** A wait without any other line gets a line after this time. */
const silentMillis = 2000

/** The bounds of the time until the next such line. Between them, it is the time that the wait had taken at the last line. */
const [minRepeatMillis, maxRepeatMillis] = [10_000, 60_000]

/** A pause counts as a pause of the rate limit only after this many repaints in a row. */
const minPausedSteps = 4

/** The span of a create as a whole, and of the call in it that sends the request. */
const creating = "nodes.create"

/** Methods that take noticeable time between their calls. */
const longMethods: ReadonlySet<string> = new Set([creating, "nodes.awaitStatus", "nodes.awaitDeleted"])

/** The warning about a list whose pages do not show where it ends. */
const partialText =
  "The service counts more nodes than it lists, or its list cannot be read to its end: there may be more nodes."

/** The paths of lists that are not node lists, by operation. */
const listPaths: Readonly<Record<string, string>> = {
  "images.list": "/images/",
  "images.saved": "/images/saved-images/"
}

/** Whether a wait has had no line for so long that it gets one. */
const isSilent = ({ saidAt, since }: { readonly since: number; readonly saidAt: number | undefined }, now: number) =>
  saidAt === undefined
    ? now - since > silentMillis
    : now - saidAt >= Math.min(Math.max(saidAt - since, minRepeatMillis), maxRepeatMillis)

const make = Effect.gen(function* () {
  const output = yield* Output
  const { live, stderr } = output
  let waiting: Waiting | undefined
  const calls = new Set<Call>()
  let requests = 0
  let failed: FailedAttempt | undefined
  let unsettled: Unsettled | undefined
  /** The last reported values, so that each change is reported in one line. */
  let isPaused = false
  let pausedSteps = 0
  let failedLine: FailedAttempt | undefined
  let isUnsettledLine = false
  /** The names of the records that were left out, by the path of their list. */
  const setAside = new Map<string, Set<string>>()
  let isPartial = false
  /** The beginning of the current wait, and when a line last reported it; undefined while nothing waits. */
  let busy: { readonly since: number; saidAt: number | undefined } | undefined
  let countLine = { reached: -1, at: Number.NEGATIVE_INFINITY }

  const print = Effect.fnUntraced(function* (text: string) {
    if (busy !== undefined) busy.saidAt = yield* Clock.currentTimeMillis
    yield* Effect.provideService(printNote(text), Output, output)
  })
  const activity = (): Activity => ({ calls: Array.from(calls), requests, failed, unsettled })

  /** Receives the client's reports. */
  const observer: Observer = {
    ...spans,
    drifted: (drifts, operation) => {
      const names = drifts.flatMap(({ kind, name }) => (kind === "record" ? [name] : []))
      if (names.length === 0) return
      const path = listPaths[operation] ?? "/nodes/"
      setAside.set(path, new Set([...(setAside.get(path) ?? []), ...names]))
    },
    attempted: (operation, _lane, attempts) => {
      requests++
      const last = attempts.at(-1)
      failed =
        last === undefined || last.outcome === "ok" || last.outcome === "interrupted"
          ? undefined
          : { operation, status: last.status, outcome: last.outcome, number: last.number }
    },
    traced: (step, name, options) => (effect) => {
      const traced = spans.traced(step, name, options)(effect)
      if (step === "attempt" || (step === "method" && !longMethods.has(name))) return traced
      return Effect.flatMap(Clock.currentTimeMillis, (startedAt) => {
        const call: Call = { operation: name === creating && step === "method" ? settling : name, startedAt }
        calls.add(call)
        return Effect.onExit(traced, (exit) =>
          Effect.sync(() => {
            calls.delete(call)
            // A create includes one request, and continues afterwards if the reply does not settle the outcome.
            if (name === creating) {
              const isUnsettled = step === "call" && Exit.isFailure(exit)
              unsettled = isUnsettled ? unsettledOf(failed) : undefined
            }
            if (failed?.operation === name) failed = undefined
            if (calls.size === 0) requests = 0
          })
        )
      })
    }
  }

  /** Prints a line for a new pause, a failed attempt, a changed count, or a wait that no other line reports. */
  const printChanges = Effect.fnUntraced(function* (pauseMillis: number | undefined, now: number) {
    const since = waiting?.startedAt ?? activity().calls[0]?.startedAt
    busy = since === undefined ? undefined : (busy ?? { since, saidAt: undefined })
    if (pauseMillis !== undefined && !isPaused) yield* print(`${capitalized(pauseText(pauseMillis, now))}.`)
    isPaused = pauseMillis !== undefined
    const [first] = calls
    const isLong = first !== undefined && now - first.startedAt >= retryLineMillis
    if (!isPaused && failed !== undefined && failed !== failedLine && isLong) {
      failedLine = failed
      yield* print(`${capitalized(retryText(failed))}.`)
    }
    if (unsettled && !isUnsettledLine && isLong) yield* print(`${capitalized(unsettledText[unsettled])}.`)
    isUnsettledLine = unsettled !== undefined && (isUnsettledLine || isLong)
    if (busy !== undefined && isSilent(busy, now)) {
      yield* print(
        pauseMillis === undefined
          ? silentText(waiting, activity(), now - busy.since)
          : `${capitalized(pauseText(pauseMillis, now))}.`
      )
    }
    if (waiting === undefined || waiting.total <= maxNamed) return
    const reached = reachedOf(waiting)
    if (reached === countLine.reached || now - countLine.at < countLineMillis) return
    countLine = { reached, at: now }
    yield* print(`${reached} of ${waiting.total} ${waiting.goal} (${elapsed(now - waiting.startedAt)})`)
  })

  /** Shows the current state; called repeatedly. */
  const step = Effect.fnUntraced(function* (turn: number) {
    const now = yield* Clock.currentTimeMillis
    const allowance = yield* Effect.flatMap(Allowance, ({ current }) => current)
    const pauseMillis = pauseMillisOf(activity(), allowance)
    pausedSteps = pauseMillis === undefined ? 0 : pausedSteps + 1
    const pause = pausedSteps < minPausedSteps ? undefined : pauseMillis
    if (!stderr.animate) return yield* printChanges(pause, now)
    const text = liveText(waiting, activity(), pause, now)
    const line = text === undefined ? "" : escapeControls(`${frames[turn % frames.length]} ${text}`)
    yield* live(cut(line, stderr.columns - 1))
  })

  /** Runs `use` and shows its states until it ends. */
  const waitingFor = <A, E, R>(goal: Goal, use: Use<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.gen(function* () {
      const startedAt = yield* Clock.currentTimeMillis
      const states = new Map<string, ReadonlyArray<string>>()
      waiting = { ...goal, startedAt, states }
      const show: ShowState = ({ state, what }) =>
        Effect.gen(function* () {
          const seen = states.get(what) ?? []
          if (seen.at(-1) === state) return
          states.set(what, [...seen.slice(-1), state])
          if (stderr.animate || goal.total > maxNamed || goal.isQuiet === true) return
          busy ??= { since: startedAt, saidAt: undefined }
          yield* print(`${what}: ${state} (${elapsed((yield* Clock.currentTimeMillis) - startedAt)})`)
        })
      return yield* Effect.ensuring(
        use(show),
        Effect.suspend(() => {
          waiting = undefined
          return live("")
        })
      )
    })

  /** Warnings about lists that have not been printed yet. */
  const leftOutTexts = (): ReadonlyArray<string> =>
    Array.from(
      setAside,
      ([path, names]) =>
        `The list has records that cannot be read (${Array.from(names).join(", ")}), and they are left out. ${output.followable(`See them: berth api ${path}`)}`
    )

  /** Prints the warnings about incomplete lists now, before an action that depends on them. */
  const leftOut = Effect.suspend(() => {
    const text = leftOutTexts().join(" ")
    if (!output.chatty || text === "") return Effect.void
    setAside.clear()
    return output.warn(text)
  })

  /** Prints the warnings about incomplete lists at the end of the command. If it failed and errors are JSON, only the error is printed. */
  const end = (hasFailed: boolean) =>
    Effect.suspend(() => {
      const text = [...(isPartial ? [partialText] : []), ...leftOutTexts()].join(" ")
      return text === "" ? Effect.void : hasFailed ? print(text) : output.warn(text)
    })

  /** Records that the printed list is not complete. */
  const partial = Effect.sync(() => void (isPartial = true))

  /** Prints what the command waits for, instead of the automatic line. */
  const say = (text: string) =>
    Effect.andThen(
      Effect.map(Clock.currentTimeMillis, (since) => void (busy ??= { since, saidAt: undefined })),
      print(text)
    )

  return { waitingFor, observer, step, partial, leftOut, end, say }
})

export class Progress extends Context.Service<Progress, Effect.Success<typeof make>>()(
  "@berthkit/cli/output/Progress"
) {
  static readonly layer = Layer.effect(Progress, make)

  /** Reports the client's calls to the progress service. */
  static readonly observing = Layer.effect(
    Observer,
    Effect.map(Progress, ({ observer }) => observer)
  )

  /** Shows the progress while the client exists. */
  static readonly painting = Layer.effectDiscard(
    Effect.gen(function* () {
      const { end, step } = yield* Progress
      const { live } = yield* Output
      const steps = Effect.gen(function* () {
        for (let turn = 0; ; turn++) {
          yield* Effect.sleep(frameMillis)
          yield* step(turn)
        }
      })
      yield* Effect.addFinalizer((exit) => Effect.andThen(live(""), end(Exit.isFailure(exit))))
      yield* Effect.forkScoped(steps)
    })
  )
}

/** Prints the warnings about incomplete lists now; by default they come at the end of the command. */
export const reportLeftOut = Effect.flatMap(Progress, ({ leftOut }) => leftOut)

/** Runs `use` and shows its states until it ends. */
export const withProgress = <A, E, R>(goal: Goal, use: Use<A, E, R>): Effect.Effect<A, E, R | Progress> =>
  Effect.flatMap(Progress, ({ waitingFor }) => waitingFor(goal, use))

/** The same for short operations: only the count of many things is shown. */
export const withCount = <A, E, R>(goal: Goal, use: Use<A, E, R>): Effect.Effect<A, E, R | Progress> =>
  goal.total > maxNamed ? withProgress(goal, use) : use(() => Effect.void)
