/**
 * `berth apply`: changes the account's nodes to match a fleet file.
 */
import { Duration, Effect } from "effect"
import { changeFleet, ensureSingle, previewFleet } from "../../applying/changeFleet.ts"
import { fileFlag, placeOf } from "../../applying/FleetPlace.ts"
import { ensureReadyCommand } from "../../applying/readyCommand.ts"
import { duration, flag, flagOr, flags, switchFlag, text, wholeNumber } from "../../commandLine/Parameter.ts"
import { wordsOf } from "../../commandLine/words.ts"
import { UsageFault } from "../../failure/CliFailure.ts"
import { command } from "../command.ts"
import { maxCommitmentFlag, maxMinimumFlag, rupeesPerHour } from "../../proposal/limits.ts"
import { dryRunFlag, fleetClient, graceFlag, maxDeletesFlag, timeoutFlag, yesFlag } from "./flags.ts"

const parameters = {
  file: fileFlag,
  wait: switchFlag("wait", "Wait until new nodes run and deleted ones are gone"),
  timeout: timeoutFlag,
  replace: flags("replace", text("MEMBER|all"), "Replace this member's node if it differs from the file; repeatable"),
  maxUnavailable: flagOr("max-unavailable", wholeNumber(0), "Replace at most N at a time; default 1", 1),
  readyCommand: flag(
    "ready-command",
    text("COMMAND"),
    "Command that exits 0 when the new node is ready; gets $BERTH_NODE_IP"
  ),
  readyTimeout: flagOr(
    "ready-timeout",
    duration(),
    "How long to try the ready command; default 1m",
    Duration.minutes(1)
  ),
  pick: flags("pick", text("MEMBER"), "Delete this member first if its group has too many; repeatable"),
  maxDeletes: maxDeletesFlag("default 0 with --yes"),
  maxCost: flag(
    "max-cost",
    rupeesPerHour,
    "Abort if the fleet would cost more than this per hour (monthly prices ÷ 730)"
  ),
  maxCommitment: maxCommitmentFlag,
  maxMinimum: maxMinimumFlag,
  grace: graceFlag,
  dryRun: dryRunFlag,
  yes: yesFlag
}

const listed = (given: ReadonlyArray<string>) => given.flatMap(wordsOf)

export const apply = command(
  parameters,
  Effect.fnUntraced(function* ({ dryRun, file, replace: replaced, ...given }) {
    const members = listed(replaced)
    const replace = members.includes("all") ? ("all" as const) : members
    if (given.readyCommand !== undefined && members.length === 0) {
      return yield* new UsageFault({
        message: "--ready-command needs --replace: it is run for the new node of a replacement.",
        hint: "Add --replace all, or leave it out."
      })
    }
    if (given.readyCommand !== undefined) yield* ensureReadyCommand(given.readyCommand)
    const place = yield* placeOf(file)
    const pick = listed(given.pick)
    if (dryRun) {
      const plan = yield* previewFleet(place, { ...given, replace, pick, isDestroy: false })
      return yield* ensureSingle(plan)
    }
    yield* changeFleet({ ...given, place, replace, pick, isDestroy: false })
  }),
  fleetClient
)
