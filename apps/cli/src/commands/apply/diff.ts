/**
 * `berth diff`: compares the account's nodes with a fleet file; reports the result as an exit code and as a plan.
 */
import { exitCode } from "@berthkit/terminal/exitCode"
import { Effect } from "effect"
import { previewFleet } from "../../applying/changeFleet.ts"
import { fileFlag, placeOf } from "../../applying/FleetPlace.ts"
import { ProgramEnded } from "../../failure/CliFailure.ts"
import { isEqual } from "../../fleet/Change.ts"
import { client } from "../../settings/client.ts"
import { command } from "../command.ts"

export const diff = command(
  { file: fileFlag },
  Effect.fnUntraced(function* ({ file }) {
    const plan = yield* previewFleet(yield* placeOf(file), { replace: [], pick: [], isDestroy: false })
    if (!isEqual(plan)) return yield* new ProgramEnded({ code: exitCode.different })
  }),
  client
)
