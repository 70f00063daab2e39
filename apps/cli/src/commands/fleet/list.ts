/**
 * `berth fleet list`: lists the fleets that berth knows. Reads the account's node list once, to find members with more than
 * one node.
 */
import { exitCode } from "@berthkit/terminal/exitCode"
import { Effect, Result } from "effect"
import { fleetOfNodes, type KnownLedger, ownAccount, readableLedgers } from "../../applying/Registry.ts"
import { readLedger } from "../../applying/LedgerFile.ts"
import { whoseText } from "../../applying/rows.ts"
import { FleetConflict, ProgramEnded } from "../../failure/CliFailure.ts"
import { problemOf } from "../../failure/Problem.ts"
import { candidatesFor, candidatesText, nodesBesides, unfinishedOf } from "../../fleet/candidates.ts"
import { laterOr } from "../../fleet/plan.ts"
import { wholeList } from "../../nodes/allNodes.ts"
import { underPlansOf } from "../../nodes/askedPlan.ts"
import { printAll } from "../../output/print.ts"
import { reportProblem } from "../../output/reportProblem.ts"
import { fleetRecord } from "../../records/fleet.ts"
import { client } from "../../settings/client.ts"
import { command } from "../command.ts"

const membersOf = ({ entries }: KnownLedger) => Array.from(entries.values())

export const list = command(
  {},
  Effect.fnUntraced(function* () {
    const own = yield* ownAccount
    const { fault, ledgers } = yield* readableLedgers(own)
    // An empty list would say that there are no fleets.
    if (fault !== undefined && ledgers.length === 0) return yield* fault
    const isAsked = ledgers.some((ledger) =>
      membersOf(ledger).some(({ node, state }) => node !== undefined || state === "creating")
    )
    const listed = isAsked ? yield* Effect.result(wholeList) : undefined
    const shown = listed !== undefined && Result.isSuccess(listed) ? listed.success.nodes : []
    const nodes = yield* underPlansOf(
      new Map(shown.map((node) => [node.id, node])),
      ledgers.flatMap(membersOf),
      new Map()
    )
    const doubled = new Map(
      ledgers.map((ledger) => {
        const others = ledgers.filter(({ fleet }) => fleet !== ledger.fleet)
        const members = membersOf(ledger)
        const unfinished = unfinishedOf(members, nodes, (id) => !nodes.has(id))
        return [ledger, [...nodesBesides(members, nodes, new Set(fleetOfNodes(others).keys())), ...unfinished]]
      })
    )
    const inFleets = fleetOfNodes(ledgers)
    const undecided = new Map(
      ledgers.map((ledger) => [ledger, membersOf(ledger).filter(({ state }) => state === "creating")])
    )
    yield* printAll(
      fleetRecord,
      ledgers.map((known) => {
        const { fleet, ledger, state } = known
        const members = membersOf(known)
        return {
          name: fleet,
          members: members.filter(({ node }) => node !== undefined).length,
          pending: undecided.get(known)!.length,
          ledger,
          state: doubled.get(known)!.length > 0 ? "doubled" : undecided.get(known)!.length > 0 ? "undecided" : state
        }
      })
    )
    if (listed !== undefined && Result.isFailure(listed)) return yield* listed.failure
    for (const [{ fleet }, found] of doubled) {
      for (const { entry, node, own: known } of found) {
        const twice = new FleetConflict({
          message: `${entry.member} of ${fleet} has more than one node: ${known.id}, which the ledger has, and ${node.id}.`,
          hint:
            entry.protect === true && entry.previous?.id === node.id
              ? `Both are protected until the replacement is finished, or until berth fleet forget ${entry.member}`
              : entry.previous?.id === node.id
                ? `If nobody needs it: berth node delete ${node.id}`
                : whoseText(node.id)
        })
        yield* reportProblem(problemOf(twice))
      }
    }
    const unusable = ledgers.filter(({ state }) => !["ok", "another account"].includes(state))
    for (const { fleet, ledger, state } of unusable) {
      if (state === "missing") {
        const missing = new FleetConflict({
          message: `The ledger ${ledger} of the fleet ${fleet} is missing.`,
          hint: `Restore it, for example with git checkout. If the fleet was moved or abandoned: berth fleet forget ${fleet}; berth apply lists it again in its new place`
        })
        yield* reportProblem(problemOf(missing))
        continue
      }
      const refused = yield* Effect.result(readLedger(ledger, { ...own, fleet }))
      if (Result.isFailure(refused)) yield* reportProblem(problemOf(refused.failure))
    }
    for (const [{ fleet }, entries] of undecided) {
      for (const entry of entries) {
        const { member } = entry
        const candidates = candidatesText(candidatesFor(entry, nodes.values(), (id) => inFleets.has(id)))
        const unknown = new FleetConflict({
          message: `It is not known whether ${entry.pending?.name} (${member} of ${fleet}) was created${candidates}.`,
          hint: `Run berth apply: it finds out. ${laterOr(member)}`
        })
        yield* reportProblem(problemOf(unknown))
      }
    }
    const isDifferent = ledgers.some(
      (ledger) => unusable.includes(ledger) || doubled.get(ledger)!.length > 0 || undecided.get(ledger)!.length > 0
    )
    if (fault !== undefined) return yield* fault
    if (isDifferent) return yield* new ProgramEnded({ code: exitCode.different })
  }),
  client
)
