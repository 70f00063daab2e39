/**
 * `berth fleet forget`: removes a member from the ledger, or a fleet from the registry. No node is changed.
 */
import { candidatesOf, recordedCreate } from "@berthkit/core/client/creation/IntentStore"
import { withFiles } from "@berthkit/core/client/files/StateFiles"
import { instantNow } from "@berthkit/core/client/instantNow"
import type { Node } from "@berthkit/core/domain/Node"
import { quoted } from "@berthkit/terminal/quoted"
import { Clock, Effect, Result } from "effect"
import { fileFlag, placeOf, readFleetFile } from "../../applying/FleetPlace.ts"
import {
  ledgersToShow,
  nodesElsewhere,
  ownAccount,
  readableFleets,
  released,
  unlisted
} from "../../applying/Registry.ts"
import { anyLedger, type LedgerFile, realLedger, withLedger } from "../../applying/LedgerFile.ts"
import { observe, proved } from "../../applying/observe.ts"
import { endOfCreate, settledMember } from "../../applying/pending.ts"
import { givenFor, seeCommitment } from "../../applying/sent.ts"
import { argument, switchFlag, text } from "../../commandLine/Parameter.ts"
import { commitmentLog } from "../../commitmentLog/CommitmentLog.ts"
import { FleetConflict, ListNotWhole, UsageFault } from "../../failure/CliFailure.ts"
import { ended, type Entry, keyOf, ownedIds } from "../../fleet/Ledger.ts"
import { mayHaveBought, parseCommitment } from "../../fleet/FleetCommitment.ts"
import { parseMember } from "../../fleet/Member.ts"
import { openText } from "../../fleet/plan.ts"
import { wholeList } from "../../nodes/allNodes.ts"
import { bySpelling } from "../../fleet/bySpelling.ts"
import { printNote } from "../../output/Output.ts"
import { printOne } from "../../output/print.ts"
import { fleetMemberRecord } from "../../records/fleet.ts"
import { client, creatingClient } from "../../settings/client.ts"
import { command } from "../command.ts"

/**
 * Fails while a member's unanswered create may have made a node. If berth forgot the member, nobody would notice that the node is billed.
 * `args` are the command-line arguments with which the user forgets the member. If the list may lack nodes, a person has to say
 * that nothing was made (`isNotMade`).
 */
const ensureNothingMade = Effect.fnUntraced(function* (
  ledgerFile: LedgerFile,
  entry: Entry,
  flag: string,
  args: string,
  isNotMade: boolean
) {
  const { member, pending } = entry
  const settled = yield* settledMember(ledgerFile, member)
  const { node, state } = settled.members.get(member) ?? { node: undefined, state: "none" }
  if (state === "creating") {
    const recorded = yield* Effect.provide(recordedCreate(keyOf(settled, entry)), creatingClient(undefined))
    // A person has adopted the node of this create as another member.
    if (recorded?.nodeId != null && ownedIds(settled).has(recorded.nodeId)) return
    const candidates = candidatesOf(recorded)
    const { isOver, wait } = endOfCreate(pending!, recorded, yield* instantNow)
    if (!isOver) {
      return yield* new FleetConflict({
        message: `It is not known yet whether ${pending!.name} (${member}) was created: it was not forgotten.`,
        hint: `Run the same command again in ${wait}.`
      })
    }
    // No later run could find out more, so the member is forgotten. The note names the nodes to look at.
    if (candidates.length > 0) {
      return yield* printNote(
        `It stays unknown whether ${pending!.name} (${member}) was created. If one of these nodes is its own, it is billed: ${candidates.join(", ")}.`
      )
    }
  }
  if (node !== undefined && state === "made") {
    yield* ledgerFile.update(() => settled)
    return yield* new FleetConflict({
      message: `The create of ${member} has made node ${node.id} (${node.name}): the ledger has it now, and it was not forgotten.`,
      hint: `To delete it: berth node delete ${node.id}. To forget it anyway: berth fleet forget ${args}`
    })
  }
  // This machine cannot know the outcome of a create that another machine sent. Nor can it know, if the service states no
  // time, the outcome of a create that it sent itself before its last boot. Only the list shows the node.
  const owned = ownedIds(settled).union(nodesElsewhere(yield* ledgersToShow(yield* ownAccount), settled.fleet))
  const { isWhole, nodes } = yield* wholeList
  const [found] = bySpelling(nodes)(pending!.name).filter(({ id, status }) => !owned.has(id) && status !== "terminate")
  if (found === undefined) {
    if (isWhole || isNotMade) return
    return yield* new ListNotWhole({
      all: true,
      next: `Look for ${pending!.name} in the account portal. If it is there: berth fleet adopt${flag} ID --as ${member}. If it is not: berth fleet forget ${args} --not-made`
    })
  }
  const { id, name } = found
  return yield* new FleetConflict({
    message: `${name} exists (id ${id}), and the create of ${member} may have made it: it was not forgotten.`,
    hint: `If node ${id} is ${member}: berth fleet adopt${flag} ${id} --as ${member}. If it is not, run that and then: berth fleet forget${flag} ${member}`
  })
})

