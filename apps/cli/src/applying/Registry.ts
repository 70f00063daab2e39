/**
 * The registry of the account's fleets on this machine: their owners, their ledgers, and the node of each member. It
 * also lists protected nodes, in case a ledger is missing or outdated. The registry is safe to lose, because the
 * ledgers hold the same facts. While a part of the registry cannot be read, berth deletes nothing, because only that
 * part may say which ledger protects a node.
 */
import { createHash } from "node:crypto"
import { idsOf } from "@berthkit/core/client/creation/IntentPlace"
import { Clock, Effect, Result, Schema } from "effect"
import type { Node } from "@berthkit/core/domain/Node"
import { FleetConflict, LocalFileFault } from "../failure/CliFailure.ts"
import { accountFolderOf } from "../settings/account.ts"
import { connection } from "../settings/client.ts"
import { mayHaveMade } from "../fleet/candidates.ts"
import { type Ledger, ownedIds } from "../fleet/Ledger.ts"
import { Output } from "../output/Output.ts"
import { recordsOf } from "../state/Kind.ts"
import { anyLedger, cannotList, drawnWord, type LedgerFile, type NoLedger, realLedger } from "./LedgerFile.ts"
import { type WithRecords, withRecords } from "./recordedNodes.ts"

/** A hash that identifies the account in a ledger without revealing the service or the key. */
const accountOf = (id: string): string => createHash("sha256").update(`fleet ${id}`).digest("hex").slice(0, 16)

/** The account's entry in the user's state folder; fails if there is no state folder. */
export const ownAccount = Effect.gen(function* () {
  const account = yield* connection
  const found = accountFolderOf(account)
  if (found === undefined) {
    return yield* new LocalFileFault({
      path: "",
      message: "There is no folder for the state of berth: HOME is not set.",
      hint: "Set HOME or XDG_STATE_HOME to a folder that can be written."
    })
  }
  const own = accountOf(found.id)
  const { intents } = account.files
  /** Whether a ledger belongs to this account, under its current or an earlier key or name. */
  const isOwn = (other: string): Effect.Effect<boolean> => {
    if (other === own || intents === undefined) return Effect.succeed(other === own)
    return Effect.orElseSucceed(
      Effect.map(idsOf(intents), (ids) => Array.from(ids, accountOf).includes(other)),
      () => false
    )
  }
  const { location, project } = account.options
  const place = project === undefined || location === undefined ? "no project" : `project ${project} in ${location}`
  return { account: own, isOwn, place }
})

/** At most this many fleets are kept; the least recently used are dropped. */
const maxFleets = 1000

/** A node that a fleet protects. */
const Protected = Schema.Struct({ id: Schema.Int, member: Schema.String, name: Schema.String })
interface Protected extends Schema.Schema.Type<typeof Protected> {}

const Listed = Schema.Struct({
  version: Schema.Literal(1),
  fleet: Schema.String,
  ledger: Schema.String,
  /** The nodes that this machine has seen as protected, without those that were released later. */
  protected: Schema.Array(Protected),
  usedMillis: Schema.Int
})
export interface Listed extends Schema.Schema.Type<typeof Listed> {}

const ofLedger = ({ ledger }: Pick<Listed, "ledger">) => createHash("sha256").update(ledger).digest("hex").slice(0, 32)

const fleets = recordsOf({
  kind: "fleet",
  schema: Listed,
  keyOf: ofLedger,
  cannot: cannotList,
  restore:
    "If a later version of berth wrote it, update berth. Otherwise restore it; or remove it, and run berth apply on each fleet that has protected nodes: that lists the fleet again."
})

/** The random name of this machine, or of all machines that share its state. */
const machines = recordsOf({
  kind: "machine",
  schema: Schema.Struct({ version: Schema.Literal(1), name: Schema.String }),
  keyOf: () => "name",
  cannot: cannotList
})

/** The name of this machine, drawn at first use. */
export const machineName = machines.change(
  "name",
  Effect.fnUntraced(function* (known) {
    if (known !== undefined) return known.name
    const name = yield* drawnWord
    yield* machines.put({ version: 1, name })
    return name
  })
)

/** The fleets in the registry that can be read, and the fault of the first that cannot. */
export const readableFleets = Effect.match(fleets.all, {
  onFailure: ({ hint, message, path }): ReadableFleets => ({
    values: [],
    fault: new LocalFileFault({
      path,
      message: message.includes(path) ? message : `${message} It is in ${path}.`,
      hint
    })
  }),
  onSuccess: ({ unreadable: [place], values }): ReadableFleets => ({
    values,
    fault: place === undefined ? undefined : fleets.damaged(place)
  })
})
interface ReadableFleets {
  readonly values: ReadonlyArray<Listed>
  readonly fault: LocalFileFault | undefined
}

