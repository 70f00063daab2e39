/**
 * The rate limit as replies report it: its headers, the kind of window and its length, how the reset is written (A20 to A22);
 * and how far the service's clock is ahead.
 */
import { limitHeader, remainingHeader, resetHeader } from "@berthkit/core/api/AllowanceHeaders"
import type { Algorithm } from "../../world/allowance.ts"
import { type Exchange, isSuccess, serviceMillis } from "./Exchange.ts"
import { type Evidenced, first, observation, type Observer, worst } from "./Observation.ts"

/** Below it a reset is seconds from now (A22). */
const minEpochSeconds = 1_000_000_000

interface Reading {
  readonly exchange: Exchange
  readonly limit: number
  readonly remaining: number
  /** From the reply to the reset. */
  readonly untilMillis: number
  readonly resetMillis: number
  /** When the reply was sent, by the service's clock. */
  readonly at: number
}

const number = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined

const readingOf = (exchange: Exchange): Reading | undefined => {
  const [limit, remaining, reset] = [limitHeader, remainingHeader, resetHeader].map((name) =>
    number(exchange.headers[name])
  )
  if (limit === undefined || remaining === undefined || reset === undefined || limit < 1) return undefined
  const at = serviceMillis(exchange) ?? exchange.at
  const resetMillis = reset < minEpochSeconds ? at + reset * 1000 : reset * 1000
  return { exchange, limit, remaining, resetMillis, untilMillis: resetMillis - at, at }
}

const readings = (evidence: Evidenced): ReadonlyArray<Reading> =>
  evidence.flatMap((exchange) => readingOf(exchange) ?? [])

const hasHeaders = ({ headers }: Exchange): boolean =>
  [limitHeader, remainingHeader, resetHeader].every((name) => headers[name] !== undefined)

/** Whether replies of a kind have the three headers. */
export const headersOn =
  (kind: "success" | "failure"): Observer<boolean> =>
  (evidence) =>
    worst(
      evidence
        .filter(
          (exchange) =>
            exchange.status >= 200 &&
            exchange.operation !== undefined &&
            isSuccess(exchange) === (kind === "success") &&
            (kind === "success" || exchange.status < 500)
        )
        .map((exchange) => {
          const has = hasHeaders(exchange)
          return observation(exchange, has, `a ${kind} ${has ? "has" : "lacks"} the headers`)
        }),
      (value) => value
    )

export const limit: Observer<number> = (evidence) =>
  worst(
    readings(evidence).map(({ exchange, limit }) => observation(exchange, limit, `ratelimit-limit: ${limit}`)),
    (value) => value === 1200
  )

export const resetForm: Observer<"epoch" | "seconds"> = (evidence) =>
  first(evidence, (exchange) => {
    const reset = number(exchange.headers[resetHeader])
    if (reset === undefined) return undefined
    return reset < minEpochSeconds
      ? observation(exchange, "seconds" as const, `ratelimit-reset: ${reset}, seconds from now`)
      : observation(exchange, "epoch" as const, `ratelimit-reset: ${reset}, seconds since the epoch`)
  })

/** Headers have whole seconds, and a reply is a moment under way. */
const toleranceMillis = 2_000

/** A kind of window with its length; 0 where that does not show. */
export interface Window {
  readonly algorithm: Algorithm
  readonly windowMillis: number
}

const hasWholeSeconds = (millis: number): number => Math.round(millis / 1000) * 1000

/** A length as people set it: within the tolerance of headers the roundest. */
const round = (millis: number): number => {
  const steps = [3_600_000, 60_000, 15_000, 5_000, 1_000]
  const step = steps.find(
    (each) => millis >= each && Math.abs(Math.round(millis / each) * each - millis) <= toleranceMillis + each * 0.001
  )
  return step === undefined ? Math.max(1000, hasWholeSeconds(millis)) : Math.round(millis / step) * step
}

/** Replies that tell a bucket from a window, at least. */
const minReadings = 5

/**
 * A bucket's time to the reset grows with each request that is missing and a window's does not. A fixed window jumps to a full
 * allowance at its end, a sliding one gives back what was spent first.
 */
export const window: Observer<Window> = (evidence) => {
  const all = readings(evidence).filter(({ exchange }) => exchange.status !== 429)
  const [start] = all
  if (all.length < minReadings || start === undefined) return undefined
  return bucketOf(all) ?? slidingOf(all) ?? refilledOf(all)
}

/**
 * Past its reset a sliding window has given back what was spent first: what was spent next still counts, and its reset is near. That
 * of a fixed one is a whole window away.
 */
const slidingOf = (all: ReadonlyArray<Reading>) => {
  for (const reading of all) {
    const oldest = all.find(
      ({ at, resetMillis }) =>
        resetMillis <= reading.at + toleranceMillis &&
        resetMillis - at > 2 * toleranceMillis &&
        reading.at - resetMillis < (resetMillis - at) / 4
    )
    if (oldest === undefined) continue
    const lengthMillis = oldest.resetMillis - oldest.at
    const hasMoved = reading.resetMillis > oldest.resetMillis + toleranceMillis
    const isNear = reading.untilMillis < lengthMillis / 2
    if (!hasMoved || !isNear || reading.limit - reading.remaining < 3) continue
    const length = round(lengthMillis)
    return observation(
      reading.exchange,
      { algorithm: "sliding-window", windowMillis: length } as Window,
      `a sliding window of ${length / 1000} s: it refills bit by bit`
    )
  }
  return undefined
}

