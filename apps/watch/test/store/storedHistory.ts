/** Replays a history of the oracle through a store: each process takes the account over from the store and commits to it. */
import { spelling } from "@berthkit/core/domain/NodeStatus"
import { expect } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { openAccount, type WatchedAccount } from "../../src/account/WatchedAccount.ts"
import { beginning } from "../../src/events/Cursor.ts"
import { toEvent, toJson } from "../../src/events/Event.ts"
import { Store } from "../../src/store/Store.ts"
import { type History, watch, type Watched } from "../diff/oracle/watching.ts"

/** Returns the account as its last process knows it. A killed process does not release its account. */
const liveAgain = Effect.fnUntraced(function* ({ rules, steps }: Watched, name: string) {
  let account: WatchedAccount | undefined
  for (const step of steps) {
    if (step._tag === "observed") {
      yield* account!.observe(step.observation, rules)
      continue
    }
    const { begun, fingerprint } = step
    account = yield* openAccount({ name, fingerprint, begun })
  }
  return account!
})

/**
 * Checks that the log has what was published, numbered without a gap, and that the other tables have the state at the end of the history.
 */
export const expectKept = Effect.fnUntraced(function* (history: History) {
  const { after, nodes } = yield* Store
  const name = `h${history.seed}`
  const lived = watch(history)
  const { snapshot } = yield* liveAgain(lived, name)
  expect(snapshot.standing).toEqual(lived.snapshot.standing)
  const log = (yield* after(beginning, 1_000_000)).filter(({ account }) => account === name)
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1))
  expect(new Set(log.map(({ id }) => id)).size).toBe(log.length)
  const bodies = lived.published.map(({ fact }, index) => toJson(toEvent(fact, name, index + 1, "id")))
  const dataOf = (body: string) => ({ type: JSON.parse(body).type, data: JSON.parse(body).data })
  expect(log.map(({ body }) => dataOf(body))).toEqual(bodies.map(dataOf))
  const kept = (yield* Stream.runCollect(nodes(name))).filter(({ goneAtMillis }) => goneAtMillis === null)
  const known = Array.from(lived.snapshot.nodes.values(), ({ state: { node } }) => [node.id, spelling(node.status)])
  expect(kept.map(({ id, status }) => [id, status])).toEqual(known.sort(([a], [b]) => Number(a) - Number(b)))
  return lived
}, Effect.scoped)
