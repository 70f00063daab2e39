/**
 * A pure simulation of many callers of one client over a service that is away for a while: it runs the rules of `Retry.ts` and `Breaker.ts`
 * without a network. Times are milliseconds; the draws of chance come from a seed.
 */
import { admit, initial, record, waitOf } from "../../../src/client/call/Breaker.ts"
import { decide, fullBudget, refilled } from "../../../src/client/call/Retry.ts"
import { maxAllowedAttempts } from "../../../src/client/options/OptionCheck.ts"
import { CircuitOpen, type ErrorReason, Unreachable } from "../../../src/domain/ErrorReason.ts"

export interface Scenario {
  readonly seed: number
  /** The service refuses connections from 0 until this time. */
  readonly awayMillis: number
  /** When the simulation ends. */
  readonly endMillis: number
  /** Programs that share the client. */
  readonly callers: number
  /** How many of the callers allow only one attempt. */
  readonly hasty: number
  /** How long a caller waits after a call before the next; `Infinity` for one call each. */
  readonly pauseMillis: number
}

export interface Outcome {
  readonly calls: number
  /** The number of calls that failed although they allow several attempts. */
  readonly failed: number
  /** The longest call that allows several attempts. */
  readonly slowestMillis: number
  /** When each request was sent. */
  readonly sentAt: ReadonlyArray<number>
}

/** Random numbers from [0, 1), by mulberry32. */
const drawsOf = (seed: number) => {
  let a = seed
  return () => {
    a = (a + 0x6d2b79f5) | 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

const deadlineMillis = 60_000
const refusedAfterMillis = 1
const repliedAfterMillis = 20
const refused = new Unreachable({ sent: "no", detail: "" })

/** The planned events by instant; at the same instant the one planned earlier comes first. */
class Agenda {
  readonly #due: Array<{ readonly at: number; readonly act: (now: number) => void }> = []

  add(at: number, act: (now: number) => void): void {
    let low = 0
    let high = this.#due.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#due[middle]!.at > at) low = middle + 1
      else high = middle
    }
    this.#due.splice(low, 0, { at, act })
  }

  runUntil(end: number): void {
    for (let next = this.#due.pop(); next !== undefined && next.at < end; next = this.#due.pop()) next.act(next.at)
  }
}

export const simulate = ({ awayMillis, callers, endMillis, hasty, pauseMillis, seed }: Scenario): Outcome => {
  const draw = drawsOf(seed)
  const agenda = new Agenda()
  const sentAt: Array<number> = []
  let calls = 0
  let failed = 0
  let slowestMillis = 0
  let breaker = initial
  let tokens = fullBudget
  let countedAt = 0

  const call = (maxAttempts: number, startedAt: number): void => {
    calls++
    const end = (now: number, reason: ErrorReason | undefined) => {
      if (maxAttempts > 1) {
        if (reason !== undefined) failed++
        slowestMillis = Math.max(slowestMillis, now - startedAt)
      }
      if (pauseMillis !== Infinity) agenda.add(now + pauseMillis, (now) => call(maxAttempts, now))
    }
    const guarded = (now: number) => {
      const answer = admit(breaker, now)
      if (answer._tag === "Refused") {
        const leftMillis = startedAt + deadlineMillis - now
        const wait = maxAttempts > 1 ? waitOf(answer, now - startedAt, leftMillis, draw()) : undefined
        if (wait === undefined) end(now, new CircuitOpen({ retryAfterMillis: answer.retryAfterMillis }))
        else agenda.add(now + wait, guarded)
        return
      }
      breaker = answer.state
      const { era } = breaker
      attempt(now, 1, (now, reason) => {
        breaker = record(breaker, era, reason === undefined ? "ok" : "fault", now)
        end(now, reason)
      })
    }
    const attempt = (now: number, attempts: number, ended: (now: number, reason?: ErrorReason) => void) => {
      sentAt.push(now)
      if (now >= awayMillis) return agenda.add(now + repliedAfterMillis, (now) => ended(now))
      agenda.add(now + refusedAfterMillis, (now) => {
        tokens = refilled(tokens, now - countedAt)
        countedAt = now
        const decision = decide({
          reason: refused,
          repeatable: "idempotent",
          attempts,
          maxAttempts,
          budget: tokens,
          leftMillis: startedAt + deadlineMillis - now,
          draw: draw()
        })
        if (decision._tag === "GiveUp") return ended(now, refused)
        if (decision._tag === "GiveUpAfter") return agenda.add(now + decision.delayMillis, (now) => ended(now, refused))
        tokens -= decision.cost
        agenda.add(now + decision.delayMillis, (now) => attempt(now, attempts + 1, ended))
      })
    }
    guarded(startedAt)
  }

  for (let i = 0; i < callers; i++) agenda.add(0, (now) => call(i < hasty ? 1 : maxAllowedAttempts, now))
  agenda.runUntil(endMillis)
  return { calls, failed, slowestMillis, sentAt }
}

/** Most requests of any `spanMillis`, from `from` until `to`. */
export const peak = (sentAt: ReadonlyArray<number>, spanMillis: number, from: number, to: number): number => {
  const within = sentAt.filter((at) => at >= from && at < to)
  let most = 0
  let first = 0
  for (let last = 0; last < within.length; last++) {
    while (within[last]! - within[first]! >= spanMillis) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}
