/**
 * Stores the troubles of this process's accounts, and of the receivers of their events, so that every process and command can show them.
 * A process that takes over an account starts with the stored condition, and replaces it once it has observed the account itself.
 */
import { Clock, Effect } from "effect"
import { Sinks } from "../deliver/Sinks.ts"
import { daemonAccount } from "../events/DaemonFact.ts"
import type { KeptReceiver } from "../store/conditions.ts"
import { Store } from "../store/Store.ts"
import { conditionOf, Progress } from "../telemetry/Progress.ts"
import { Troubles } from "../troubles/Troubles.ts"

const pause = "2 seconds"

/** Stores conditions until the scope closes. If a write fails, the next round tries again. */
export const keepConditions = Effect.gen(function* () {
  const store = yield* Store
  const { receivers } = yield* Sinks
  const { accounts } = yield* Progress
  const { heartbeat } = yield* Troubles
  /** The last write for each account: its epoch, and the JSON of the condition. */
  const written = new Map<string, string>()

  const changedConditions = Effect.gen(function* () {
    const changed = new Map<string, { readonly condition: string; readonly key: string }>()
    const note = (account: string, condition: unknown, told: string) => {
      const epoch = store.epochOf(account)
      if (epoch === null) return void written.delete(account)
      const key = `${epoch} ${told}`
      if (written.get(account) !== key) changed.set(account, { condition: JSON.stringify(condition), key })
    }
    for (const [account, progress] of yield* accounts) {
      const condition = conditionOf(progress)
      // Compare without the numbers of a low allowance, because they change with each request.
      note(account, condition, JSON.stringify({ ...condition, allowance: condition.allowance !== null }))
    }
    const beat = { heartbeat: yield* heartbeat }
    note(daemonAccount, beat, JSON.stringify(beat))
    return changed
  })

  const changedReceivers = Effect.gen(function* () {
    const nowMillis = yield* Clock.currentTimeMillis
    const kept = new Map<string, Map<string, KeptReceiver>>()
    for (const each of yield* store.failingReceivers) {
      const ofSink = kept.get(each.sink) ?? new Map<string, KeptReceiver>()
      kept.set(each.sink, ofSink.set(each.account, each))
    }
    const changed: Array<KeptReceiver> = []
    for (const [sink, { left, receiver, unproven }] of receivers()) {
      const before = kept.get(sink) ?? new Map<string, KeptReceiver>()
      for (const account of new Set([...before.keys(), ...left])) {
        if (store.epochOf(account) === null) continue
        const known = before.get(account)?.receiver ?? null
        const isLeft = left.has(account)
        // If nothing was delivered since this process took over the account, keep the stored condition: the failed
        // attempts that the previous process counted are not failures of this process.
        if (known !== null && isLeft && unproven.has(account) && receiver.state !== "down") continue
        if (receiver.state === "up") {
          if (known !== null) changed.push({ sink, account, receiver: null })
          continue
        }
        const { reason, sinceMillis, state } = receiver
        const now = isLeft
          ? { state, reason: reason ?? "", sinceMillis: known?.sinceMillis ?? sinceMillis ?? nowMillis }
          : null
        if (JSON.stringify(now) !== JSON.stringify(known)) changed.push({ sink, account, receiver: now })
      }
    }
    return changed
  })

  const keep = Effect.gen(function* () {
    const conditions = yield* changedConditions
    const changed = yield* changedReceivers
    if (conditions.size + changed.length === 0) return
    const bodies = new Map(Array.from(conditions, ([account, { condition }]) => [account, condition]))
    yield* store.noteConditions(bodies, changed)
    for (const [account, { key }] of conditions) written.set(account, key)
  })
  return yield* Effect.forever(Effect.andThen(Effect.ignore(keep), Effect.sleep(pause)))
})
