/**
 * `berth history`: shows what was changed, by whom, and with which outcome, from berth's own log. Sends no request.
 */
import { Effect, Layer } from "effect"
import { optionalArgument, text } from "../../commandLine/Parameter.ts"
import { changes, changesOf } from "../../history/changes.ts"
import { limitFlag, printLimited } from "../../output/printLimited.ts"
import { changeRecord } from "../../records/change.ts"
import { connection, stateOf } from "../../settings/client.ts"
import { command } from "../command.ts"

export const history = command(
  {
    node: optionalArgument("NODE", text(""), "Id of a node, or the name that it was created with"),
    limit: limitFlag("changes")
  },
  Effect.fnUntraced(function* ({ limit, node }) {
    const all = yield* changes
    yield* printLimited(changeRecord, node === undefined ? all : changesOf(all, node), limit)
  }),
  Layer.unwrap(Effect.map(connection, stateOf))
)