const bucketOf = (all: ReadonlyArray<Reading>) => {
  const spent = all.filter(({ limit, remaining }) => limit - remaining > 0)
  const lengths = spent.map(({ limit, remaining, untilMillis }) => (untilMillis * limit) / (limit - remaining))
  if (spent.length < minReadings) return undefined
  const deepest = spent.toSorted((a, b) => a.remaining - b.remaining)[0]!
  const least = spent.toSorted((a, b) => b.remaining - a.remaining)[0]!
  const isDeepEnough = deepest.limit - deepest.remaining >= 2 * (least.limit - least.remaining)
  const length = (deepest.untilMillis * deepest.limit) / (deepest.limit - deepest.remaining)
  // A second of rounding, and a token that is only a part of one.
  const agrees = spent.every(({ limit, remaining, untilMillis }) => {
    const perToken = length / limit
    return Math.abs(untilMillis - (limit - remaining) * perToken) <= toleranceMillis + perToken
  })
  return isDeepEnough && agrees && lengths.every((each) => each > 0) && deepest.untilMillis > 2 * toleranceMillis
    ? observation(
        deepest.exchange,
        { algorithm: "token-bucket", windowMillis: round(length) } as Window,
        `a token bucket that fills in ${round(length) / 1000} s`
      )
    : undefined
}

const refilledOf = (all: ReadonlyArray<Reading>) => {
  for (const [index, reading] of all.entries()) {
    const before = all[index - 1]
    if (before === undefined || reading.resetMillis <= before.resetMillis + toleranceMillis) continue
    const isFull = reading.limit - reading.remaining <= 1
    // The first request of a window, at which a sliding one would still count what came before.
    const length = round(reading.untilMillis)
    const wouldCount = all.slice(0, index).filter(({ at }) => at > reading.at - length + toleranceMillis).length
    if (isFull && reading.at >= before.resetMillis - toleranceMillis && wouldCount > 2) {
      return observation(
        reading.exchange,
        { algorithm: "fixed-window", windowMillis: length } as Window,
        `a fixed window of ${length / 1000} s: it was full again at once`
      )
    }
  }
  return undefined
}

/** Whether it is a bucket, which a few replies show; what else it is takes longer. */
export const bucket: Observer<boolean> = (evidence) => {
  const all = readings(evidence).filter(({ exchange }) => exchange.status !== 429)
  const found = bucketOf(all)
  if (found !== undefined) return observation(found.exchange, true, found.says)
  // One of a window is as far away after one request as after many.
  const fresh = all.find(({ limit, remaining }) => limit - remaining === 1)
  const same =
    fresh &&
    all.find(
      ({ limit, remaining, resetMillis }) =>
        limit - remaining >= minReadings && Math.abs(resetMillis - fresh.resetMillis) <= toleranceMillis
    )
  return same && fresh.untilMillis > 2 * toleranceMillis
    ? observation(same.exchange, false, "the reset does not move with each request")
    : undefined
}

/** The length of a window of a kind that does not show: the first request of one tells it. */
export const windowLength: Observer<number> = (evidence) => {
  const known = window(evidence)
  if (known !== undefined) return observation(known.exchange, known.value.windowMillis, known.says)
  const fresh = readings(evidence).find(
    ({ limit, remaining, untilMillis }) => limit - remaining === 1 && untilMillis > toleranceMillis
  )
  return (
    fresh && observation(fresh.exchange, round(fresh.untilMillis), `a window of ${round(fresh.untilMillis) / 1000} s`)
  )
}

/** Whether a 429 costs nothing: what is left stays as it was. */
export const refusalIsFree: Observer<boolean> = (evidence) => {
  const refused = readings(evidence).filter(({ exchange }) => exchange.status === 429)
  const [one, two] = refused
  if (one === undefined || two === undefined || one.resetMillis !== two.resetMillis) return undefined
  return observation(
    two.exchange,
    two.remaining === one.remaining,
    `${one.remaining} left at one 429, ${two.remaining} at the next`
  )
}

/** How far the service's clock is ahead of the recorder's: the median over all replies. */
export const clockSkew: Observer<number> = (evidence) => {
  const found = evidence
    .flatMap((exchange) => {
      const service = serviceMillis(exchange)
      // A date is cut to its second: half of one on average.
      return service === undefined
        ? []
        : [{ exchange, skew: service + 500 - (exchange.at + exchange.durationMillis / 2) }]
    })
    .toSorted((a, b) => a.skew - b.skew)
  const middle = found[Math.floor(found.length / 2)]
  if (middle === undefined) return undefined
  const skew = Math.abs(middle.skew) < toleranceMillis ? 0 : Math.round(middle.skew / 1000) * 1000
  return observation(
    middle.exchange,
    skew,
    skew === 0
      ? "the clocks agree"
      : `the service's clock is ${Math.abs(skew) / 1000} s ${skew > 0 ? "ahead" : "behind"}`
  )
}