/** A fleet and the real path of its ledger. */
export type FleetOf = Pick<Listed, "fleet" | "ledger">

/** The nodes that a ledger protects, including the old node of a member whose replacement is unfinished. */
const protectedOf = (members: Ledger["members"]): ReadonlyArray<Protected> =>
  Array.from(members.values()).flatMap(({ member, node, previous, protect }) =>
    protect === true
      ? [node, previous].flatMap((owned) => (owned === undefined ? [] : [{ id: owned.id, member, name: owned.name }]))
      : []
  )

/** Records a fleet and the nodes that its ledger protects. */
export const registered = ({ fleet, ledger }: FleetOf, { members }: Ledger) =>
  fleets
    .change(
      ofLedger({ ledger }),
      Effect.fnUntraced(function* (before) {
        const known = before?.protected ?? []
        const kept = [...known, ...protectedOf(members).filter(({ id }) => known.every((each) => each.id !== id))]
        const usedMillis = yield* Clock.currentTimeMillis
        yield* fleets.put({ version: 1, fleet, ledger, protected: kept, usedMillis })
      })
    )
    .pipe(Effect.andThen(fleets.trim(maxFleets, ({ usedMillis }) => usedMillis)))

/** Records that these nodes of a fleet are no longer protected. */
export const released = Effect.fnUntraced(function* (fleet: string, ids: ReadonlySet<number>) {
  const isReleased = ({ id }: Protected) => ids.has(id)
  // A record that cannot be read releases nothing.
  for (const listed of (yield* readableFleets).values) {
    if (listed.fleet !== fleet || !listed.protected.some(isReleased)) continue
    yield* fleets.change(ofLedger(listed), (now) =>
      now === undefined
        ? Effect.void
        : fleets.put({ ...now, protected: now.protected.filter((each) => !isReleased(each)) })
    )
  }
})

/** Removes a fleet from the registry. */
export const unlisted = (fleet: string) =>
  Effect.flatMap(readableFleets, ({ values }) =>
    Effect.forEach(values, (each) => (each.fleet === fleet ? fleets.remove(ofLedger(each)) : Effect.void), {
      discard: true
    })
  )

/**
 * The nodes in `after` that `before` protected and `after` does not. Leaves out a node that `before` did not protect,
 * because an outdated ledger must not end a protection that was added later.
 */
export const unprotectedSince = (before: Ledger, after: Ledger): ReadonlySet<number> => {
  const idsOf = (ledger: Ledger) => new Set(protectedOf(ledger.members).map(({ id }) => id))
  return idsOf(before).intersection(ownedIds(after)).difference(idsOf(after))
}

/**
 * Wraps a ledger file so that each newly protected node is also recorded in the registry. If that fails, nothing is lost, because the
 * ledger holds the protection.
 */
export const notingProtected = (file: LedgerFile, listed: FleetOf): LedgerFile => {
  const noted = new Set<number>()
  return {
    current: file.current,
    update: (change) =>
      Effect.tap(file.update(change), (ledger) => {
        const fresh = protectedOf(ledger.members).filter(({ id }) => !noted.has(id))
        for (const { id } of fresh) noted.add(id)
        return fresh.length === 0 ? Effect.void : Effect.ignore(registered(listed, ledger))
      })
  }
}

/** Whether a ledger can be used for this account, and if not, why. */
type LedgerState = "ok" | NoLedger | "unreadable" | "another account"

/** A registered fleet with its ledger, or why the ledger cannot be read. */
export interface KnownLedger extends Listed, Pick<WithRecords, "candidates"> {
  readonly state: LedgerState
  /**
   * The ledger, completed with the nodes that this machine recorded for creates whose outcome the ledger does not have yet. Null if the
   * ledger cannot be used.
   */
  readonly contents: Ledger | null
  readonly entries: Ledger["members"]
  /**
   * Like `entries`, but has the nodes even if the ledger was written under another API key. They can still be compared,
   * because two accounts never share a node's id.
   */
  readonly held: Ledger["members"]
}

/**
 * Reads the ledgers of the registered fleets, and completes each with this machine's records of its open creates. Also returns the fault
 * of the first fleet that cannot be read. Only commands that change nothing may continue without that fleet.
 */
