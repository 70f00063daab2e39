/**
 * `berth-watch nodes`: the nodes that the store knows of, now or at an earlier instant, one per line on stdout.
 */
import { Clock, DateTime, Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { Stdout } from "../deliver/Stdout.ts"
import { CommandFailed, endedBy } from "../process/CommandFailed.ts"
import { Store } from "../store/Store.ts"

export const nodesFlags = {
  at: Flag.String("at").pipe(
    Flag.withMetavar("TIME"),
    Flag.withDescription("As they were at this instant, such as 2026-03-01T10:20:30Z"),
    Flag.optional
  )
}

const readInstant = (text: string) =>
  Option.match(DateTime.make(text), {
    onSome: (instant) => Effect.succeed(DateTime.toEpochMillis(instant)),
    onNone: () =>
      Effect.fail(
        new CommandFailed({
          exit: "usage",
          message: `--at cannot be ${text}: expected a date and time, such as 2026-03-01T10:20:30Z.`
        })
      )
  })

export const nodes = Effect.fn("nodes")(function* (at: Option.Option<string>) {
  const store = yield* Store
  const { write } = yield* Stdout
  const now = yield* Clock.currentTimeMillis
  const atMillis = Option.isSome(at) ? yield* readInstant(at.value) : now
  for (const { account } of yield* store.heads) {
    const oldest = yield* store.oldest(account)
    if (Option.isSome(at) && oldest !== null && atMillis < oldest) {
      const begin = DateTime.formatIso(DateTime.makeUnsafe(oldest))
      const message = `The events of ${account} reach back to ${begin}, not to ${at.value}.`
      return yield* new CommandFailed({ exit: "notFound", message })
    }
    const found = yield* store.nodesAt(atMillis, account)
    const lines = found.map(({ record }) => `${JSON.stringify({ account, ...(record as object) })}\n`)
    yield* Effect.catchTag(write(lines.join("")), "StreamClosed", endedBy)
  }
})
