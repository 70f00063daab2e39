import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import type { Observation, Sending } from "../../../src/client/allowance/AllowanceReport.ts"
import * as Estimator from "../../../src/client/allowance/Estimator.ts"
import { takeOver } from "../../../src/client/allowance/OwnProcesses.ts"
import { initial, type State } from "../../../src/client/allowance/EstimatorState.ts"

const start = 1_790_000_000_000
const day = 86_400_000

const reply = (over: Partial<Observation> & { sentAt: number; receivedAt: number }): Observation => ({
  endedBefore: 0,
  unreportedBefore: 0,
  refused: false,
  fault: false,
  retryAfterMillis: null,
  wallAheadMillis: 0,
  date: Math.floor(over.receivedAt / 1000) * 1000,
  limit: 100,
  remaining: 50,
  reset: Math.ceil(start / 1000) + 60,
  ...over
})

/** The state after one reply, with no request under way. */
const knowing = (remaining: number, resetInSeconds: number) =>
  Estimator.received(
    Estimator.sent(initial, start),
    reply({ sentAt: start, receivedAt: start + 20, remaining, reset: start / 1000 + resetInSeconds })
  )

const tag = (turnOf: Estimator.Turn) => turnOf._tag

/** Anything that can happen to a client, with headers that may be missing or garbage. */
const header = fc.oneof(
  fc.constant(null),
  fc.integer({ min: 0, max: 5000 }),
  fc.integer({ min: start / 1000 - 4000, max: start / 1000 + 4000 }),
  fc.integer(),
  fc.constant(Number.MAX_SAFE_INTEGER)
)
const step = fc.oneof(
  fc.record({ kind: fc.constant("send" as const) }),
  fc.record({
    kind: fc.constant("reply" as const),
    /** Which of the requests under way is answered. Replies come in any order. */
    which: fc.nat(),
    refused: fc.boolean(),
    fault: fc.boolean(),
    retryAfterMillis: fc.option(fc.integer({ min: 0, max: 10 * day })),
    date: fc.option(fc.integer({ min: start - day, max: start + day })),
    limit: header,
    remaining: header,
    reset: header
  }),
  fc.record({ kind: fc.constantFrom("lost" as const, "unsent" as const), which: fc.nat() }),
  // The clock may jump while requests are under way.
  fc.record({ kind: fc.constant("time" as const), millis: fc.integer({ min: -300_000, max: 4_000_000 }) }),
  fc.record({ kind: fc.constant("step" as const) })
)