export const readableLedgers = Effect.fnUntraced(function* ({ isOwn }: Effect.Success<typeof ownAccount>) {
  const { fault, values } = yield* readableFleets
  const ledgers = yield* Effect.forEach(
    values,
    Effect.fnUntraced(function* (noted): Effect.fn.Return<
      KnownLedger,
      never,
      Effect.Services<ReturnType<typeof withRecords>>
    > {
      const listed = { ...noted, ledger: yield* Effect.orElseSucceed(realLedger(noted.ledger), () => noted.ledger) }
      const none = (state: KnownLedger["state"], held: Ledger["members"] = new Map()): KnownLedger => ({
        ...listed,
        state,
        contents: null,
        entries: new Map(),
        held,
        candidates: new Map()
      })
      const read = yield* Effect.orElseSucceed(anyLedger(listed.ledger), () => Result.fail("unreadable" as const))
      if (Result.isFailure(read)) return none(read.failure)
      if (!(yield* isOwn(read.success.account))) return none("another account", read.success.members)
      const { candidates, ledger } = yield* withRecords(read.success)
      const { fleet, members } = ledger
      return { ...listed, fleet, state: "ok", contents: ledger, entries: members, held: members, candidates }
    })
  )
  return { ledgers, fault }
})

/** The ledgers of all registered fleets. Fails if a fleet cannot be read. `not` is the sentence that says that nothing was done. */
export const knownLedgers = Effect.fnUntraced(function* (own: Effect.Success<typeof ownAccount>, not: string) {
  const { fault, ledgers } = yield* readableLedgers(own)
  if (fault === undefined) return ledgers
  const { hint, message, path } = fault
  return yield* new LocalFileFault({ path, message: `${message} A fleet in it may have the node. ${not}`, hint })
})

/** The readable ledgers, for a command that changes nothing. Warns if a fleet cannot be read. */
export const ledgersToShow = Effect.fnUntraced(function* (own: Effect.Success<typeof ownAccount>) {
  const { fault, ledgers } = yield* readableLedgers(own)
  if (fault !== undefined) yield* (yield* Output).warn(`${fault.message} Its fleets are left out.`)
  return ledgers
})

/**
 * Whether another ledger belongs to the same fleet, for example in a second clone: only copies of a ledger share its
 * lineage. Two paths to one file count as the same ledger, because both sides are compared by their real paths.
 */
export const isSameFleet = ({ contents }: Pick<KnownLedger, "contents">, { fleet, lineage }: Ledger): boolean =>
  contents !== null && contents.fleet === fleet && contents.lineage === lineage

/** The fleet, the member and the sent tags of each node, by id. */
export const fleetOfNodes = (
  ledgers: ReadonlyArray<Pick<KnownLedger, "entries" | "fleet">>
): ReadonlyMap<number, { readonly fleet: string; readonly member: string; readonly tags: ReadonlyArray<string> }> =>
  new Map(
    ledgers.flatMap(({ entries, fleet }) =>
      Array.from(entries.values()).flatMap(({ member, node, previous, sent }) => {
        const tags = sent?.["tags"]
        const known = { fleet, member, tags: Array.isArray(tags) ? tags.map(String) : [] }
        return [node, previous].flatMap((owned) => (owned === undefined ? [] : [[owned.id, known] as const]))
      })
    )
  )

/**
 * For each node id, the fleet and the member whose ledger contains that node. A fleet neither adopts nor deletes a node of another fleet.
 */
export const holders = (ledgers: ReadonlyArray<Pick<KnownLedger, "fleet" | "held">>) =>
  fleetOfNodes(ledgers.map(({ fleet, held }) => ({ fleet, entries: held })))

/** The members whose open create may have made this node. */
export const claimsOn = (
  node: Doomed,
  ledgers: ReadonlyArray<Pick<KnownLedger, "candidates" | "entries" | "fleet" | "ledger">>
) =>
  ledgers.flatMap((known) =>
    Array.from(known.entries.values()).flatMap((entry) =>
      mayHaveMade(entry, node, known.candidates.get(entry.member)) ? [{ known, entry }] : []
    )
  )

/**
 * The states in which a ledger may hold nodes of this account but cannot be read. A missing ledger and a ledger of another account hold no
 * nodes of this account.
 */
const unusable: ReadonlyArray<LedgerState> = ["damaged", "doubled", "later", "unreadable"]

/** Whether a ledger may protect nodes that this machine has no record of. */
const mayProtectOthers = ({ state }: KnownLedger): boolean => unusable.includes(state)

