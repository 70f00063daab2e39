/**
 * The circuit breaker: if most calls fail because of the service, it blocks calls for a while, then lets one call through to test the
 * service. Each call counts once, however many attempts it took. The rules are pure (`admit`, `record`); `make` keeps the state.
 */
import { Effect, Exit, Option, Random } from "effect"
import { CircuitOpen, type ErrorReason } from "../../domain/ErrorReason.ts"
import { monotonicMillis } from "../time/Monotonic.ts"
import type { Task } from "./Attempt.ts"

/** The share of the last calls that must fail. A few consecutive failures prove little if many calls run in parallel. */
const share = 0.8
const maxCalls = 20
const minCalls = 10

/** How long the breaker stays open: doubled each time it opens again, up to a minute. */
const openMillis = (openings: number) => Math.min(60_000, 2000 * 2 ** (openings - 1))

/** A closed breaker that sees no call for this long forgets its faults. */
const staleMillis = 3_600_000

/** What a call shows about the service: `nothing` if the service rejected it for a reason, or if it was interrupted. */
export type Outcome = "ok" | "fault" | "nothing"

export interface State {
  /** `trying` while one call tests whether the service has recovered. */
  readonly phase: "closed" | "open" | "trying"
  /** Counts phase changes; a call that began before the last change does not count. */
  readonly era: number
  /** Whether each of the last calls was a fault, oldest first. */
  readonly faults: ReadonlyArray<boolean>
  /** How often the breaker has opened in a row; reset once it was closed for as long as it was last open. */
  readonly openings: number
  readonly openUntil: number
  readonly forgetAt: number
  readonly lastCallAt: number
}

export const initial: State = {
  phase: "closed",
  era: 0,
  faults: [],
  openings: 0,
  openUntil: 0,
  forgetAt: 0,
  lastCallAt: 0
}

/** Whether a call may go. If so, has the new state; otherwise the time until a call may go, if known. */
export type Answer =
  | { readonly _tag: "Go"; readonly state: State }
  | {
      readonly _tag: "Refused"
      readonly retryAfterMillis: number | null
      /** Whether the breaker is open for the first time in a row, because then the service may just be restarting. */
      readonly isFirst: boolean
    }

/** Decides whether a call may go. */
export const admit = (state: State, now: number): Answer => {
  switch (state.phase) {
    case "closed": {
      const openings = now >= state.forgetAt ? 0 : state.openings
      const faults = now - state.lastCallAt >= staleMillis ? [] : state.faults
      return { _tag: "Go", state: { ...state, openings, faults, lastCallAt: now } }
    }
    case "open":
      return now < state.openUntil
        ? refusal(state, Math.round(state.openUntil - now))
        : { _tag: "Go", state: { ...state, phase: "trying", era: state.era + 1 } }
    case "trying":
      return refusal(state, null)
  }
}

const refusal = ({ openings }: State, retryAfterMillis: number | null): Answer => ({
  _tag: "Refused",
  retryAfterMillis,
  isFirst: openings === 1
})

/** The longest that a blocked call waits for a restart. */
const maxWaitMillis = 10_000
/** How long a call waits before it asks again, while another call tests the service. */
const trialMillis = 500

/**
 * The time that a blocked call waits before it asks again; undefined if the call fails. It waits only while the breaker is open for the
 * first time: even a restart of one second can open the breaker, and every call would then fail for two seconds. `draw`, from [0, 1),
 * spreads the waiting calls.
 */
export const waitOf = (
  { isFirst, retryAfterMillis }: Extract<Answer, { readonly _tag: "Refused" }>,
  waitedMillis: number,
  leftMillis: number,
  draw: number
): number | undefined => {
  const waitMillis = (retryAfterMillis ?? 0) + trialMillis * (1 + draw)
  return isFirst && waitedMillis + waitMillis <= maxWaitMillis && waitMillis < leftMillis ? waitMillis : undefined
}

const open = (state: State, now: number): State => {
  const openings = state.openings + 1
  return { ...state, phase: "open", era: state.era + 1, faults: [], openings, openUntil: now + openMillis(openings) }
}

/** The state after the outcome of a call that was admitted in `era`. */
export const record = (state: State, era: number, outcome: Outcome, now: number): State => {
  if (era !== state.era) return state
  if (state.phase === "trying") {
    if (outcome === "fault") return open(state, now)
    // The call showed nothing about the service, so the next call tests it.
    if (outcome === "nothing") return { ...state, phase: "open" }
    return { ...state, phase: "closed", era: era + 1, forgetAt: now + openMillis(state.openings), lastCallAt: now }
  }
  if (state.phase === "open" || outcome === "nothing") return state
  const faults = [...state.faults, outcome === "fault"].slice(-maxCalls)
  const failed = faults.filter(Boolean).length
  const trips = faults.length >= minCalls && failed / faults.length >= share
  return trips ? open(state, now) : { ...state, faults, lastCallAt: now }
}

/** Only the service's faults count: a 4xx is an answer, and a short deadline shows nothing about the service. */
const outcomeOf = (exit: Exit.Exit<unknown, ErrorReason>): Outcome => {
  if (Exit.isSuccess(exit)) return "ok"
  const reason = Exit.findErrorOption(exit)
  return Option.isSome(reason) && reason.value.retry === "transient" ? "fault" : "nothing"
}

/** A breaker for one service: a step that admits a call, delays it, or fails it with `CircuitOpen`. */
export const make = () => {
  let state = initial
  return <A>({ ledger, maxAttempts, repeatable, request }: Task<A>) => {
    // Fail at once for a caller that retries by itself.
    const isPatient = repeatable !== "never" && maxAttempts > 1
    return <B>(call: Effect.Effect<B, ErrorReason>): Effect.Effect<B, ErrorReason> =>
      Effect.uninterruptibleMask((restore) => {
        const enter: Effect.Effect<B, ErrorReason> = Effect.flatMap(monotonicMillis, (now) => {
          const answer = admit(state, now)
          if (answer._tag === "Refused") {
            const refused = Effect.fail(new CircuitOpen({ retryAfterMillis: answer.retryAfterMillis }))
            if (!isPatient) return refused
            return Effect.flatMap(Random.next, (draw) => {
              const wait = waitOf(answer, now - ledger.startedAtMillis, request.deadlineAt - now, draw)
              return wait === undefined ? refused : Effect.andThen(restore(Effect.sleep(wait)), enter)
            })
          }
          state = answer.state
          const { era } = state
          return Effect.onExit(restore(call), (exit) =>
            Effect.map(monotonicMillis, (now) => {
              state = record(state, era, outcomeOf(exit), now)
            })
          )
        })
        return enter
      })
  }
}