/** The purchases with an unknown outcome for the nodes of a ledger line. Some are only in this machine's log, and not in the ledger. */
const openPurchases = Effect.fnUntraced(function* ({ commitment, committing, node, previous }: Entry) {
  const held = [
    ...(node === undefined ? [] : [{ node, commitment, committing }]),
    ...(previous === undefined ? [] : [{ ...previous, node: previous }])
  ]
  const found = yield* Effect.forEach(held, ({ commitment, committing, node }) =>
    Effect.map(commitmentLog.openOf(node.id), (open) => {
      const noted = openText(open)
      const text = noted === undefined || noted === commitment ? committing : noted
      return text !== undefined && mayHaveBought(text) ? [{ node, text, isNoted: noted !== undefined }] : []
    })
  )
  return found.flat()
})

/**
 * Fails while the outcome of a purchase for a node of the member is unknown, because no ledger would record that
 * outcome afterwards. A node that is proved to be gone does not count, because nobody can look it up any more. Its
 * purchase stays in this machine's log, under the node's id.
 */
const ensureNothingOpen = Effect.fnUntraced(function* (ledgerFile: LedgerFile, entry: Entry, flag: string) {
  const { member } = entry
  const purchases = yield* openPurchases(entry)
  if (purchases.length === 0) return
  const ledger = yield* ledgerFile.current
  const observed = yield* observe({ ...ledger, members: new Map([[member, entry]]) }, new Set())
  const { gone } = (yield* proved(observed, ledger, undefined)).world
  for (const { isNoted, node, text } of purchases) {
    const { id, name } = node
    const unknown = `It is not known whether the commitment ${text} of ${name} (${id}) was set`
    if (!gone.has(id as Node["id"])) {
      return yield* new FleetConflict({
        message: `${unknown}: ${member} was not forgotten.`,
        hint: seeCommitment(id, `${member}${flag}`, givenFor(text))
      })
    }
    const { days = null, setting = "auto_renew" } = parseCommitment(text) ?? {}
    if (!isNoted) {
      const sentMillis = yield* Clock.currentTimeMillis
      const purchase = { id, sentMillis, setting, skuId: null, ...(days !== null && { days }) }
      yield* commitmentLog.begin(purchase, true)
    }
    yield* printNote(`${unknown}. The node cannot be found.`)
  }
})

/** The nodes of a ledger line: those whose deletion was requested, and the others. */
const nodesOf = ({ node, previous, previousAsked, state }: Entry) => {
  const owned = [
    ...(node === undefined ? [] : [{ id: node.id, isAsked: state === "deleting" }]),
    ...(previous === undefined ? [] : [{ id: previous.id, isAsked: previousAsked === true }])
  ]
  const idsWhere = (isAsked: boolean) => owned.flatMap((each) => (each.isAsked === isAsked ? [each.id] : []))
  return { asked: idsWhere(true), ids: idsWhere(false) }
}