/**
 * Fails if one of these ledgers cannot be used, because such a ledger may contain any node. `what` is the end of the
 * error's sentence.
 */
export const ensureUsable = (ledgers: ReadonlyArray<KnownLedger>, what: string): Effect.Effect<void, FleetConflict> => {
  const unknown = ledgers.find(mayProtectOthers)
  if (unknown === undefined) return Effect.void
  const { fleet, ledger, state } = unknown
  const message = `The ledger ${ledger} of the fleet ${fleet} ${stateText[state]}, and ${what}`
  return Effect.fail(new FleetConflict({ message, hint: ledgerHint(unknown) }))
}

/** The protection of a node. */
interface Protection extends Protected {
  readonly known: KnownLedger
  /** True if the ledger protects the node; false if only the registry says that it is protected. */
  readonly isInLedger: boolean
}

/**
 * The protection of a node by a ledger, or otherwise by the registry; undefined if the node has none. Ignores the
 * ledger `but`, and the registry's entries about the nodes of that ledger, because the calling run has read it itself.
 */
const protectionIn = (ledgers: ReadonlyArray<KnownLedger>, but?: string) => {
  const all = ledgers.flatMap((known): ReadonlyArray<Protection> => [
    ...protectedOf(known.entries).map((node) => ({ ...node, known, isInLedger: true })),
    ...known.protected.map((node) => ({ ...node, known, isInLedger: false }))
  ])
  const byNode = Map.groupBy(all, ({ id }) => id)
  return (id: number): Protection | undefined => {
    const found = byNode.get(id) ?? []
    const inLedgers = found.filter(({ isInLedger }) => isInLedger)
    const other = inLedgers.find(({ known }) => known.ledger !== but)
    return other ?? (inLedgers.length > 0 ? undefined : found[0])
  }
}

const stateText: Readonly<Record<LedgerState, string>> = {
  ok: "does not protect it",
  missing: "is not there",
  damaged: "is damaged",
  doubled: "has two lines for one member",
  later: "was written by a later version of berth",
  unreadable: "cannot be read",
  "another account": "belongs to an account with another API key"
}

/** The hint for a ledger that changed or disappeared since the registry saw it. */
const ledgerHint = ({ fleet, ledger, state }: KnownLedger): string =>
  state === "another account"
    ? `If the account has a new API key, run berth apply on the fleet ${fleet} (ledger ${ledger}) and follow its hint. If you no longer need the fleet: berth fleet forget ${fleet}`
    : state === "ok"
      ? `If the ledger is outdated, restore the current version, for example with git checkout. To remove the protection: write protect: true in the fleet file and apply, then remove it and apply again. If you no longer need the fleet: berth fleet forget ${fleet}`
      : `Restore the ledger, for example with git checkout, and run the same command again. If you no longer need the fleet: berth fleet forget ${fleet}`

const notedText = (start: "This" | "this", { ledger, state }: KnownLedger): string =>
  `${start} machine has a record of the protection, but the ledger ${ledger} ${stateText[state]}.`

/** A node that is to be deleted; its name is null if it was not read. */
export interface Doomed extends Pick<Node, "id"> {
  readonly name: string | null
}

/**
 * Fails if a registered fleet protects one of the nodes, or may protect one because its ledger cannot be used. Each
 * delete by a person, an agent, `berth api` or `berth reap` runs this check first. The check does not know the fleets
 * of other machines. `not` is the sentence that says that nothing was done.
 */
export const ensureUnprotected = Effect.fnUntraced(function* (
  nodes: ReadonlyArray<Doomed>,
  not = "Nothing was deleted."
) {
  if (nodes.length === 0) return
  // Without a state folder this machine knows no fleet.
  const own = yield* Effect.orElseSucceed(ownAccount, () => undefined)
  if (own === undefined) return
  const ledgers = yield* knownLedgers(own, not)
  const protectionOf = protectionIn(ledgers)
  const found = nodes.flatMap(({ id }) => protectionOf(id) ?? [])
  const [first] = found
  if (first !== undefined) {
    const what = found.map(
      ({ id, known, member, name }) => `node ${id} (${name}), which is ${member} of the fleet ${known.fleet}`
    )
    const { isInLedger, known } = first
    const why = isInLedger ? "" : ` ${notedText("This", known)}`
    return yield* new FleetConflict({
      message: `Protected: ${what.join("; ")}.${why} ${not}`,
      hint: isInLedger
        ? `Remove its protection in the fleet file and apply, or take the node out of the fleet (ledger ${known.ledger}): berth fleet forget ${first.member}`
        : ledgerHint(known)
    })
  }
  const owned = fleetOfNodes(ledgers)
  const [claim] = nodes
    .filter(({ id }) => !owned.has(id))
    .flatMap((node) => claimsOn(node, ledgers).map(({ entry, known }) => ({ entry, known, node })))
    .filter(({ entry }) => entry.protect === true)
  if (claim !== undefined) {
    const { entry, known, node } = claim
    return yield* new FleetConflict({
      message: `Protected: node ${node.id}${node.name === null ? "" : ` (${node.name})`} may be ${entry.member} of the fleet ${known.fleet}, whose create has no known outcome. ${not}`,
      hint: `Run berth apply on the fleet (ledger ${known.ledger}): it finds out.`
    })
  }
  yield* ensureUsable(ledgers, `it may protect ${nodes.length === 1 ? "the node" : "one of the nodes"}. ${not}`)
})

