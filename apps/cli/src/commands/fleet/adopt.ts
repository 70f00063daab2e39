/**
 * `berth fleet adopt`: adds an existing node to a fleet. Only the ledger changes.
 */
import { candidatesOf, recordedCreate } from "@berthkit/core/client/creation/IntentStore"
import { instantNow } from "@berthkit/core/client/instantNow"
import type { Node, NodeId } from "@berthkit/core/domain/Node"
import { Clock, DateTime, Effect } from "effect"
import { fileFlag, placeOf, readFleetFile } from "../../applying/FleetPlace.ts"
import {
  claimsOn,
  ensureUsable,
  holders,
  isSameFleet,
  type KnownLedger,
  knownLedgers,
  ownAccount,
  registered
} from "../../applying/Registry.ts"
import { withLedger } from "../../applying/LedgerFile.ts"
import { endOfCreate, settledCreates } from "../../applying/pending.ts"
import { withRecords } from "../../applying/recordedNodes.ts"
import { givenFor, seeCommitment } from "../../applying/sent.ts"
import { boughtByNode, commitmentLog, committedUntil, set } from "../../commitmentLog/CommitmentLog.ts"
import { flag, text } from "../../commandLine/Parameter.ts"
import { FleetConflict, UsageFault } from "../../failure/CliFailure.ts"
import { underAskedPlan } from "../../nodes/askedPlan.ts"
import { candidatesText, mayHaveMade } from "../../fleet/candidates.ts"
import { differencesOf } from "../../fleet/differences.ts"
import { commitmentText, commitmentToSet } from "../../fleet/FleetCommitment.ts"
import {
  adopted,
  committed,
  committing,
  encodeLedger,
  entriesOf,
  type Entry,
  keyOf,
  type Ledger,
  nodeCommitted,
  ownedOf
} from "../../fleet/Ledger.ts"
import { memberText, parseMember } from "../../fleet/Member.ts"
import { openText } from "../../fleet/plan.ts"
import { resolveNode } from "../../nodes/resolve.ts"
import { oneNode } from "../../nodes/Target.ts"
import { printNote } from "../../output/Output.ts"
import { printOne } from "../../output/print.ts"
import { fleetMemberRecord } from "../../records/fleet.ts"
import { leases } from "../../leases/leases.ts"
import { leasingClient } from "../../settings/leasingClient.ts"
import { command } from "../command.ts"

/** Records what a person found out about an unanswered purchase, so that no command sends it again. */
const settleOpen = Effect.fnUntraced(function* (id: number, shown: ReturnType<typeof commitmentToSet>) {
  const open = yield* commitmentLog.openOf(id)
  if (open !== undefined && open.setting === shown?.setting) {
    const { skuId } = open
    yield* commitmentLog.update(id, (before, now) =>
      set(before, id, shown.setting, { skuId, days: shown.days, priceInr: null }, now)
    )
  }
  yield* commitmentLog.end(id)
})

/**
 * Another fleet may have open creates that made this node. Looks for the outcomes of these creates, and returns that fleet's ledger with
 * the outcomes. Writes nothing.
 */
const settledFor = Effect.fnUntraced(function* (node: Pick<Node, "id" | "name">, known: KnownLedger) {
  if (known.contents === null) return known
  const contents = yield* settledCreates(known.contents, (entry) =>
    mayHaveMade(entry, node, known.candidates.get(entry.member))
  )
  return { ...known, contents, entries: contents.members, held: contents.members }
})

/** The committed period that was bought together with a node, if this machine knows it. */
const periodOf = Effect.fnUntraced(function* (id: number) {
  const entry = (yield* commitmentLog.load).get(id)
  const until = committedUntil(entry, yield* Clock.currentTimeMillis)
  const days = entry?.days ?? null
  if (until === null || days === null) return undefined
  return { days, until: DateTime.formatIso(DateTime.makeUnsafe(until)) }
})

/**
 * Fails if the member's line already has a node or an open create that the adopted node may not replace. The adopted
 * node may replace a node that is being deleted. It may also replace an open create that may have made it, or about
 * which no later run can find out more: the user thereby says that the create made the node, and berth does not send
 * the create again.
 */
