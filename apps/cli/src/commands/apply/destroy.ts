/** `berth destroy`: deletes the nodes of a fleet and no other nodes. Protected nodes stay. */
import { Duration, Effect } from "effect"
import { changeFleet, ensureEnded, previewFleet } from "../../applying/changeFleet.ts"
import { fileFlag, placeOf } from "../../applying/FleetPlace.ts"
import { switchFlag } from "../../commandLine/Parameter.ts"
import { command } from "../command.ts"
import { dryRunFlag, fleetClient, graceFlag, maxDeletesFlag, timeoutFlag, yesFlag } from "./flags.ts"

export const destroy = command(
  {
    file: fileFlag,
    wait: switchFlag("wait", "Wait until the nodes are gone"),
    timeout: timeoutFlag,
    maxDeletes: maxDeletesFlag("default any number"),
    grace: graceFlag,
    dryRun: dryRunFlag,
    yes: yesFlag
  },
  Effect.fnUntraced(function* ({ dryRun, file, ...given }) {
    const place = yield* placeOf(file)
    const options = { replace: [], pick: [], isDestroy: true } as const
    if (dryRun) {
      return yield* ensureEnded(yield* previewFleet(place, options), true, place)
    }
    yield* changeFleet({
      ...given,
      ...options,
      place,
      maxCost: undefined,
      maxCommitment: undefined,
      maxMinimum: undefined,
      maxUnavailable: 1,
      readyCommand: undefined,
      readyTimeout: Duration.zero
    })
  }),
  fleetClient
)
