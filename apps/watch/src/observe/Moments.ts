/** Makes moments from the `Clock`, a counter that orders them, and the dates of the service's replies. */
import { monotonicMillis } from "@berthkit/core/client/time/Monotonic"
import { Clock, Effect } from "effect"
import type { Exchange, Moment } from "../diff/Observation.ts"

/** If the service's date differs from the expected one by more than this, the service's clock was set. */
const maxDriftMillis = 5000

/** The part of a reply that shows the service's clock. */
interface Dated {
  readonly headers: Readonly<Record<string, string | undefined>>
}

export interface Moments {
  readonly now: Effect.Effect<Moment>
  /** Runs `request`, and adds the moments of the request and of its reply. */
  readonly around: <A, E, R>(request: Effect.Effect<A, E, R>) => Effect.Effect<Exchange & { readonly answer: A }, E, R>
  /** Takes the service's date from a reply, for all later moments. */
  readonly takeDate: (reply: Dated) => Effect.Effect<void>
}

export const makeMoments: Effect.Effect<Moments> = Effect.sync(() => {
  let order = 0
  let serviceOffset: number | null = null
  const now = Effect.gen(function* () {
    // The store keeps whole milliseconds, but a test clock has fractions after a sleep with fractions.
    const atMillis = Math.floor(yield* Clock.currentTimeMillis)
    const monotonic = yield* monotonicMillis
    const serviceMillis = serviceOffset === null ? null : Math.floor(monotonic + serviceOffset)
    return { order: ++order, atMillis, monotonicMillis: monotonic, serviceMillis }
  })
  const around = <A, E, R>(request: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const asked = yield* now
      const answer = yield* request
      const answered = yield* now
      return { asked, answered, answer }
    })
  const takeDate = ({ headers }: Dated) =>
    Effect.map(monotonicMillis, (monotonic) => {
      const millis = Date.parse(headers["date"] ?? "")
      if (Number.isNaN(millis)) return
      const offset = millis - monotonic
      // A date leaves out fractions of a second, so a measured offset is never too large, and the largest offset is the
      // most exact.
      const isSet = serviceOffset !== null && Math.abs(offset - serviceOffset) > maxDriftMillis
      serviceOffset = serviceOffset === null || isSet ? offset : Math.max(serviceOffset, offset)
    })
  return { now, around, takeDate }
})
