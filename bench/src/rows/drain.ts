/**
 * Measures the CPU time of a client while very many calls wait for the allowance. Ten times as many calls may take at most fifteen times
 * as long, so a release must not visit every call.
 */
import { Effect } from "effect"
import * as Admission from "@berthkit/core/client/allowance/Admission"
import { ratioAtMost, type Row } from "../Row.ts"

const many = 100_000
const few = 10_000
const farMillis = 1e12

/** Every reply leaves room for a few calls, so that each release admits only a few. */
const head = {
  status: 200,
  headers: { "ratelimit-limit": "1000000", "ratelimit-remaining": "64", "ratelimit-reset": "60" }
}

const request = (deadlineAt: number): Admission.Request => ({
  lane: "interactive",
  deadlineAt
})

/** Milliseconds of CPU to release this many calls that wait at the same time. */
const drain = async (calls: number): Promise<number> => {
  const before = process.cpuUsage()
  await Effect.runPromise(
    Effect.gen(function* () {
      const admission = yield* Admission.make(undefined)
      const call = (i: number) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.flatMap(
            // Deadlines far in the future, all different, in no order.
            admission.admit(request(farMillis + ((i * 7919) % calls)), restore),
            (ticket) => ticket.replied(head, false)
          )
        )
      yield* Effect.forEach(
        Array.from({ length: calls }, (_, i) => i),
        call,
        { concurrency: "unbounded", discard: true }
      )
    }).pipe(Effect.scoped)
  )
  const { system, user } = process.cpuUsage(before)
  return (user + system) / 1000
}

export const drainRow = async (): Promise<Row> => {
  await drain(few)
  return {
    name: "release of waiting calls",
    subject: `${many} calls`,
    baseline: `${few} calls`,
    unit: "ms",
    targets: [ratioAtMost(15)],
    pairs: 3,
    measure: async () => {
      const baseline = await drain(few)
      return { subject: await drain(many), baseline }
    }
  }
}
