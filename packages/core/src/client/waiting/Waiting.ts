/**
 * Waits for a node: polls it until it reaches the goal or cannot reach it, until the time is up, or until the rate limit allows no further
 * read in time (decision 0083). The pure `judge` interprets an observation.
 */
import { Duration, Effect, Option } from "effect"
import { BerthError } from "../../domain/BerthError.ts"
import { NodeNotFound, StatusNotReached, type WouldExceedDeadline } from "../../domain/ErrorReason.ts"
import type { Lane } from "../../domain/Lane.ts"
import type { Node, NodeId } from "../../domain/Node.ts"
import { type KnownStatus, label, mayBecome, type NodeStatus } from "../../domain/NodeStatus.ts"
import { leftMillis } from "../call/Deadline.ts"
import { monotonicMillis } from "../time/Monotonic.ts"

/** The goal of a wait: a status, or the deletion of the node. */
export type Goal = KnownStatus | "deleted"

/** Options of a wait. */
export interface WaitOptions {
  /** Longest time to wait. Default 10 minutes. */
  readonly timeout?: Duration.Input | undefined
  /** The lane of the polls. Default `wait`. */
  readonly lane?: Lane | undefined
  /** Called with every observation: the node, or none once it is gone. */
  readonly onObserved?: ((node: Option.Option<Node>) => Effect.Effect<void>) | undefined
}

/** The meaning of an observation for a goal. */
export type Progress = "reached" | "wait" | "impossible" | "gone"

/** Judges one observation of a node; `None` means that it is gone. */
export const judge = (observed: Option.Option<Node>, goal: Goal): Progress => {
  if (Option.isNone(observed)) return goal === "deleted" ? "reached" : "gone"
  if (goal === "deleted") return "wait"
  const { status } = observed.value
  if (status === goal) return "reached"
  return mayBecome(status, goal) ? "wait" : "impossible"
}

/** Maximum number of statuses in an error. */
const maxSeen = 16

/**
 * The first poll happens at a multiple of the first period, the second poll at a multiple of the second period, and so
 * on; the last period repeats. Different waits therefore soon poll together.
 */
const periodsMillis = [1000, 1000, 2000, 4000, 8000]

/** Time until the `poll`-th poll, counted from 0. `phase`, in [0, 1), separates unrelated clients. */
export const untilNextPoll = (poll: number, now: number, phase: number): number => {
  const period = periodsMillis[Math.min(poll, periodsMillis.length - 1)]!
  const since = (now - phase * period) % period
  const wait = period - (since < 0 ? since + period : since)
  return wait < period / 4 ? wait + period : wait
}

/** The functions that read a wait's node. */
export interface Reads {
  /** Whether the node was created so recently that a 404 does not mean that it is gone. */
  readonly isNew: Effect.Effect<boolean>
  /** Reads the node, for the first time or after a pause. The read must end by this monotonic instant. */
  readonly get: (deadlineAt: number, isFirst: boolean) => Effect.Effect<Node, BerthError>
  /** Why the rate limit allows no read before that instant; undefined if it allows one. */
  readonly refusal: (deadlineAt: number) => WouldExceedDeadline | undefined
}

/** The end of a wait before its goal. */
interface Ending {
  readonly isTimeUp?: boolean
  readonly impossible?: boolean
  readonly refillsInMillis?: number
}

/** A shared read may outlast a wait. The wait abandons it this long after its own end. */
const graceMillis = 100

/** Polls until the goal is reached. Returns the node, or none if the goal was `deleted`. */
export const awaitGoal = Effect.fnUntraced(function* (
  id: NodeId,
  goal: Goal,
  { get, isNew, refusal }: Reads,
  phase: number,
  options?: WaitOptions
): Effect.fn.Return<Option.Option<Node>, BerthError> {
  const operation = "nodes.await"
  const startedAt = yield* monotonicMillis
  const ownMillis = Duration.toMillis(Duration.fromInputUnsafe(options?.timeout ?? "10 minutes"))
  const timeoutMillis = Math.min(ownMillis, yield* leftMillis)
  const deadlineAt = startedAt + timeoutMillis
  let last: NodeStatus = { unknown: "not read yet" }
  const seen: Array<NodeStatus> = []
  let failure: BerthError | undefined
  let gone: BerthError | undefined
  const notReached = ({ impossible = false, isTimeUp = false, refillsInMillis }: Ending) =>
    Effect.flatMap(monotonicMillis, (now) =>
      Effect.fail(
        new BerthError({
          operation,
          reason: new StatusNotReached({
            nodeId: id,
            wanted: goal,
            last,
            seen,
            impossible,
            // A timer may fire a millisecond early.
            waitedMillis: Math.round(isTimeUp ? Math.max(timeoutMillis, now - startedAt) : now - startedAt),
            failure: failure?.message ?? null,
            refillsInMillis: refillsInMillis ?? null
          }),
          attempts: failure?.attempts ?? [],
          reply: failure?.reply ?? null
        })
      )
    )

  let isFirst = true
  const observe = Effect.gen(function* () {
    const read = get(deadlineAt, isFirst)
    isFirst = false
    const observed = yield* Effect.catchIf(
      Effect.asSome(read),
      ({ reason }) => reason._tag === "NodeNotFound",
      (error) => {
        gone = error
        return Effect.succeed(Option.none<Node>())
      }
    )
    if (Option.isNone(observed) && (yield* isNew)) {
      failure = gone
      return { observed, progress: "wait" as const }
    }
    failure = undefined
    if (Option.isSome(observed)) {
      last = observed.value.status
      if (seen.length === 0 || label(seen.at(-1)!) !== label(last)) seen.push(last)
      if (seen.length > maxSeen) seen.shift()
    }
    if (options?.onObserved) yield* options.onObserved(observed)
    return { observed, progress: judge(observed, goal) }
  })
  /** Ends the wait at once if no read is possible before its end. */
  const inTime = Effect.suspend(() => {
    const refused = refusal(deadlineAt)
    return refused === undefined ? Effect.void : notReached({ refillsInMillis: refused.predictedMillis })
  })
  // A retryable failure is no observation: the wait goes on until its own timeout. The failure may mean that the
  // allowance is spent, so check whether another read is still possible in time.
  const poll = Effect.andThen(
    inTime,
    Effect.catch(observe, (error) => {
      failure = error
      return error.retryable
        ? Effect.as(inTime, { observed: Option.none<Node>(), progress: "wait" as const })
        : Effect.fail(error)
    })
  )

  const polls = Effect.gen(function* () {
    for (let count = 0; ; count++) {
      const latest = yield* poll
      if (latest.progress !== "wait") return latest
      const now = yield* monotonicMillis
      const pause = untilNextPoll(count, now, phase)
      const left = Math.max(0, deadlineAt - now)
      yield* Effect.sleep(Math.min(pause, left))
      if (pause >= left) return yield* notReached({ isTimeUp: true })
    }
  })
  const { observed, progress } = yield* polls.pipe(
    Effect.timeoutOrElse({
      duration: timeoutMillis + graceMillis,
      orElse: () => notReached({ isTimeUp: true })
    })
  )
  if (progress === "reached") return observed
  if (progress === "impossible") return yield* notReached({ impossible: true })
  return yield* new BerthError({
    operation,
    reason: new NodeNotFound({ nodeId: id }),
    attempts: gone?.attempts ?? [],
    reply: gone?.reply ?? null
  })
})