describe("the estimator", () => {
  it("with nothing known admits one request, and the rest wait for its reply", () => {
    assert.strictEqual(tag(Estimator.admit(initial, start, 0)), "Now")
    assert.strictEqual(tag(Estimator.admit(Estimator.sent(initial, start), start, 0)), "AfterReply")
  })

  it("takes the smallest number left of replies that crossed", () => {
    let state = knowing(50, 60)
    for (let i = 0; i < 2; i++) state = Estimator.sent(state, start + 100)
    const at = { sentAt: start + 100, reset: start / 1000 + 60 }
    state = Estimator.received(state, reply({ ...at, receivedAt: start + 150, remaining: 48 }))
    state = Estimator.received(state, reply({ ...at, receivedAt: start + 160, remaining: 49 }))
    assert.strictEqual(state.report?.remaining, 48)
  })

  it("does not rely on a reply that crossed one that was lost", () => {
    let state = knowing(90, 60)
    const sent = []
    for (let i = 0; i < 3; i++) {
      sent.push(Estimator.sending(state, start + 100))
      state = Estimator.sent(state, start + 100)
    }
    const at = { reset: start / 1000 + 60 }
    state = Estimator.received(state, reply({ ...sent[0]!, ...at, receivedAt: start + 150, remaining: 89 }))
    // The second request was counted, but its reply is lost. The third one was counted before or after the second.
    state = Estimator.lost(state, start + 160)
    state = Estimator.received(state, reply({ ...sent[2]!, ...at, receivedAt: start + 170, remaining: 88 }))
    assert.strictEqual(state.report?.remaining, 87)
  })

  it("admits no more at once after faults without an allowance, while nothing is known", () => {
    let state = initial
    for (let i = 0; i < 9; i++) {
      state = Estimator.received(Estimator.sent(state, start), {
        ...reply({ sentAt: start, receivedAt: start + 20, limit: null, remaining: null, reset: null }),
        fault: true
      })
    }
    assert.strictEqual(tag(Estimator.admit(state, start + 20, 0)), "Now")
    assert.strictEqual(tag(Estimator.admit(Estimator.sent(state, start + 20), start + 20, 0)), "AfterReply")
  })

  it("counts a request without a reply as spent, and one that was never sent as not", () => {
    assert.strictEqual(Estimator.lost(Estimator.sent(knowing(50, 60), start), start).report?.remaining, 49)
    assert.strictEqual(Estimator.unsent(Estimator.sent(knowing(50, 60), start)).report?.remaining, 50)
  })

  it("with nothing left returns the instant of the reset, for any skew of our clock", () => {
    for (const skew of [-300_000, 0, 300_000]) {
      const sentAt = start + skew
      const state = Estimator.received(
        Estimator.sent(initial, sentAt),
        reply({ sentAt, receivedAt: sentAt + 20, remaining: 0, date: start, reset: start / 1000 + 60 })
      )
      const turnOf = Estimator.admit(state, sentAt + 20, 0)
      assert.strictEqual(turnOf._tag, "At")
      // The reset is rounded by up to a second, and so is `Date`.
      if (turnOf._tag === "At") assert.closeTo(turnOf.instant - sentAt, 61_000, 1100)
    }
  })

  it("takes a reset below 10⁹ as seconds from now", () => {
    const state = Estimator.received(
      Estimator.sent(initial, start),
      reply({ sentAt: start, receivedAt: start + 20, remaining: 0, reset: 30 })
    )
    const turnOf = Estimator.admit(state, start + 20, 0)
    if (turnOf._tag === "At") assert.closeTo(turnOf.instant - start, 31_000, 1000)
    assert.strictEqual(turnOf._tag, "At")
  })

  it("admits nothing over an allowance that shrinks within its window", () => {
    let state = Estimator.sent(knowing(80, 60), start + 100)
    state = Estimator.received(
      state,
      reply({ sentAt: start + 100, receivedAt: start + 120, limit: 20, remaining: 0, reset: start / 1000 + 60 })
    )
    assert.strictEqual(tag(Estimator.admit(state, start + 200, 0)), "At")
  })

  it("pauses for longer and longer after 429s that state no wait, and as stated after one that does", () => {
    let state = knowing(50, 60)
    const pauses: Array<number> = []
    for (let i = 0; i < 8; i++) {
      const sentAt = Math.max(start + 1000, state.pausedUntil)
      state = Estimator.received(Estimator.sent(state, sentAt), {
        ...reply({ sentAt, receivedAt: sentAt }),
        refused: true,
        limit: null,
        remaining: null,
        reset: null
      })
      pauses.push(state.pausedUntil - sentAt)
    }
    assert.deepStrictEqual(pauses, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
    const sentAt = state.pausedUntil
    state = Estimator.received(Estimator.sent(state, sentAt), {
      ...reply({ sentAt, receivedAt: sentAt }),
      refused: true,
      retryAfterMillis: 3000
    })
    assert.strictEqual(state.pausedUntil - sentAt, 3000)
  })

  it.each([
    ["without headers", { limit: null, remaining: null, reset: null }],
    ["with requests left", { remaining: 49, reset: start / 1000 + 3600 }]
  ])("asks again after the pause that follows a 429 %s, and not at the reset of the window", (_, headers) => {
    const before = knowing(50, 3600)
    const known = Estimator.received(
      Estimator.sent(before, start + 100),
      reply({ sentAt: start + 100, receivedAt: start + 120, remaining: 49, reset: start / 1000 + 3600 })
    )
    const sentAt = start + 200
    const state = Estimator.received(Estimator.sent(known, sentAt), {
      ...reply({ sentAt, receivedAt: sentAt, ...headers }),
      refused: true
    })
    const turn = Estimator.admit(state, sentAt, 0)
    assert.deepStrictEqual(turn, { _tag: "At", instant: sentAt + 1000 })
    assert.strictEqual(tag(Estimator.admit(state, sentAt + 1000, 0)), "Now")
  })

  describe("what another process was refused", () => {
    const theirs = (over: { sentAt: number; receivedAt: number }) => ({
      ownProcesses: { count: 1, before: 0 },
      report: {
        limit: 100,
        remaining: 0,
        resetSeconds: start / 1000 + 3600,
        resetBy: start + 1000,
        resetAround: start + 3_600_000,
        ...over
      }
    })
    const turnAfter = (over: { sentAt: number; receivedAt: number }) =>
      Estimator.admit(takeOver(knowing(50, 3600), theirs(over), start + 30), start + 30, 0)

    it("holds until it may be asked again, where the replies crossed", () => {
      assert.deepStrictEqual(turnAfter({ sentAt: start + 5, receivedAt: start + 15 }), {
        _tag: "At",
        instant: start + 1000
      })
    })

    it("is forgotten where a later request of ours was answered", () => {
      assert.strictEqual(tag(turnAfter({ sentAt: start - 2000, receivedAt: start - 1900 })), "Now")
    })
  })

  describe("what another process says before any reply to this one", () => {
    const told = (remaining: number, count = 1, at = start, state = initial) =>
      takeOver(
        state,
        {
          ownProcesses: { count, before: 0 },
          report: {
            limit: 100,
            remaining,
            resetSeconds: start / 1000 + 60,
            resetBy: start + 61_000,
            resetAround: start + 60_000,
            sentAt: at - 15,
            receivedAt: at - 10
          }
        },
        at
      )

    it("counts by half, less one for it and one for the next that begins", () => {
      assert.strictEqual(tag(Estimator.admit(told(6), start, 0)), "Now")
      assert.strictEqual(tag(Estimator.admit(told(5), start, 0)), "At")
    })

    it("counts in full once no other report came for a second", () => {
      assert.deepStrictEqual(Estimator.admit(told(5), start, 0), { _tag: "At", instant: start + 990 })
      assert.strictEqual(tag(Estimator.admit(told(5), start + 990, 0)), "Now")
    })

    it("counts whole where that has ended", () => {
      assert.strictEqual(tag(Estimator.admit(told(2, 0), start, 0)), "Now")
    })

    it("counts whole against what a lane leaves to others", () => {
      assert.strictEqual(tag(Estimator.admit(told(60), start, 0.5)), "Now")
    })

    it("counts whole once a reply has come", () => {
      const sent = Estimator.sent(told(6), start)
      const ours = reply({ sentAt: start, receivedAt: start + 30, remaining: 5 })
      assert.strictEqual(tag(Estimator.admit(Estimator.received(sent, ours), start + 30, 0)), "Now")
      // Our reply counts, although another process has reported a newer one since.
      const crossed = Estimator.received(told(5, 1, start + 25, sent), ours)
      assert.strictEqual(tag(Estimator.admit(crossed, start + 30, 0)), "Now")
    })
  })

  describe("a refill that is far off", () => {
    const far = { remaining: 0, reset: start / 1000 + 36_000 }
    const answered = (state: State, over: Parameters<typeof reply>[0]) =>
      Estimator.received(Estimator.sent(state, over.sentAt), reply(over))
    const at = (millis: number) => ({ sentAt: start + millis, receivedAt: start + millis + 20 })
    const waitOf = (state: State, millis: number) => {
      const turnOf = Estimator.admit(state, start + millis, 0)
      return turnOf._tag === "At" ? turnOf.instant - start : turnOf._tag
    }
    const refusal = (retryAfterSeconds: number) =>
      ({
        refused: true,
        retryAfterMillis: retryAfterSeconds * 1000,
        limit: null,
        remaining: null,
        reset: null
      }) as const

    it("is checked by one request after two minutes when a single reply states it", () => {
      const state = answered(initial, { ...at(0), ...far })
      assert.strictEqual(waitOf(state, 1000), 120_020)
      assert.strictEqual(waitOf(state, 120_020), "Now")
      assert.strictEqual(waitOf(Estimator.sent(state, start + 120_020), 120_020), "AfterReply")
    })

    it("is believed when another reply states the same", () => {
      const state = answered(answered(initial, { ...at(0), ...far, remaining: 1 }), { ...at(100), ...far })
      assert.isAbove(Number(waitOf(state, 1000)), 35_990_000)
    })

    it("is believed when the `Retry-After` of the same reply agrees, and checked when it does not", () => {
      const agrees = answered(initial, { ...at(0), ...far, refused: true, retryAfterMillis: 36_000_000 })
      assert.isAbove(Number(waitOf(agrees, 1000)), 35_990_000)
      const differs = answered(initial, { ...at(0), ...far, refused: true, retryAfterMillis: 30_000_000 })
      assert.strictEqual(waitOf(differs, 1000), 120_020)
      assert.strictEqual(waitOf(differs, 120_020), "Now")
    })

    it("of a `Retry-After` alone is believed when the next one gives the same instant", () => {
      let state = answered(initial, { ...at(0), ...refusal(3600) })
      assert.strictEqual(waitOf(state, 1000), 120_020)
      state = answered(state, { ...at(120_020), ...refusal(3480) })
      assert.closeTo(Number(waitOf(state, 121_000)), 3_600_000, 1000)
    })

    it("is not believed for a header that never changes, in any number of replies at once", () => {
      let state = initial
      for (let minute = 0; minute < 20; minute += 2) {
        for (const later of [0, 50, 900])
          state = answered(state, { ...at(minute * 60_000 + later), ...refusal(86_400) })
        assert.isAtMost(Number(waitOf(state, minute * 60_000 + 1000)), (minute + 2) * 60_000 + 1000)
      }
      for (let minute = 0; minute < 20; minute += 2) {
        const stated = { ...at((minute + 20) * 60_000), remaining: 0, reset: 86_400, date: null }
        state = answered(state, stated)
        assert.isAtMost(Number(waitOf(state, (minute + 20) * 60_000 + 1000)), (minute + 22) * 60_000 + 1000)
      }
    })

    it("is believed within the length of the window, once that is known", () => {
      let state = answered(initial, { ...at(0), ...far, remaining: 2 })
      state = answered(state, { ...at(100), ...far, remaining: 1 })
      const next = 36_002_000
      state = answered(state, { ...at(next), remaining: 0, reset: start / 1000 + 72_000 })
      assert.isAbove(Number(waitOf(state, next + 1000)), 71_990_000)
    })

    it("is never further off than a day", () => {
      const year = { remaining: 0, reset: start / 1000 + 365 * 86_400 }
      const state = answered(answered(initial, { ...at(0), ...year }), { ...at(100), ...year })
      assert.isAtMost(Number(waitOf(state, 200)), day + 200)
    })

    it("is checked at once after a step of the wall clock, though requests are under way", () => {
      let state = answered(answered(initial, { ...at(0), ...far, remaining: 1 }), { ...at(100), ...far })
      const before = Estimator.sending(state, start + 200)
      state = Estimator.stepped(Estimator.sent(state, start + 200), start + 5000)
      assert.strictEqual(waitOf(state, 5000), "Now")
      const asking = Estimator.sending(state, start + 5000)
      state = Estimator.sent(state, start + 5000)
      assert.strictEqual(waitOf(state, 5000), "AfterReply")
      // A reply to a request before the step does not show what is left after it.
      state = Estimator.received(state, reply({ ...before, ...far, receivedAt: start + 5010 }))
      assert.strictEqual(waitOf(state, 5010), "AfterReply")
      state = Estimator.received(state, reply({ ...asking, ...far, receivedAt: start + 5020 }))
      assert.isAbove(Number(waitOf(state, 5020)), 35_990_000)
    })
  })

  it("keeps a share for the lanes before its own", () => {
    const state = knowing(2, 60)
    assert.strictEqual(tag(Estimator.admit(state, start + 100, 0)), "Now")
    assert.strictEqual(tag(Estimator.admit(state, start + 100, 0.02)), "At")
  })

  it("is never negative, never stuck and never returns an instant that is not a time, for any events", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let state = initial
        let now = start
        const underWay: Array<Sending> = []
        for (const event of steps) {
          if (event.kind === "time") now += event.millis
          else if (event.kind === "step") state = Estimator.stepped(state, now)
          else if (event.kind === "send") {
            underWay.push(Estimator.sending(state, now))
            state = Estimator.sent(state, now)
          } else if (underWay.length > 0) {
            const [one] = underWay.splice(event.which % underWay.length, 1)
            if (event.kind === "lost") state = Estimator.lost(state, now)
            else if (event.kind === "unsent") state = Estimator.unsent(state)
            else if (event.kind === "reply")
              state = Estimator.received(state, { ...event, ...one!, receivedAt: now, wallAheadMillis: 0 })
          }
          assert.strictEqual(state.underWay, underWay.length)
          assert.isAtLeast(state.report?.remaining ?? 0, 0)
          assert.isAtLeast(state.otherClients.requests, 0)
          for (const reserve of [0, 0.02]) {
            const turnOf = Estimator.admit(state, now, reserve)
            // It may wait for a reply only while a request is under way.
            if (turnOf._tag === "AfterReply") assert.isAbove(state.underWay, 0)
            if (turnOf._tag === "At") {
              assert.isTrue(Number.isFinite(turnOf.instant))
              assert.isAbove(turnOf.instant, now)
            }
          }
        }
        // After two days with nothing under way, it admits a request.
        for (const _ of underWay) state = Estimator.lost(state, now)
        assert.strictEqual(tag(Estimator.admit(state, Math.max(now, start) + 2 * day + 4_000_000, 0)), "Now")
      }),
      { numRuns: 600 }
    )
  })
})
