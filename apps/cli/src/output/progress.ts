/**
 * Shows a wait on stderr: on a terminal one live line with what is waited for and for how long, otherwise one line for
 * every change.
 */
import { Clock, Effect, Ref } from "effect"
import { cut } from "./cells.ts"
import { escapeControls } from "./escapeControls.ts"
import { Output, say } from "./Output.ts"
import { elapsed } from "./units.ts"

/** What is known of one thing waited for. */
interface Sighting {
  /** What it is, such as `web-1 (12)`. */
  readonly what: string
  /** How it is, such as `created`. */
  readonly state: string
}

/** Tells the progress of a sighting; the same one twice is no progress. */
export type Tell = (sighting: Sighting) => Effect.Effect<void>

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
const frameMillis = 100

/** Runs `use`, showing what it tells until it ends. `goal` is what is waited for, such as `running`. */
export const withProgress = Effect.fnUntraced(function* <A, E, R>(
  goal: string,
  use: (tell: Tell) => Effect.Effect<A, E, R>
): Effect.fn.Return<A, E, R | Output> {
  const { live, stderr, ...output } = yield* Output
  const startedAt = yield* Clock.currentTimeMillis
  const seen = yield* Ref.make<ReadonlyMap<string, string>>(new Map())
  const since = Effect.map(Clock.currentTimeMillis, (now) => elapsed(now - startedAt))

  const tell: Tell = ({ state, what }) =>
    Effect.gen(function* () {
      const before = yield* Ref.getAndUpdate(seen, (states) => new Map(states).set(what, state))
      if (stderr.animate || before.get(what) === state) return
      yield* say(`${what}: ${state} (${yield* since})`).pipe(
        Effect.provideService(Output, Output.of({ live, stderr, ...output }))
      )
    })
  if (!stderr.animate) return yield* use(tell)

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
  return yield* Effect.ensuring(Effect.raceFirst(use(tell), spin), live(""))
})
