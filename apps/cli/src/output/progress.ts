/**
 * Shows a wait on stderr: on a terminal one live line with the goal and the time it has taken, otherwise one line for every
 * change.
 */
import { escapeControls } from "@berth/terminal/escapeControls"
import { Clock, Effect, Ref } from "effect"
import { cut } from "./cells.ts"
import { elapsed } from "./format.ts"
import { Output, printNote } from "./Output.ts"

/** The state of one thing waited for. */
interface WaitState {
  /** Such as `web-1 (12)`. */
  readonly what: string
  /** Such as `created`. */
  readonly state: string
}

/** Shows a state; the same one twice is no progress. */
export type ShowState = (state: WaitState) => Effect.Effect<void>

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
const frameMillis = 100

/** Runs `use` and shows the states it passes on until it ends. `goal` names the goal of the wait, such as `running`. */
export const withProgress = Effect.fnUntraced(function* <A, E, R>(
  goal: string,
  use: (show: ShowState) => Effect.Effect<A, E, R>
): Effect.fn.Return<A, E, R | Output> {
  const { live, stderr, ...output } = yield* Output
  const startedAt = yield* Clock.currentTimeMillis
  const seen = yield* Ref.make<ReadonlyMap<string, string>>(new Map())
  const since = Effect.map(Clock.currentTimeMillis, (now) => elapsed(now - startedAt))

  const show: ShowState = ({ state, what }) =>
    Effect.gen(function* () {
      const before = yield* Ref.getAndUpdate(seen, (states) => new Map(states).set(what, state))
      if (stderr.animate || before.get(what) === state) return
      yield* printNote(`${what}: ${state} (${yield* since})`).pipe(
        Effect.provideService(Output, Output.of({ live, stderr, ...output }))
      )
    })
  if (!stderr.animate) return yield* use(show)

  const paint = (frame: string) =>
    Effect.gen(function* () {
      const states = Array.from(yield* Ref.get(seen), ([what, state]) => `${what} is ${state}`)
      const line = escapeControls(`${frame} waiting for ${goal}: ${yield* since}  ${states.join(", ")}`)
      yield* live(cut(line, stderr.columns - 1))
    })
  const spin = Effect.gen(function* () {
    for (let turn = 0; ; turn++) {
      yield* paint(frames[turn % frames.length]!)
      yield* Effect.sleep(frameMillis)
    }
  })
  return yield* Effect.ensuring(Effect.raceFirst(use(show), spin), live(""))
})
