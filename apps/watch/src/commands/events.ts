/**
 * `berth-watch events`: the events in the store, one per line on stdout; how far it read on stderr.
 */
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { wholeNumberFlag } from "@berth/terminal/wholeNumber"
import { Stdout } from "../deliver/Stdout.ts"
import { advance, type Cursor, formatCursor, parseCursor } from "../events/Cursor.ts"
import { CommandFailed, endedBy } from "../process/CommandFailed.ts"
import { report } from "../process/report.ts"
import { StopSignal } from "../process/StopSignal.ts"
import { Store } from "../store/Store.ts"

const maxAtOnce = 1000

/** Another process writes the events: nothing wakes this one. */
const followPause = "500 millis"

export const eventsFlags = {
  after: Flag.String("after").pipe(
    Flag.withMetavar("CURSOR"),
    Flag.withDescription("Only events behind this cursor"),
    Flag.optional
  ),
  follow: Flag.Boolean("follow").pipe(
    Flag.withDescription("Go on with new events until stopped"),
    Flag.withDefault(false)
  ),
  account: Flag.String("account").pipe(Flag.withMetavar("NAME"), Flag.optional),
  type: Flag.String("type").pipe(Flag.withMetavar("TYPE"), Flag.optional),
  node: wholeNumberFlag("node", 1).pipe(Flag.withMetavar("ID"), Flag.optional)
}

interface EventsOptions {
  readonly after: Option.Option<string>
  readonly follow: boolean
  readonly account: Option.Option<string>
  readonly type: Option.Option<string>
  readonly node: Option.Option<number>
}

/** The cursor that a flag names. */
export const readCursor = (text: string): Effect.Effect<Cursor, CommandFailed> =>
  Option.match(parseCursor(text), {
    onSome: Effect.succeed,
    onNone: () =>
      Effect.fail(
        new CommandFailed({
          exit: "usage",
          message: `${text} is not a cursor.`,
          hint: "berth-watch events prints the cursor behind the last event, such as default:42."
        })
      )
  })

export const events = Effect.fn("events")(function* (options: EventsOptions) {
  const store = yield* Store
  const { write } = yield* Stdout
  const { received } = yield* StopSignal
  const filter = {
    ...(Option.isSome(options.account) ? { account: options.account.value } : {}),
    ...(Option.isSome(options.type) ? { type: options.type.value } : {}),
    ...(Option.isSome(options.node) ? { node: options.node.value } : {})
  }
  let cursor = yield* readCursor(Option.getOrElse(options.after, () => ""))
  const reading = Effect.gen(function* () {
    for (;;) {
      const found = yield* store.after(cursor, maxAtOnce, filter)
      yield* write(found.map(({ body }) => `${body}\n`).join(""))
      for (const { account, seq } of found) cursor = advance(cursor, account, seq)
      if (found.length > 0) continue
      if (!options.follow) return
      yield* Effect.sleep(followPause)
    }
  })
  yield* Effect.catchTag(Effect.raceFirst(reading, received), "StreamClosed", endedBy)
  yield* report(JSON.stringify({ cursor: formatCursor(cursor) }))
})
