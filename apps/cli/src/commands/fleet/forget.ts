/**
 * `berth fleet forget`: takes a member out of the ledger, or a fleet out of what this machine knows. No node is touched.
 */
import { Effect } from "effect"
import { fileFlag, placeOf, readFleetFile } from "../../applying/FleetPlace.ts"
import { knownFleets, ownAccount, updateRegistry } from "../../applying/Registry.ts"
import { withLedger } from "../../applying/LedgerFile.ts"
import { argument, text } from "../../commandLine/Parameter.ts"
import { UsageFault } from "../../failure/CliFailure.ts"
import { ended } from "../../fleet/Ledger.ts"
import { parseMember } from "../../fleet/Member.ts"
import { printNote } from "../../output/Output.ts"
import { printOne } from "../../output/print.ts"
import { fleetMemberRecord } from "../../records/fleet.ts"
import { command } from "../command.ts"

const forgetMember = Effect.fnUntraced(function* (name: string, file: string | undefined) {
  const place = placeOf(file)
  const fleet = yield* readFleetFile(place)
  yield* withLedger(place.ledger, { ...(yield* ownAccount), fleet: fleet.fleet }, (ledgerFile) =>
    Effect.gen(function* () {
      const entry = (yield* ledgerFile.current).members.get(name)
      if (entry === undefined || entry.state === "none") {
        return yield* new UsageFault({
          message: `The ledger ${place.ledger} has no member ${name}.`,
          hint: `See its members: berth diff${place.flag}`
        })
      }
      yield* ledgerFile.update((before) => ended(before, name))
      const nodes = [entry.node, entry.previous].filter((owned) => owned !== undefined)
      const ids = nodes.map(({ id }) => id)
      if (ids.length > 0)
        yield* printNote(
          ids.length === 1
            ? `Node ${ids[0]} was not deleted: if it still exists, it is billed.`
            : `Nodes ${ids.join(" and ")} were not deleted: if they still exist, they are billed.`
        )
      yield* printOne(fleetMemberRecord, {
        fleet: fleet.fleet,
        member: name,
        id: entry.node?.id ?? null,
        name: entry.node?.name ?? entry.pending?.name ?? name,
        outcome: "forgotten",
        differences: []
      })
    })
  )
})

const forgetFleet = Effect.fnUntraced(function* (name: string, registry: string) {
  yield* updateRegistry(registry, (fleets) => fleets.filter(({ fleet }) => fleet !== name))
  yield* printNote(`The fleet ${name} is not listed any more; its nodes and its ledger stay as they are.`)
  yield* printOne(fleetMemberRecord, { fleet: name, member: "", id: null, name, outcome: "forgotten", differences: [] })
})

export const forget = command(
  {
    name: argument(
      "NAME",
      text("", (given) => given !== "", "expected a fleet, or a member such as web-2"),
      "A fleet, or a member such as web-2"
    ),
    file: fileFlag
  },
  Effect.fnUntraced(function* ({ file, name }) {
    const { registry } = yield* ownAccount
    const isFleet = (yield* knownFleets(registry)).some(({ fleet }) => fleet === name)
    if (file === undefined && isFleet) return yield* forgetFleet(name, registry)
    if (parseMember(name) === undefined) {
      return yield* new UsageFault({
        message: `There is no fleet ${name} on this machine.`,
        hint: "List them: berth fleet list"
      })
    }
    return yield* forgetMember(name, file)
  })
)