const ensureRoom = Effect.fnUntraced(function* (ledger: Ledger, entry: Entry, id: NodeId, flag: string) {
  const { member, node, pending, previous, state } = entry
  if (state === "none" || (state === "deleting" && previous === undefined)) return
  if (node !== undefined || pending === undefined) {
    return yield* new FleetConflict({
      message: `Member ${member} already has node ${node?.id}.`,
      hint: `If node ${node?.id} is no longer the member: berth fleet forget${flag} ${member}`
    })
  }
  const recorded = yield* recordedCreate(keyOf(ledger, entry))
  const candidates = candidatesOf(recorded)
  if (candidates.includes(id)) return
  const { isOver, wait } = endOfCreate(pending, recorded, yield* instantNow)
  if (isOver && candidates.length === 0) return
  return yield* new FleetConflict({
    message: `Member ${member} already has a create request whose outcome is unknown${candidatesText(candidates)}.`,
    hint: isOver
      ? `If none of these nodes is ${member}, first: berth fleet forget${flag} ${member}`
      : `Run the same command again in ${wait}. The service may carry out the create until then.`
  })
})

export const adopt = command(
  {
    node: oneNode,
    as: flag(
      "as",
      text("MEMBER", (given) => parseMember(given) !== undefined, "expected a group and a number, such as web-2"),
      "The member that the node becomes, such as web-2"
    ),
    commitment: flag(
      "commitment",
      text(
        "SETTING",
        (given) => given === "none" || commitmentToSet(given) !== undefined,
        'expected none, or a commitment as in the file, such as "auto_renew 30d", or auto_terminate without days'
      ),
      'The commitment that the portal shows, such as "auto_renew 30d", or none'
    ),
    file: fileFlag
  },
  Effect.fnUntraced(function* ({ as, commitment, file, node: given }) {
    const member = as && parseMember(as)
    if (!member) {
      return yield* new UsageFault({
        message: "berth fleet adopt needs --as.",
        hint: "Such as: berth fleet adopt 5 --as web-2"
      })
    }
    const place = yield* placeOf(file)
    const fleet = yield* readFleetFile(place)
    const group = fleet.groups.find((each) => each.group === member.group)
    const noGroup = new UsageFault({
      message: `${place.file} has no group ${member.group}.`,
      hint: `Its groups are ${fleet.groups.map(({ group }) => group).join(", ")}.`
    })
    // --commitment may also name a member that is no longer in the file.
    if (group === undefined && commitment === undefined) return yield* noGroup
    const name = memberText(member)
    const account = yield* ownAccount
    const owner = { ...account, fleet: fleet.fleet }
    const node = yield* resolveNode(given, { change: true })
    // Also check leases that were made with other API keys of the account, because a `berth run` with such a key also
    // deletes its node when it ends.
    const leased = [...(yield* leases.all).values, ...(yield* leases.elsewhere)]
    if (leased.some((lease) => lease.node?.id === node.id)) {
      return yield* new FleetConflict({
        message: `Node ${node.name} (${node.id}) is leased to a berth run, which deletes it at its end.`,
        hint: "Choose another node: berth node list"
      })
    }
    if (node.status === "terminate") {
      return yield* new FleetConflict({
        message: `Node ${node.name} (${node.id}) is being deleted.`,
        hint: "Choose another node: berth node list"
      })
    }
    yield* withLedger(place.ledger, owner, (ledgerFile) =>
      Effect.gen(function* () {
        const { candidates } = yield* withRecords(yield* ledgerFile.current)
        const ledger = yield* settledCreates(
          yield* ledgerFile.current,
          (entry) => entry.member === name || mayHaveMade(entry, node, candidates.get(entry.member))
        )
        yield* ledgerFile.update((before) => (encodeLedger(before) === encodeLedger(ledger) ? before : ledger))
        const holder = entriesOf(ledger).find((entry) => entry.node?.id === node.id || entry.previous?.id === node.id)
        if (holder !== undefined && holder.member !== name) {
          return yield* new FleetConflict({
            message: `Node ${node.name} (${node.id}) is ${holder.member} already.`,
            hint: `To give it another place, first: berth fleet forget${place.flag} ${holder.member}`
          })
        }
        const known = (yield* knownLedgers(account, "Nothing was changed.")).filter(
          (each) => each.ledger !== place.ledger
        )
        const others = yield* Effect.forEach(known, (each) => settledFor(node, each))
        const open = openText(yield* commitmentLog.openOf(node.id))
        // A copy of this ledger, such as in another clone, has the node as the same member.
        const copies = holders(others.filter((each) => isSameFleet(each, ledger))).get(node.id)
        const isOwn = holder !== undefined && (copies === undefined || copies.member === name)
        const elsewhere = holders(isOwn ? others.filter((each) => !isSameFleet(each, ledger)) : others).get(node.id)
        if (elsewhere !== undefined) {
          return yield* new FleetConflict({
            message: `Node ${node.name} (${node.id}) is ${elsewhere.member} of the fleet ${elsewhere.fleet}.`,
            hint: `To move it, first forget it there: berth fleet forget ${elsewhere.member} -f FILE`
          })
        }
        if (holder === undefined) {
          const foreign = others.filter((each) => each.fleet !== fleet.fleet)
          yield* ensureUsable(foreign, "it may have the node. Nothing was changed.")
        }
        const own = { fleet: fleet.fleet, ledger: place.ledger, entries: ledger.members, candidates }
        const claims = holder === undefined ? claimsOn(node, [own, ...others]) : []
        const claim = claims.find(({ entry, known }) => known !== own || entry.member !== name)
        if (claim !== undefined) {
          const { entry, known } = claim
          const [where, flag] = known === own ? ["", place.flag] : [` of the fleet ${known.fleet}`, " -f FILE"]
          return yield* new FleetConflict({
            message: `Node ${node.name} (${node.id}) may be ${entry.member}${where}: it is not known yet what the create of ${entry.member} has made.`,
            hint: `Run berth apply on the fleet (ledger ${known.ledger}): it finds out. If it cannot, run it again in eleven minutes, or: berth fleet forget${flag} ${entry.member}`
          })
        }
        if (group === undefined && holder === undefined) return yield* noGroup
        const shown = group === undefined ? node : yield* underAskedPlan(node, group.order.plan)
        const entry = ledger.members.get(name)
        const wanted = group?.nameOf(member.n) ?? node.name
        if (holder === undefined) {
          if (entry !== undefined) yield* ensureRoom(ledger, entry, node.id, place.flag)
          const bought = (yield* boughtByNode).get(node.id)
          const period = bought?.setting === null ? yield* periodOf(node.id) : undefined
          const owned = { ...ownedOf(shown), ...(period && { period }) }
          yield* ledgerFile.update((before) => adopted(before, name, owned, group?.protect === true, wanted))
          if (bought !== undefined && bought.setting !== null && bought.days !== null) {
            const text = commitmentText({ setting: bought.setting, days: bought.days })
            yield* ledgerFile.update((before) => committed(before, name, text))
          }
        }
        if (commitment !== undefined) {
          const shownNow = commitment === "none" ? null : commitment
          yield* ledgerFile.update((before) => nodeCommitted(before, name, node.id, shownNow))
          // The user has looked in the portal, so the outcome of an earlier request is known now.
          yield* settleOpen(node.id, commitmentToSet(commitment))
        } else if (open !== undefined && (yield* ledgerFile.current).members.get(name)?.node?.id === node.id) {
          // Record this in the ledger, so that no other machine sends the purchase again.
          yield* ledgerFile.update((before) => committing(before, name, open))
          yield* printNote(
            `It is not known whether the commitment ${open} of ${node.name} (${node.id}) was set. ${seeCommitment(node.id, `${name}${place.flag}`, givenFor(open))}.`
          )
        }
        yield* registered({ fleet: fleet.fleet, ledger: place.ledger }, yield* ledgerFile.current)
        const differences =
          group === undefined
            ? []
            : differencesOf({ node: ownedOf(shown), sent: null, named: wanted }, shown, group, wanted)
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
  leasingClient(false)
)
