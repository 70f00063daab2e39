/**
 * The turn to make a large world, of a snapshot or as a fleet: one at a time, since they would add up in memory, in the order in
 * which they are asked for. A client that is slow to send keeps its turn while no other waits, and loses it when it has kept one waiting for too long.
 */
import { fail, type Failure } from "@berth/core/api/Envelope"
import { Clock, Deferred, Effect, type Scope, Semaphore } from "effect"
import type { Timeouts } from "../transport/limits.ts"

const tooSlow = fail(408, "The request took too long to arrive.")
const busy = fail(503, "Another large world is being made: try again.")

/** Between two times that an idle turn is ended, at least. */
const minPauseMillis = 10

export class LargeWorldTurn {
  readonly #turn = Semaphore.makeUnsafe(1)
  readonly #times: Pick<Timeouts, "turnIdleMillis" | "turnWaitMillis">
  #holder: TurnHolder | undefined

  constructor(times: Pick<Timeouts, "turnIdleMillis" | "turnWaitMillis">) {
    this.#times = times
  }

  /** Waits for the turn, which lasts until the scope closes. */
  take(): Effect.Effect<TurnHolder, Failure<503>, Scope.Scope> {
    return Effect.raceFirst(Semaphore.takeScoped(this.#turn, 1), this.#endIdle()).pipe(
      Effect.timeoutOrElse({ duration: this.#times.turnWaitMillis, orElse: () => Effect.fail(busy) }),
      Effect.map(() => (this.#holder = new TurnHolder()))
    )
  }

  /** Ends the turn of the holder, as soon as its client has been waited for too long. */
  #endIdle(): Effect.Effect<never> {
    const step = Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const leftMillis = this.#times.turnIdleMillis - (this.#holder?.idleMillis(now) ?? 0)
      if (leftMillis <= 0) this.#holder?.end()
      return Effect.sleep(Math.max(minPauseMillis, leftMillis))
    })
    return Effect.forever(step)
  }
}

/** The one whose turn it is. */
export class TurnHolder {
  readonly #end = Deferred.makeUnsafe<never, Failure<408>>()
  #idleMillis = 0
  #idleSince: number | undefined

  /** How long its client has been waited for, in all. */
  idleMillis(now: number): number {
    return this.#idleMillis + (this.#idleSince === undefined ? 0 : now - this.#idleSince)
  }

  end(): void {
    Deferred.doneUnsafe(this.#end, Effect.fail(tooSlow))
  }

  /** Waits for the client, until its turn ends. */
  waitFor<A, E, R>(next: Effect.Effect<A, E, R>): Effect.Effect<A, E | Failure<408>, R> {
    const begin = Effect.map(Clock.currentTimeMillis, (now) => (this.#idleSince = now))
    const finish = Effect.map(Clock.currentTimeMillis, (now) => {
      this.#idleMillis = this.idleMillis(now)
      this.#idleSince = undefined
    })
    return Effect.andThen(begin, Effect.ensuring(Effect.raceFirst(next, Deferred.await(this.#end)), finish))
  }
}
