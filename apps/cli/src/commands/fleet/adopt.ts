/**
 * `berth fleet adopt`: takes a node that exists into a fleet. Only the ledger changes.
 */
import { Effect } from "effect"
import { fileFlag, placeOf, readFleetFile } from "../../applying/FleetPlace.ts"
import { fleetOfNodes, knownLedgers, ownAccount, registered } from "../../applying/Registry.ts"
import { withLedger } from "../../applying/LedgerFile.ts"
import { flag, text } from "../../commandLine/Parameter.ts"
import { FleetConflict, UsageFault } from "../../failure/CliFailure.ts"
import { differencesOf } from "../../fleet/differences.ts"
import { adopted, entriesOf, ownedOf } from "../../fleet/Ledger.ts"
import { memberText, parseMember } from "../../fleet/Member.ts"
import { resolveNode } from "../../nodes/resolve.ts"
import { oneNode } from "../../nodes/Target.ts"
import { printOne } from "../../output/print.ts"
import { fleetMemberRecord } from "../../records/fleet.ts"
import { client } from "../../settings/client.ts"
import { command } from "../command.ts"

export const adopt = command(
  {
    node: oneNode,
    as: flag(
      "as",
      text("MEMBER", (given) => parseMember(given) !== undefined, "expected a group and a number, such as web-2"),
      "The member that it becomes, such as web-2"
    ),
    file: fileFlag
  },
  Effect.fnUntraced(function* ({ as, file, node: given }) {
    const member = as && parseMember(as)
    if (!member) {
      return yield* new UsageFault({
        message: "berth fleet adopt needs --as.",
        hint: "Such as: berth fleet adopt 5 --as web-2"
      })
    }
    const place = placeOf(file)
    const fleet = yield* readFleetFile(place)
    const group = fleet.groups.find((each) => each.group === member.group)
    if (group === undefined) {
      return yield* new UsageFault({
        message: `${place.file} has no group ${member.group}.`,
        hint: `Its groups are ${fleet.groups.map(({ group }) => group).join(", ")}.`
      })
    }
    const name = memberText(member)
    const account = yield* ownAccount
    const { registry } = account
    const owner = { ...account, fleet: fleet.fleet }
    const { node } = yield* resolveNode(given, { change: true })
    if (node.status === "terminate") {
      return yield* new FleetConflict({
        message: `Node ${node.name} (${node.id}) is being deleted.`,
        hint: "Choose another node: berth node list"
      })
    }
    yield* withLedger(place.ledger, owner, (ledgerFile) =>
      Effect.gen(function* () {
        const ledger = yield* ledgerFile.current
        const holder = entriesOf(ledger).find((entry) => entry.node?.id === node.id || entry.previous?.id === node.id)
        if (holder !== undefined && holder.member !== name) {
          return yield* new FleetConflict({
            message: `Node ${node.name} (${node.id}) is ${holder.member} already.`,
            hint: `To give it another place, first: berth fleet forget${place.flag} ${holder.member}`
          })
        }
        const others = (yield* knownLedgers(account)).filter((each) => each.ledger !== place.ledger)
        const elsewhere = fleetOfNodes(others).get(node.id)
        if (elsewhere !== undefined) {
          return yield* new FleetConflict({
            message: `Node ${node.name} (${node.id}) is ${elsewhere.member} of the fleet ${elsewhere.fleet}.`,
            hint: `To move it, first forget it there: berth fleet forget ${elsewhere.member} -f FILE`
          })
        }
        const entry = ledger.members.get(name)
        if (holder === undefined) {
          // One that was asked to go makes room.
          if (entry !== undefined && entry.state !== "none" && entry.state !== "deleting") {
            const what = entry.node === undefined ? "a create that may not have ended" : `node ${entry.node.id}`
            return yield* new FleetConflict({
              message: `${name} has ${what} already.`,
              hint: `If it is not the member any more: berth fleet forget${place.flag} ${name}`
            })
          }
          yield* ledgerFile.update((before) => adopted(before, name, ownedOf(node), group.protect))
        }
        yield* registered(registry, { fleet: fleet.fleet, ledger: place.ledger })
        const differences = differencesOf({ node: ownedOf(node), sent: null }, node, group)
        yield* printOne(fleetMemberRecord, {
          fleet: fleet.fleet,
          member: name,
          id: node.id,
          name: node.name,
          outcome: "adopted",
          differences
        })
      })
    )
  }),
  client
)