const forgetMember = Effect.fnUntraced(function* (name: string, file: string | undefined, isNotMade: boolean) {
  const place = yield* placeOf(file)
  const fleet = yield* readFleetFile(place)
  const account = yield* ownAccount
  yield* withLedger(place.ledger, { ...account, fleet: fleet.fleet }, (ledgerFile) =>
    Effect.gen(function* () {
      const entry = (yield* ledgerFile.current).members.get(name)
      if (entry === undefined || entry.state === "none") {
        return yield* new UsageFault({
          message: `The ledger ${place.ledger} has no member ${name}.`,
          hint: `See its members: berth diff${place.flag}`
        })
      }
      if (entry.state === "creating") {
        yield* ensureNothingMade(ledgerFile, entry, place.flag, `${name}${place.flag}`, isNotMade)
      }
      yield* ensureNothingOpen(ledgerFile, entry, place.flag)
      yield* ledgerFile.update((before) => ended(before, name))
      const { asked, ids } = nodesOf(entry)
      yield* released(fleet.fleet, new Set([...ids, ...asked]))
      for (const id of asked) {
        yield* printNote(
          `An earlier run requested the deletion of node ${id}. To check that it is gone: berth node get ${id}`
        )
      }
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

/** The flag that names the fleet file of a ledger, for hints. */
const flagOf = Effect.fnUntraced(function* (ledger: string) {
  if ((yield* placeOf()).ledger === ledger) return ""
  const files = [".yaml", ".yml", ".json"].map((end) => ledger.replace(/\.ledger\.json$/, end))
  const found = yield* Effect.filter(files, (file) =>
    Effect.orElseSucceed(
      Effect.as(
        withFiles((fs) => fs.stat(file)),
        true
      ),
      () => false
    )
  )
  return ` -f ${quoted(found[0] ?? files[0] ?? ledger)}`
})

/** Fails while a member of the fleet has an unanswered create that may have made a node. */
const ensureNoneMade = Effect.fnUntraced(function* (fleet: string, isNotMade: boolean) {
  const account = yield* ownAccount
  for (const listed of (yield* readableFleets).values) {
    if (listed.fleet !== fleet) continue
    // A fleet may be forgotten because its ledger is lost, damaged, or of another account. Such a ledger names no create to look for.
    const read = yield* Effect.orElseSucceed(anyLedger(listed.ledger), () => Result.fail("unreadable" as const))
    if (Result.isFailure(read) || !(yield* account.isOwn(read.success.account))) continue
    const isOpen = ({ state }: Entry) => state === "creating"
    const open = Array.from(read.success.members.values()).filter(isOpen)
    const [first] = open
    if (first === undefined) continue
    const flag = yield* flagOf(yield* realLedger(listed.ledger))
    if (isNotMade && open.length > 1) {
      return yield* new UsageFault({
        message: `berth fleet forget --not-made is about one create, and the fleet ${fleet} has ${open.length} open creates: ${open.map(({ member }) => member).join(", ")}.`,
        hint: `Look for each in the account portal, and forget each by itself: berth fleet forget${flag} ${first.member} --not-made`
      })
    }
    yield* withLedger(listed.ledger, { ...account, fleet }, (ledgerFile) =>
      Effect.gen(function* () {
        for (const entry of (yield* ledgerFile.current).members.values()) {
          if (isOpen(entry)) yield* ensureNothingMade(ledgerFile, entry, flag, fleet, isNotMade)
        }
      })
    )
  }
})

const forgetFleet = Effect.fnUntraced(function* (name: string, isNotMade: boolean) {
  yield* ensureNoneMade(name, isNotMade)
  yield* unlisted(name)
  yield* printNote(`The fleet ${name} is no longer listed; its nodes and its ledger are unchanged.`)
  yield* printOne(fleetMemberRecord, { fleet: name, member: "", id: null, name, outcome: "forgotten", differences: [] })
})

/**
 * Whether the default ledger has a member of this name. The answer is `unknown` if the ledger exists but cannot be read, because it may
 * have the member.
 */
const isMemberToo = Effect.fnUntraced(function* (name: string) {
  const { ledger } = yield* placeOf()
  if (parseMember(name) === undefined) return { ledger, is: "no" as const }
  const read = yield* Effect.orElseSucceed(anyLedger(ledger), () => Result.fail("unreadable" as const))
  if (Result.isFailure(read)) return { ledger, is: read.failure === "missing" ? ("no" as const) : ("unknown" as const) }
  const state = read.success.members.get(name)?.state ?? "none"
  return { ledger, is: state === "none" ? ("no" as const) : ("yes" as const) }
})

export const forget = command(
  {
    name: argument(
      "NAME",
      text("", (given) => given !== "", "expected a fleet, or a member such as web-2"),
      "A fleet, or a member such as web-2"
    ),
    file: fileFlag,
    fleet: switchFlag("fleet", "NAME is a fleet, not a member"),
    notMade: switchFlag(
      "not-made",
      "You checked the account portal: it shows no node from the create with the unknown outcome"
    )
  },
  Effect.fnUntraced(function* ({ file, fleet: mustBeFleet, name, notMade }) {
    if (mustBeFleet && file !== undefined) {
      return yield* new UsageFault({
        message: "berth fleet forget takes --fleet or --file, not both: a fleet file has members.",
        hint: "Leave one of them out."
      })
    }
    const { fault, values } = yield* readableFleets
    const isFleet = values.some(({ fleet }) => fleet === name)
    if (isFleet && mustBeFleet) return yield* forgetFleet(name, notMade)
    if (isFleet && file === undefined) {
      const { is, ledger } = yield* isMemberToo(name)
      if (is === "no") return yield* forgetFleet(name, notMade)
      return yield* new UsageFault({
        message: `${name} is a fleet, and ${is === "yes" ? "it is also" : "it may also be"} a member in the ledger ${ledger}.`,
        hint: `Forget the member: berth fleet forget ${name} -f fleet.yaml. Forget the fleet: berth fleet forget ${name} --fleet`
      })
    }
    // NAME may be a fleet that cannot be read.
    if (!isFleet && file === undefined && fault !== undefined) return yield* fault
    if (mustBeFleet || parseMember(name) === undefined) {
      return yield* new UsageFault({
        message: `Berth knows no fleet ${name}.`,
        hint: "List them: berth fleet list"
      })
    }
    return yield* forgetMember(name, file, notMade)
  }),
  client
)
