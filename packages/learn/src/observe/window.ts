/**
 * The rate limit as replies report it: its headers, the kind and length of the window, and the form of the reset
 * (assumptions A20 to A22 in docs/interface/assumptions.md). Also how far the service's clock is ahead.
 */
import { limitHeader, minEpochSeconds, remainingHeader, resetHeader } from "@berthkit/core/api/AllowanceHeaders"
import type { Algorithm } from "@berthkit/profile/algorithms"
import { all, claim, each, type Evidenced, first, is, observation, once } from "./Claim.ts"
import { type Exchange, hasAllHeaders, isRedirect, isSuccess, serviceMillis } from "./Exchange.ts"

interface Reading {
  readonly exchange: Exchange
  readonly limit: number
  readonly remaining: number
  /** Milliseconds from the reply to the reset. */
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

/**
 * Readings by account, because each account has its own allowance. Requests with wrong credentials are left out, because
 * they spend the allowance of their network address.
 */
const byAccount = once((evidence): ReadonlyArray<ReadonlyArray<Reading>> => {
  const valid = evidence.filter(({ status }) => status !== 401 && status !== 403)
  const all = valid.flatMap((exchange) => readingOf(exchange) ?? [])
  return Array.from(Map.groupBy(all, ({ exchange }) => exchange.account).values())
})

const readings = once((evidence) => byAccount(evidence).flat())

/** Readings of the requests that the service granted, by account: a 429 costs nothing. */
const granted = once((evidence) =>
  byAccount(evidence).map((all) => all.filter(({ exchange }) => exchange.status !== 429))
)

const hasHeaders = ({ headers }: Exchange): boolean =>
  [limitHeader, remainingHeader, resetHeader].every((name) => headers[name] !== undefined)

/** An observer of whether replies of a kind have the three headers of the rate limit. */
const headersOn = (kind: "success" | "failure") =>
  each(all, (exchange) => {
    const isOfKind = kind === "success" ? isSuccess(exchange) : !isSuccess(exchange) && exchange.status < 500
    const isNeither = exchange.status < 200 || isRedirect(exchange)
    if (!isOfKind || isNeither || exchange.operation === undefined) return undefined
    if (!hasHeaders(exchange) && !hasAllHeaders(exchange)) return undefined
    return hasHeaders(exchange) ? [true, `a ${kind} has the headers`] : [false, `a ${kind} does not have the headers`]
  })

/** Headers state whole seconds, and a reply takes a moment to arrive. */
const toleranceMillis = 2_000

const wholeSeconds = (millis: number): number => Math.round(millis / 1000) * 1000

/** The roundest length within the tolerance, because people configure round numbers. */
const round = (millis: number, tolerance = toleranceMillis): number => {
  const steps = [3_600_000, 60_000, 15_000, 5_000, 1_000]
  const step = steps.find(
    (each) =>
      Math.round(millis / each) >= 1 && Math.abs(Math.round(millis / each) * each - millis) <= tolerance + each * 0.001
  )
  return step === undefined ? Math.max(1000, wholeSeconds(millis)) : Math.round(millis / step) * step
}

const sentences: Readonly<Record<Algorithm, (seconds: number) => string>> = {
  "fixed-window": (seconds) => `a fixed window of ${seconds} s: it was full again at once`,
  "sliding-window": (seconds) => `a sliding window of ${seconds} s: it refills gradually`,
  "token-bucket": (seconds) => `a token bucket that fills in ${seconds} s`
}

interface Shown {
  readonly algorithm: Algorithm
  readonly windowMillis: number | undefined
}

/** The observation that a reading shows this kind of window, with this length. */
const shownBy = ({ exchange }: Reading, algorithm: Algorithm, lengthMillis: number, tolerance = toleranceMillis) => {
  const windowMillis = round(lengthMillis, tolerance)
  return observation<Shown>(exchange, { algorithm, windowMillis }, sentences[algorithm](windowMillis / 1000))
}

/** Minimum number of replies to tell a bucket from a window. */
const minReadings = 5

/**
 * The kind of window that the readings show. With a token bucket, each spent request moves the reset further away; with a
 * window it does not. At its end, a fixed window gives back all requests at once; a sliding window gives back the oldest
 * ones first.
 */
const windowIn = once((evidence) => {
  for (const all of granted(evidence)) {
    const found = all.length < minReadings ? undefined : (bucketOf(all) ?? slidingOf(all) ?? refilledOf(all))
    if (found !== undefined) return found
  }
  return undefined
})

/**
 * Looks for a sliding window. After its reset, only the oldest requests no longer count, and the later ones still do, so the next reset
 * is near. With a fixed window, the next reset is a whole window away.
 */
const slidingOf = (all: ReadonlyArray<Reading>) => {
  // The resets of readings before this index are long over. Skipping these readings avoids comparing each reading with all
  // others.
  let from = 0
  for (const [index, reading] of all.entries()) {
    const isLongOver = ({ at, resetMillis }: Reading) => reading.at - resetMillis >= (resetMillis - at) / 4
    const isJustOver = (one: Reading) =>
      one.resetMillis <= reading.at + toleranceMillis &&
      one.resetMillis - one.at > 2 * toleranceMillis &&
      !isLongOver(one)
    while (from < index && isLongOver(all[from]!)) from += 1
    let at = from
    while (at < index && !isJustOver(all[at]!)) at += 1
    if (at === index) continue
    const oldest = all[at]!
    const lengthMillis = oldest.resetMillis - oldest.at
    const hasMoved = reading.resetMillis > oldest.resetMillis + toleranceMillis
    const isNear = reading.untilMillis < lengthMillis / 2
    if (!hasMoved || !isNear || reading.limit - reading.remaining < 3) continue
    // The length is known only if this was the first request. Otherwise the reset belongs to an earlier request that
    // somebody else sent.
    if (oldest.limit - oldest.remaining === 1) return shownBy(reading, "sliding-window", lengthMillis)
    const says = "a sliding window: it refills gradually"
    return observation<Shown>(reading.exchange, { algorithm: "sliding-window", windowMillis: undefined }, says)
  }
  return undefined
}

const bucketOf = (all: ReadonlyArray<Reading>) => {
  const spent = all.filter(({ limit, remaining }) => limit - remaining > 0)
  if (spent.length < minReadings) return undefined
  const deepest = spent.toSorted((a, b) => a.remaining - b.remaining)[0]!
  const least = spent.toSorted((a, b) => b.remaining - a.remaining)[0]!
  const [most, fewest] = [deepest, least].map(({ limit, remaining }) => limit - remaining) as [number, number]
  // Scaling the part that was measured to the whole bucket also scales the error of the measurement.
  const scale = deepest.limit / most
  const length = deepest.untilMillis * scale
  // Times may be off by rounding and by one token that has refilled only in part.
  const toleranceOf = (limit: number) => toleranceMillis + length / limit
  const agrees = spent.every(
    ({ limit, remaining, untilMillis }) =>
      Math.abs(untilMillis - ((limit - remaining) * length) / limit) <= toleranceOf(limit)
  )
  // This rules out a window, because the reset of a window is equally far away after few and after many requests.
  const isDeepEnough = most >= 2 * fewest && ((most - fewest) * length) / deepest.limit > 2 * toleranceOf(deepest.limit)
  const isAhead = deepest.untilMillis > 2 * toleranceMillis && spent.every(({ untilMillis }) => untilMillis > 0)
  return isDeepEnough && agrees && isAhead
    ? shownBy(deepest, "token-bucket", length, (toleranceMillis + length / deepest.limit) * scale)
    : undefined
}

const refilledOf = (all: ReadonlyArray<Reading>) => {
  for (const [index, reading] of all.entries()) {
    const before = all[index - 1]
    if (before === undefined || reading.resetMillis <= before.resetMillis + toleranceMillis) continue
    if (reading.limit - reading.remaining > 1 || reading.at < before.resetMillis - toleranceMillis) continue
    // This is the first request of a window. It is a fixed one if a sliding window would still count the requests before.
    const length = round(reading.untilMillis)
    const wouldCount = all.slice(0, index).filter(({ at }) => at > reading.at - length + toleranceMillis).length
    if (wouldCount > 2) return shownBy(reading, "fixed-window", reading.untilMillis)
  }
  return undefined
}

/**
 * Whether the rate limit is a token bucket; undefined if unknown. A few replies show this, but it takes many to tell the
 * other kinds apart.
 */
export const isBucket = (evidence: Evidenced): boolean | undefined => {
  const shown = granted(evidence).map(isBucketIn)
  return shown.find((each) => each !== undefined)
}

const isBucketIn = (all: ReadonlyArray<Reading>): boolean | undefined => {
  if (bucketOf(all) !== undefined) return true
  // The reset of a window is just as far away after one request as after many.
  const fresh = all.find(({ limit, remaining }) => limit - remaining === 1)
  const same = all.some(
    ({ limit, remaining, resetMillis }) =>
      limit - remaining >= minReadings && Math.abs(resetMillis - (fresh?.resetMillis ?? 0)) <= toleranceMillis
  )
  return fresh !== undefined && same && fresh.untilMillis > 2 * toleranceMillis ? false : undefined
}

/** How far the service's clock is ahead of the recorder's: the median over all replies. */
export const clockSkewMillis = (evidence: Evidenced): number | undefined => {
  const skews = evidence
    .flatMap((exchange) => {
      const service = serviceMillis(exchange)
      // The header `Date` has whole seconds, which cuts off half a second on average.
      return service === undefined ? [] : [service + 500 - (exchange.at + exchange.durationMillis / 2)]
    })
    .toSorted((a, b) => a - b)
  const middle = skews[Math.floor(skews.length / 2)]
  if (middle === undefined) return undefined
  return Math.abs(middle) < toleranceMillis ? 0 : wholeSeconds(middle)
}

export const window = {
  onSuccess: claim("A20", "Successes have the three headers", {
    refutedBy: "A success without one of them",
    see: headersOn("success")
  }),
  onFailure: claim("A20", "Failures have the three headers", {
    refutedBy: "A failure without one of them",
    see: headersOn("failure")
  }),
  limit: claim("A20", "The limit is 1200", {
    refutedBy: "ratelimit-limit with another number",
    see: (evidence) =>
      readings(evidence).map(({ exchange, limit }) => observation(exchange, limit, `ratelimit-limit: ${limit}`)),
    holds: is(1200)
  }),
  reset: claim("A20", "The reset is in seconds since the epoch", {
    refutedBy: "ratelimit-reset in seconds from now",
    see: first(all, ({ headers }) => {
      const reset = number(headers[resetHeader])
      if (reset === undefined) return undefined
      return reset < minEpochSeconds
        ? ["seconds", `ratelimit-reset: ${reset}, seconds from now`]
        : ["epoch", `ratelimit-reset: ${reset}, seconds since the epoch`]
    }),
    holds: is<string>("epoch")
  }),
  refusalIsFree: claim("A21", "A 429 costs nothing", {
    needs: "time",
    refutedBy: "Two 429s in one window with different remaining numbers",
    see: (evidence) => {
      const refused = byAccount(evidence).map((all) => all.filter(({ exchange }) => exchange.status === 429))
      const [one, two] = refused.find((each) => each.length > 1) ?? []
      if (one === undefined || two === undefined || one.resetMillis !== two.resetMillis) return []
      const says = `${one.remaining} left at one 429, ${two.remaining} at the next`
      return [observation(two.exchange, two.remaining === one.remaining, says)]
    }
  }),
  algorithm: claim("A22", "The window is fixed", {
    needs: "time",
    refutedBy: "An allowance that refills gradually, or whose reset moves with each request",
    see: (evidence) => {
      const found = windowIn(evidence)
      return found === undefined ? [] : [{ ...found, value: found.value.algorithm }]
    },
    holds: is<string>("fixed-window")
  }),
  length: claim("A22", "The window is an hour long", {
    needs: "time",
    refutedBy: "The first request of a window, with another time to its reset",
    // If the kind is unknown, the first request of a window shows the length.
    see: (evidence) => {
      const found = windowIn(evidence)
      if (found !== undefined) {
        const { windowMillis } = found.value
        return windowMillis === undefined ? [] : [{ ...found, value: windowMillis }]
      }
      // A bucket shows nothing here, because its reset only says when that one request has refilled.
      if (isBucket(evidence) !== false) return []
      const fresh = readings(evidence).find(
        ({ limit, remaining, untilMillis }) => limit - remaining === 1 && untilMillis > toleranceMillis
      )
      if (fresh === undefined) return []
      const length = round(fresh.untilMillis)
      return [observation(fresh.exchange, length, `a window of ${length / 1000} s`)]
    },
    holds: is(3_600_000)
  })
}
