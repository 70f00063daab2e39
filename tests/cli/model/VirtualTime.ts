/**
 * The clock of the service and of the programs that talk to it. It advances only when nothing else can happen, so a test can pass a day
 * in no time. The machine's wall clock may step, and its monotonic clock starts again if the machine restarts. The service's clock never
 * steps.
 */
import { Clock, Duration, Effect } from "effect"

interface Timer {
  readonly atMillis: number
  readonly order: number
  readonly fire: () => void
}

export class VirtualTime {
  nowMillis = Date.UTC(2026, 2, 1, 9)
  /** How far the wall clock of the machine is ahead. */
  stepMillis = 0
  /** When the machine was started. */
  #bootMillis = this.nowMillis - 1_000_000
  readonly #timers = new Set<Timer>()
  #order = 0

  /** Calls `fire` after this time. Returns a function that cancels the call. */
  after(millis: number, fire: () => void): () => void {
    const timer: Timer = { atMillis: this.nowMillis + Math.max(0, millis), order: this.#order++, fire }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  #next(): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers) {
      const isEarlier =
        first === undefined ||
        timer.atMillis < first.atMillis ||
        (timer.atMillis === first.atMillis && timer.order < first.order)
      if (isEarlier) first = timer
    }
    return first
  }

  /** Advances to the next timer and fires it. Returns false if no timer is due until `untilMillis`. */
  step(untilMillis = Number.POSITIVE_INFINITY): boolean {
    const timer = this.#next()
    if (timer === undefined || timer.atMillis > untilMillis) return false
    this.#timers.delete(timer)
    this.nowMillis = Math.max(this.nowMillis, timer.atMillis)
    timer.fire()
    return true
  }

  /** Lets this much time pass. */
  pass(millis: number): void {
    const untilMillis = this.nowMillis + millis
    while (this.step(untilMillis)) {}
    this.nowMillis = untilMillis
  }

  /** Starts the machine again. */
  restart(): void {
    this.#bootMillis = this.nowMillis - 20_000
  }

  /** The clock of one program, which stops for that program once it is killed. */
  clockOf(program: { readonly isDead: boolean }): Clock.Clock {
    // A wall clock has whole milliseconds.
    const millis = () => Math.floor(this.nowMillis + this.stepMillis)
    const sinceStart = () => BigInt(Math.round((this.nowMillis - this.#bootMillis) * 1e6))
    return {
      currentTimeMillisUnsafe: millis,
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanosUnsafe: () => BigInt(millis()) * 1_000_000n,
      currentTimeNanos: Effect.sync(() => BigInt(millis()) * 1_000_000n),
      monotonicTimeNanosUnsafe: sinceStart,
      monotonicTimeNanos: Effect.sync(sinceStart),
      sleep: (duration) =>
        Effect.callback<void>((resume) => {
          const forget = this.after(Duration.toMillis(duration), () => program.isDead || resume(Effect.void))
          return Effect.sync(forget)
        })
    }
  }
}
