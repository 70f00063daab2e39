/**
 * Calls one create under one key again and again; each call may be killed, interrupted, late, or fail anywhere. In every case, no request
 * is sent while an earlier one may be processed, and at most one node is made. The store, the service and the clocks are models; the
 * decisions are those of `CreateMachine.ts`.
 */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as fc from "fast-check"
import { untried } from "../../../src/client/creation/Reconciliation.ts"
import { type Instant, type Intent, mayBeAnswered, unanswered } from "../../../src/client/creation/IntentStore.ts"
import {
  type CreateAction,
  type CreateEvent,
  type CreateRequest,
  type CreateState,
  type CreateStep,
  firstStep,
  next
} from "../../../src/client/creation/CreateMachine.ts"
import { BerthError } from "../../../src/domain/BerthError.ts"
import {
  type ErrorReason,
  Forbidden,
  StateUnavailable,
  RateLimited,
  ServiceFault,
  TimedOut,
  Unreachable
} from "../../../src/domain/ErrorReason.ts"
import type { Node } from "../../../src/domain/Node.ts"
import { someNode } from "../../someNode.ts"

const request: CreateRequest = {
  key: "job",
  keyed: true,
  adoptOnly: false,
  name: "web",
  plan: "P",
  image: "I",
  spec: "S",
  deadlineMillis: 60_000,
  maxAttempts: 8
}

const failure = (reason: ErrorReason) => new BerthError({ operation: "nodes.create", reason, attempts: [] })
const fault = failure(new ServiceFault({ status: 500, detail: "oops", retryAfterMillis: null }))
const reset = failure(new Unreachable({ sent: "maybe", detail: "reset" }))
const silent = failure(new TimedOut({ limit: "attempt", afterMillis: 15_000, sent: "maybe" }))
const throttled = failure(new RateLimited({ retryAfterMillis: null }))
const forbidden = failure(new Forbidden({ detail: "no" }))
const unwritable = failure(new StateUnavailable({ path: "/state", code: "ENOSPC", detail: "no space left" }))

/** A request is processed within this time of leaving, or never: gateways and workers may keep it. */
const processedWithinMillis = 600_000

/** A request leaves within this time after it is recorded as sent, because the connection may take long. */
const leavesWithinMillis = 15_000

/** A request that was answered with a 429 is processed within this time after the answer, or never. */
const processedAfterRefusalMillis = 12_000

/** A request that reached the service, or may have. */
interface Sent {
  readonly atMillis: number
  /** When it is processed; infinite if never. */
  readonly processedMillis: number
  /** No connection was made. */
  readonly isRefused: boolean
  /** It was answered with a 429. */
  readonly isThrottled: boolean
}

/** Thrown when the process is killed. */
const killed = Symbol("killed")

/** How the last call ended. */
type End = "killed" | "interrupted" | Result.Result<unknown, BerthError>

/** The world of one key. `choices` decide what happens; once they are used up, the first possibility happens. */
class World {
  nowMillis = 1_000_000
  #boot = 1
  readonly #choices: Array<number>
  readonly #hasBootClock: boolean
  readonly #hasServiceClock: boolean
  stored: Intent | undefined
  #isOwnerKilled = false
  readonly sent: Array<Sent> = []
  readonly ends: Array<End> = []

  constructor(choices: ReadonlyArray<number>, hasBootClock: boolean, hasServiceClock: boolean) {
    this.#choices = [...choices]
    this.#hasBootClock = hasBootClock
    this.#hasServiceClock = hasServiceClock
  }

  #choose(count: number): number {
    return (this.#choices.shift() ?? 0) % count
  }

