/**
 * A service, a client that sends whenever the estimator admits it, and perhaps another one on the same key, in virtual time.
 * Deterministic for a seed.
 */
import { numbersFrom } from "@berthkit/testing/chance"
import * as Estimator from "../../../src/client/allowance/Estimator.ts"
import { initial } from "../../../src/client/allowance/EstimatorState.ts"
import { type SharedKnowledge, takeOver } from "../../../src/client/allowance/OwnProcesses.ts"
import { type Kind, makeWindow } from "./windows.ts"

export interface Scenario {
  readonly kind: Kind
  readonly limit: number
  readonly windowMillis: number
  /** Our clock minus the service's. */
  readonly skewMillis: number
  /** Calls at any time: as many as may be under way at once. */
  readonly callers: number
  /** Another client with the same key: one that is as careful as ours, or one that sends this often per window and ignores its replies. */
  readonly other: "none" | "careful" | { readonly perWindow: number }
  /** How many windows to simulate. */
  readonly windows: number
  readonly seed: number
  readonly reserve?: number
  /** Own processes in addition to ours. Default 0. */
  readonly ownProcesses?: number
  /** Share of our replies that are lost after the request was counted, and of those that report no allowance. */
  readonly lost?: number
  readonly bare?: number
  /** From when until when all our replies are lost, in windows since the beginning. */
  readonly outage?: { readonly from: number; readonly length: number }
  /**
   * The maximum time for which a reply is under way, in milliseconds. The longer it is, the more replies overtake each other. Default 40.
   */
  readonly delayMillis?: number
}

export interface Outcome {
  readonly granted: number
  /** When each of our refused requests was sent, in windows since the beginning. */
  readonly refusedAt: ReadonlyArray<number>
  /** The number of our requests that were sent at a reset without a report, when nothing was left. */
  readonly unreported: number
  /** Granted requests of all clients, as a share of what the windows could grant. */
  readonly used: number
  /** Most requests in the second after a reset, as a share of the allowance. */
  readonly burst: number
}

interface Event {
  readonly at: number
  readonly run: () => void
}

