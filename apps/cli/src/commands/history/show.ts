/**
 * `berth history`: shows what was changed, by whom, and with which outcome, from berth's own log. Sends no request.
 */
import { Effect, Layer } from "effect"
import { flag, oneOf, optionalArgument, text } from "../../commandLine/Parameter.ts"
import { causes, changesOf, hasCause, log } from "../../history/changes.ts"
import { problemOf } from "../../failure/Problem.ts"
import { reportProblem } from "../../output/reportProblem.ts"
import { limitFlag, printLimited } from "../../output/printLimited.ts"
import { changeRecord } from "../../records/change.ts"
import { connection, stateOf } from "../../settings/client.ts"
import { command } from "../command.ts"

export const history = command(
  {
    node: optionalArgument("NODE", text(""), "Id of a node, or the name that it was created with"),
    cause: flag(
      "cause",
      oneOf(causes, "CAUSE"),
      "Only changes with this cause: requested (by a person, a program or a fleet), fleet, lease, or commitment (the service deletes the node at the end of its commitment)"
    ),
    limit: limitFlag("changes")
  },
  Effect.fnUntraced(function* ({ cause, limit, node }) {
    const { changes, faults } = yield* log
    const found = node === undefined ? changes : changesOf(changes, node)
    const caused = cause === undefined ? found : found.filter((change) => hasCause(change, cause))
    yield* printLimited(changeRecord, caused, limit)
    for (const fault of faults.slice(0, -1)) yield* reportProblem(problemOf(fault))
    const last = faults.at(-1)
    if (last !== undefined) return yield* last
  }),
  Layer.unwrap(Effect.map(connection, stateOf))
)