  #happens(oneIn: number): boolean {
    return this.#choose(oneIn) === oneIn - 1
  }

  #passes(maxMillis: number): void {
    this.nowMillis += this.#choose(maxMillis + 1)
  }

  #instant(): Instant {
    return {
      wallMillis: this.#choose(1_000_000_000),
      bootMillis: this.nowMillis - this.#boot * 500_000,
      bootClock: this.#hasBootClock ? `boot ${this.#boot}` : null,
      // The service's clock has certainly reached this time: the estimate is not ahead, and at most two seconds behind.
      serviceMillis: this.#hasServiceClock ? 1_790_000_000_000 + this.nowMillis - this.#choose(2001) : 0
    }
  }

  /** The existing nodes of this create. */
  nodes(): ReadonlyArray<Node> {
    return this.sent
      .filter(({ processedMillis }) => processedMillis <= this.nowMillis)
      .map((_, i) => someNode(101 + i, { name: "web", plan: "P", image: "I" }))
  }

  /** A process can be killed before and after everything that it does. */
  #mayBeKilled(): void {
    if (this.#happens(25)) throw killed
  }

  /** Performs the write of a step; false if a required write fails. */
  #write({ write }: CreateStep): boolean {
    if (write === undefined) return true
    this.#mayBeKilled()
    const { intent, isRequired } = write
    if (this.#happens(8)) return !isRequired
    this.stored = intent ?? undefined
    this.#isOwnerKilled = false
    this.#mayBeKilled()
    return true
  }

  /** Sends the attempts of one call, and returns the step that follows them. */
  #send(before: CreateState): CreateStep | "interrupted" {
    let state = before
    const feed = (event: CreateEvent) => {
      const step = next(request, state, event)
      ;({ state } = step)
      return step
    }
    const ended = (result: Result.Result<Node, BerthError>) =>
      feed({ _tag: "SendEnded", result, draw: 0.5, leftMillis: this.#choose(60_000) })
    while (true) {
      this.#passes(40_000)
      const going = next(request, state, { _tag: "TurnCame", now: this.#instant() })
      if (!this.#write(going)) {
        this.#write(feed({ _tag: "NotProcessed" }))
        return ended(Result.fail(unwritable))
      }
      ;({ state } = going)
      const atMillis = this.nowMillis
      const leftAtMillis = atMillis + this.#choose(leavesWithinMillis)
      const send = (processedMillis: number, over: Partial<Sent> = {}) =>
        this.sent.push({ atMillis, processedMillis, isRefused: false, isThrottled: false, ...over })
      if (this.#happens(6)) {
        send(Infinity, { isRefused: true })
        this.#write(feed({ _tag: "NotProcessed" }))
        if (this.#happens(2)) continue
        return ended(Result.fail(forbidden))
      }
      if (this.#happens(6)) {
        const refusedAt = this.nowMillis
        const processed = [Infinity, refusedAt, refusedAt + this.#choose(processedAfterRefusalMillis)]
        send(processed[this.#choose(3)]!, { isThrottled: true })
        return ended(Result.fail(throttled))
      }
      send([atMillis, leftAtMillis + this.#choose(processedWithinMillis), Infinity][this.#choose(3)]!)
      this.#mayBeKilled()
      this.#passes(15_000)
      this.#mayBeKilled()
      const [node] = this.nodes()
      switch (this.#choose(node === undefined ? 4 : 5)) {
        case 4:
          return ended(Result.succeed(node!))
        case 3:
          this.#write(feed({ _tag: "Interrupted" }))
          if (this.#happens(2)) return "interrupted"
          return feed({ _tag: "DeadlineReached", tried: untried })
        case 2:
          return ended(Result.fail(silent))
        case 1:
          return ended(Result.fail(reset))
        default:
          return ended(Result.fail(fault))
      }
    }
  }

  /** The event that an action leads to. */
  #answer(action: Exclude<CreateAction, { readonly _tag: "Send" }>): CreateEvent {
    switch (action._tag) {
      case "FindIntent": {
        const { stored } = this
        // A store knows that a killed process can no longer get a reply.
        const isKilled = stored !== undefined && this.#isOwnerKilled && mayBeAnswered(stored)
        return {
          _tag: "IntentRead",
          intent: isKilled ? unanswered(stored) : stored,
          now: this.#instant()
        }
      }
      case "GetNode": {
        const node = this.nodes().find(({ id }) => id === action.id)
        assert(node !== undefined)
        return { _tag: "NodeRead", result: this.#happens(10) ? Result.fail(fault) : Result.succeed(node) }
      }
      case "ReadHighestId": {
        const highest = 100 + this.nodes().length
        return {
          _tag: "HighestIdRead",
          result: this.#happens(10) ? Result.fail(fault) : Result.succeed(highest),
          newest: 0
        }
      }
      case "Poll": {
        this.nowMillis += action.afterMillis
        if (this.#happens(10)) {
          return { _tag: "PollFailed", error: this.#happens(3) ? forbidden : fault, isListRead: this.#happens(2) }
        }
        const newer = this.nodes().filter(({ id }) => id > action.intent.newerThan)
        const other = { ...action.intent, key: "other" }
        const underWay = new Map(this.#happens(10) ? [[other.key, other]] : [])
        return {
          _tag: "ListRead",
          newer,
          isWhole: true,
          claimed: new Map(),
          toldToOthers: new Set(),
          beside: { lost: [], underWay },
          now: this.#instant()
        }
      }
    }
  }

  #run(): End {
    let step = firstStep(request)
    for (let count = 0; count < 100; count++) {
      if (!this.#write(step)) return Result.fail(unwritable)
      const { action, state } = step
      if (state._tag === "Ended") return state.outcome
      this.#mayBeKilled()
      this.#passes(3000)
      if (this.#happens(40)) return "interrupted"
      if (this.#happens(40)) step = next(request, state, { _tag: "DeadlineReached", tried: untried })
      else {
        assert(action !== undefined, `${state._tag} waits, and nothing is under way`)
        const following = action._tag === "Send" ? this.#send(state) : next(request, state, this.#answer(action))
        if (following === "interrupted") return following
        step = following
      }
    }
    return assert.fail("a call that does not end")
  }

  /** One call, and the events until the next one. */
  call(): void {
    try {
      this.ends.push(this.#run())
      // The owner may also be killed later.
      if (this.#happens(3)) this.#isOwnerKilled = true
    } catch (thrown) {
      if (thrown !== killed) throw thrown
      this.ends.push("killed")
      this.#isOwnerKilled = true
    }
    this.nowMillis += [0, 5000, 45_000, 120_000, 650_000][this.#choose(5)]!
    if (this.#happens(8)) this.#boot++
  }

  /** Fails if a request was sent although an earlier one could still be processed or had been processed. */
  check(): void {
    this.sent.forEach((later, i) => {
      for (const earlier of this.sent.slice(0, i)) {
        if (earlier.isRefused) continue
        if (!earlier.isThrottled) {
          assert.isAtLeast(later.atMillis - earlier.atMillis, leavesWithinMillis + processedWithinMillis)
        }
        assert.strictEqual(earlier.processedMillis, Infinity)
      }
    })
    this.nowMillis += 10 * processedWithinMillis
    const nodes = this.nodes()
    assert.isAtMost(nodes.length, 1)
    for (const end of this.ends) {
      if (typeof end !== "string" && Result.isSuccess(end)) {
        assert.deepStrictEqual((end.success as { node: Node }).node, nodes[0])
      }
    }
  }
}

const choices = fc.array(fc.noBias(fc.nat(10_000_000)), { maxLength: 250, size: "max" })

describe("calls of one create that end in any way", () => {
  it("send no request while an earlier one may be processed, and make one node at most", () => {
    const seen = { sentAgain: 0, created: 0, adopted: 0, unknown: 0, killed: 0 }
    fc.assert(
      fc.property(choices, fc.boolean(), fc.boolean(), (choices, hasBootClock, hasServiceClock) => {
        const world = new World(choices, hasBootClock, hasServiceClock)
        for (let call = 0; call < 8; call++) world.call()
        world.check()
        if (world.sent.filter(({ isRefused }) => !isRefused).length > 1) seen.sentAgain++
        for (const end of world.ends) {
          if (end === "killed") seen.killed++
          else if (end === "interrupted") continue
          else if (Result.isFailure(end)) {
            if (end.failure.reason._tag === "OutcomeUnknown") seen.unknown++
          } else if ((end.success as { outcome: string }).outcome === "created") seen.created++
          else seen.adopted++
        }
      }),
      { numRuns: 800 }
    )
    // Each case must occur, otherwise the test would prove nothing.
    for (const [what, count] of Object.entries(seen)) assert.isAbove(count, 0, what)
  })
})
