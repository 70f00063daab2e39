/**
 * `berth-watch status`: how the accounts and sinks are, as JSON.
 */
import { Console, Effect, Schema } from "effect"
import type { Answers } from "../http/Daemon.ts"
import { AccountStatus, SinkStatus } from "../http/records.ts"
import type { Running } from "./asking.ts"

const writeAccounts = Schema.encodeSync(Schema.toCodecJson(Schema.Array(AccountStatus)))
const writeSinks = Schema.encodeSync(Schema.toCodecJson(Schema.Array(SinkStatus)))

/** `daemon` in the JSON is the process that runs, whether or not it is reached, or null. */
export const status = Effect.fn("status")(function* (daemon: Answers, running: Running | null) {
  const cursor = yield* daemon.cursor
  const accounts = writeAccounts(yield* daemon.accounts)
  const sinks = writeSinks(yield* daemon.sinks)
  yield* Console.log(JSON.stringify({ daemon: running, cursor, accounts, sinks }, null, 2))
})