/** Events in order of time; those of the same instant in order of insertion. */
class Timeline {
  readonly #events: Array<Event & { readonly order: number }> = []
  #order = 0
  now = 0
  add(at: number, run: () => void) {
    const event = { at: Math.max(at, this.now), run, order: this.#order++ }
    let low = 0
    let high = this.#events.length
    while (low < high) {
      const middle = (low + high) >> 1
      const other = this.#events[middle]!
      if (other.at < event.at || (other.at === event.at && other.order < event.order)) low = middle + 1
      else high = middle
    }
    this.#events.splice(low, 0, event)
  }
  runUntil(end: number) {
    for (;;) {
      const next = this.#events.shift()
      if (next === undefined || next.at > end) return
      this.now = next.at
      next.run()
    }
  }
}

const epoch = 1_790_000_000_000

export const simulate = (scenario: Scenario): Outcome => {
  const { callers, kind, limit, other, seed, skewMillis, windowMillis, windows } = scenario
  const random = numbersFrom(seed)
  const window = makeWindow[kind](limit, windowMillis)
  const timeline = new Timeline()
  const end = windows * windowMillis
  const granted: Array<number> = []
  let ours = 0
  const refusedAt: Array<number> = []
  let unreported = 0

  const { ownProcesses = 0 } = scenario
  /** The state that own processes share. */
  let board: Pick<SharedKnowledge, "pausedUntil" | "report"> = {}
  const client = (callers: number, mine: boolean, startsAt: number, before = 0) => {
    let state = mine ? takeOver(initial, { ownProcesses: { count: ownProcesses, before } }, 0) : initial
    let wake = Number.POSITIVE_INFINITY
    let underWay = 0
    const clientNow = () => epoch + timeline.now + skewMillis
    const send = () => {
      const sentAt = clientNow()
      const sentReal = timeline.now
      const sending = Estimator.sending(state, sentAt)
      const atReset = state.report?.remaining === 0
      state = Estimator.sent(state, sentAt)
      underWay++
      timeline.add(timeline.now + 5 + random() * 40, () => {
        const at = timeline.now
        const serviceNow = epoch + at
        const reading = window(serviceNow)
        if (reading.granted) granted.push(at)
        if (mine && reading.granted) ours++
        if (mine && !reading.granted) refusedAt.push(sentReal / windowMillis)
        const sinceOutage = scenario.outage === undefined ? -1 : at / windowMillis - scenario.outage.from
        const isOut = sinceOutage >= 0 && sinceOutage < (scenario.outage?.length ?? 0)
        const isLost = mine && (isOut || random() < (scenario.lost ?? 0))
        const isBare = mine && random() < (scenario.bare ?? 0)
        if (atReset && (isLost || isBare)) unreported++
        timeline.add(at + 5 + random() * (scenario.delayMillis ?? 40), () => {
          underWay--
          if (isLost) {
            state = Estimator.lost(state, clientNow())
            pump()
            return
          }
          state = Estimator.received(state, {
            ...sending,
            receivedAt: clientNow(),
            refused: !reading.granted,
            fault: false,
            retryAfterMillis: reading.granted ? null : Math.ceil((reading.retryAt - serviceNow) / 1000) * 1000,
            wallAheadMillis: 0,
            date: Math.floor(serviceNow / 1000) * 1000,
            limit: isBare ? null : limit,
            remaining: isBare ? null : reading.remaining,
            reset: isBare ? null : Math.ceil(reading.resetAt / 1000)
          })
          pump()
        })
      })
    }
    const pump = () => {
      while (underWay < callers) {
        const turnOf = Estimator.admit(state, clientNow(), scenario.reserve ?? 0)
        if (turnOf._tag === "Now") {
          send()
          continue
        }
        if (turnOf._tag === "At") {
          const instant = Math.ceil(turnOf.instant - epoch - skewMillis)
          if (instant < wake || wake <= timeline.now) {
            wake = Math.max(instant, timeline.now + 1)
            timeline.add(wake, pump)
          }
        }
        return
      }
    }
    timeline.add(startsAt, pump)
    if (!mine || ownProcesses === 0) return
    const exchange = () => {
      state = takeOver(state, { ownProcesses: { count: ownProcesses, before }, ...board }, clientNow())
      const { pausedUntil, report } = state
      if (report !== undefined && report.receivedAt >= (board.report?.receivedAt ?? 0)) board = { pausedUntil, report }
      pump()
      timeline.add(timeline.now + 500, exchange)
    }
    timeline.add(startsAt, exchange)
  }
  for (let before = 0; before <= ownProcesses; before++) client(callers, true, random() * 500 * before, before)
  if (other === "careful") client(callers, false, 777)
  else if (other !== "none") {
    const step = windowMillis / other.perWindow
    const tick = () => {
      if (window(epoch + timeline.now).granted) granted.push(timeline.now)
      timeline.add(timeline.now + step * (0.5 + random()), tick)
    }
    timeline.add(step * random(), tick)
  }
  timeline.runUntil(end)

  // Requests count from the second window on, because a bucket is full at the beginning.
  const ended = granted.filter((at) => at >= windowMillis)
  const possible = (windows - 1) * limit
  return {
    granted: ours,
    refusedAt,
    unreported,
    used: ended.length / possible,
    burst: burstAfterGaps(granted, windowMillis) / limit
  }
}

/** Most grants within a second of the first one after a gap of at least a tenth of the window. */
const burstAfterGaps = (granted: ReadonlyArray<number>, windowMillis: number): number => {
  let most = 0
  for (let i = 1; i < granted.length; i++) {
    const gap = granted[i]! - granted[i - 1]!
    if (gap < windowMillis / 10) continue
    let j = i
    while (j < granted.length && granted[j]! < granted[i]! + 1000) j++
    most = Math.max(most, j - i)
  }
  return most
}