/**
 * Why the fleet must not delete certain nodes although neither its file nor its ledger protects them, by node id. If a
 * node is in the ledgers of two fleets, neither fleet deletes it. If the fleet has a second ledger that cannot be used,
 * that ledger may protect all of `members`.
 */
export const protectedBesides = (
  ledgers: ReadonlyArray<KnownLedger>,
  { fleet, ledger }: FleetOf,
  members: Ledger
): ReadonlyMap<number, string> => {
  const protectionOf = protectionIn(ledgers, ledger)
  const unknown = ledgers.find((each) => each.fleet === fleet && each.ledger !== ledger && mayProtectOthers(each))
  const others = holders(ledgers.filter((each) => each.fleet !== fleet && each.ledger !== ledger))
  return new Map(
    Array.from(ownedIds(members)).flatMap((id): ReadonlyArray<readonly [number, string]> => {
      const other = others.get(id)
      if (other !== undefined) {
        return [[id, `it is also ${other.member} of the fleet ${other.fleet}`]]
      }
      const found = protectionOf(id)
      if (found?.isInLedger === true)
        return [[id, `it is ${found.member} of the fleet ${found.known.fleet} in the ledger ${found.known.ledger}`]]
      if (found !== undefined) return [[id, `${notedText("this", found.known)} ${ledgerHint(found.known)}`]]
      if (unknown === undefined) return []
      return [
        [id, `the ledger ${unknown.ledger} ${stateText[unknown.state]}, and may protect it. ${ledgerHint(unknown)}`]
      ]
    })
  )
}

/** The nodes in the ledgers of this machine's other fleets. */
export const nodesElsewhere = (ledgers: ReadonlyArray<KnownLedger>, fleet: string): ReadonlySet<number> =>
  new Set(fleetOfNodes(ledgers.filter((each) => each.fleet !== fleet)).keys())

/**
 * Fails if the fleet has no ledger here but has one elsewhere on this machine. Then this is a second checkout, and its first run would
 * create every node again.
 */
export const ensureNotElsewhere = Effect.fnUntraced(function* (
  ledgers: ReadonlyArray<KnownLedger>,
  { fleet, ledger }: FleetOf,
  { members }: Ledger
) {
  if (members.size > 0) return
  const others = ledgers.filter((each) => each.fleet === fleet && each.ledger !== ledger)
  const hasNodes = ({ entries }: KnownLedger) => Array.from(entries.values()).some(({ state }) => state !== "none")
  const other = others.find((each) => unusable.includes(each.state) || hasNodes(each))
  if (other === undefined) return
  return yield* new FleetConflict({
    message: `Nothing was changed: the fleet ${fleet} already has the ledger ${other.ledger}, and the ledger ${ledger} has no members.`,
    hint: `Use the existing ledger here, for example with git commit there and git pull here, or rename this fleet. If you no longer need the other fleet: berth fleet forget ${fleet}`
  })
})

/**
 * The fleet, member and tags of each node. Warns about a ledger that cannot be used, because its nodes look as if they were in no fleet.
 */
export const ownMemberships = Effect.gen(function* () {
  const ledgers = yield* ledgersToShow(yield* ownAccount)
  const { warn } = yield* Output
  for (const { fleet, ledger, state } of ledgers) {
    if (unusable.includes(state)) {
      yield* warn(
        `The ledger ${ledger} cannot be used: nodes of the fleet ${fleet} are shown as belonging to no fleet.`
      )
    }
  }
  return fleetOfNodes(ledgers)
})
