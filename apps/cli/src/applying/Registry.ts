/**
 * The fleets of an account on this machine: whose they are, as ledgers have it, which ledgers there are, and which node is which member. A
 * record for each ledger also keeps which nodes are protected, as a second witness for when the ledger is missing or an older one. Safe to
 * lose: the ledgers themselves say both.
 */
import { createHash } from "node:crypto"
import { idsOf } from "@berthkit/core/client/creation/IntentPlace"
import { Clock, Effect, Result, Schema } from "effect"
import type { NodeId } from "@berthkit/core/domain/Node"
import { FleetConflict, LocalFileFault } from "../failure/CliFailure.ts"
import { accountFolderOf } from "../settings/account.ts"
import { connection } from "../settings/client.ts"
import { type Ledger, ownedIds } from "../fleet/Ledger.ts"
import { Output } from "../output/Output.ts"
import { recordsOf } from "../state/Kind.ts"
import { anyLedger, cannotList, drawnWord, type LedgerFile, type NoLedger } from "./LedgerFile.ts"

/** A text that names the account in a ledger, from which neither the service nor the key can be read. */
const accountOf = (id: string): string => createHash("sha256").update(`fleet ${id}`).digest("hex").slice(0, 16)

/** What the user's state folder has of the account; fails where there is no such folder. */
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
  /** Whether a ledger is of this account: also by a key or a name that it had before. */
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

/** Of more fleets those that were used last are kept. */
const maxFleets = 1000

/** A node that a fleet protects. */
const Protected = Schema.Struct({ id: Schema.Int, member: Schema.String, name: Schema.String })
interface Protected extends Schema.Schema.Type<typeof Protected> {}

const Listed = Schema.Struct({
  version: Schema.Literal(1),
  fleet: Schema.String,
  ledger: Schema.String,
  /** The nodes that this machine has seen protected, and not released since. */
  protected: Schema.Array(Protected),
  usedMillis: Schema.Int
})
export interface Listed extends Schema.Schema.Type<typeof Listed> {}

const ofLedger = ({ ledger }: Pick<Listed, "ledger">) => createHash("sha256").update(ledger).digest("hex").slice(0, 32)

const fleets = recordsOf({ kind: "fleet", schema: Listed, keyOf: ofLedger, cannot: cannotList })

/** The name that berth drew for this machine, or for all that share its state. */
const machines = recordsOf({
  kind: "machine",
  schema: Schema.Struct({ version: Schema.Literal(1), name: Schema.String }),
  keyOf: () => "name",
  cannot: cannotList
})

/** The name of this machine, which is drawn where it has none. */
export const machineName = machines.change(
  "name",
  Effect.fnUntraced(function* (known) {
    if (known !== undefined) return known.name
    const name = yield* drawnWord
    yield* machines.put({ version: 1, name })
    return name
  })
)

/** The fleets that are known. */
export const knownFleets = Effect.map(
  Effect.orElseSucceed(fleets.all, () => ({ values: [] })),
  ({ values }): ReadonlyArray<Listed> => values
)

/** A fleet, and the ledger that it is in. */
export type FleetOf = Pick<Listed, "fleet" | "ledger">

/** The nodes that a ledger protects: of a member whose replacement is not finished the old one, too. */
const protectedOf = (members: Ledger["members"]): ReadonlyArray<Protected> =>
  Array.from(members.values()).flatMap(({ member, node, previous, protect }) =>
    protect === true
      ? [node, previous].flatMap((owned) => (owned === undefined ? [] : [{ id: owned.id, member, name: owned.name }]))
      : []
  )

/** Notes a fleet and the nodes that its ledger protects. */
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

/** Notes that these nodes of a fleet are not protected any more. */
export const released = Effect.fnUntraced(function* (fleet: string, ids: ReadonlySet<number>) {
  const isReleased = ({ id }: Protected) => ids.has(id)
  for (const listed of yield* knownFleets) {
    if (listed.fleet !== fleet || !listed.protected.some(isReleased)) continue
    yield* fleets.change(ofLedger(listed), (now) =>
      now === undefined
        ? Effect.void
        : fleets.put({ ...now, protected: now.protected.filter((each) => !isReleased(each)) })
    )
  }
})

/** Forgets a fleet. */
export const unlisted = (fleet: string) =>
  Effect.flatMap(
    knownFleets,
    Effect.forEach((each) => (each.fleet === fleet ? fleets.remove(ofLedger(each)) : Effect.void), { discard: true })
  )

/**
 * The nodes that a ledger protected and does not protect any more. One that it did not protect is not among them: an older ledger does not
 * protect what was protected later.
 */
export const unprotectedSince = (before: Ledger, after: Ledger): ReadonlySet<number> => {
  const idsOf = (ledger: Ledger) => new Set(protectedOf(ledger.members).map(({ id }) => id))
  return idsOf(before).intersection(ownedIds(after)).difference(idsOf(after))
}

/** The same file of a ledger; each node that becomes a protected one is noted. Should that fail, the ledger still has it. */
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

/** Whether a ledger of this account can be used. */
type LedgerState = "ok" | NoLedger | "unreadable" | "another account"

/** A known fleet with its ledger, or why that cannot be read. */
export interface KnownLedger extends Listed {
  readonly state: LedgerState
  readonly entries: Ledger["members"]
}

/** The ledgers of the fleets that are known. */
export const knownLedgers = Effect.fnUntraced(function* ({ isOwn }: Effect.Success<typeof ownAccount>) {
  return yield* Effect.forEach(
    yield* knownFleets,
    Effect.fnUntraced(function* (listed): Effect.fn.Return<KnownLedger> {
      const none = (state: KnownLedger["state"]): KnownLedger => ({ ...listed, state, entries: new Map() })
      const read = yield* Effect.orElseSucceed(anyLedger(listed.ledger), () => Result.fail("unreadable" as const))
      if (Result.isFailure(read)) return none(read.failure)
      const { success: ledger } = read
      return (yield* isOwn(ledger.account))
        ? { ...listed, fleet: ledger.fleet, state: "ok", entries: ledger.members }
        : none("another account")
    })
  )
})

/** Which fleet and member a node is, and the tags that berth sent, by id. */
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

/** In which states nobody knows what a ledger has. One that is not there, or is of another account, has no nodes of this one. */
const unusable: ReadonlyArray<LedgerState> = ["damaged", "doubled", "later", "unreadable"]

/** Whether a ledger may protect nodes that this machine does not know of. */
const mayProtectOthers = ({ state }: KnownLedger): boolean => unusable.includes(state)

/** That a node is protected, and by what. */
interface Protection extends Protected {
  readonly known: KnownLedger
  /** Whether the ledger itself says so; otherwise this machine has noted it. */
  readonly isInLedger: boolean
}

/**
 * What protects a node: a ledger, or else what this machine has noted; undefined if nothing does. Without the ledger `but`, and without
 * what is noted of a node that it protects, for a run that sees itself what is in that ledger.
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
  doubled: "has a member twice",
  later: "was written by a later version of berth",
  unreadable: "cannot be read",
  "another account": "is of an account with another API key"
}

/** How to go on where a ledger is not as this machine knew it. */
const ledgerHint = ({ fleet, ledger, state }: KnownLedger): string =>
  state === "another account"
    ? `If the account has a new API key, run berth apply on that fleet, whose ledger is ${ledger}, and do what it says. If the fleet is given up: berth fleet forget ${fleet}`
    : state === "ok"
      ? `If the ledger is an older one, put the current one back, such as with git checkout. To take the protection away: write protect: true in the fleet file and apply, then remove it and apply again. If the fleet is given up: berth fleet forget ${fleet}`
      : `Put the ledger right, such as with git checkout, and run the same command again. If the fleet is given up: berth fleet forget ${fleet}`

const notedText = (start: "This" | "this", { ledger, state }: KnownLedger): string =>
  `${start} machine has noted that; the ledger ${ledger} ${stateText[state]}.`

/**
 * Fails if one of the nodes is a protected member of a fleet that this machine knows, so that a delete by hand or by an agent holds to the
 * protection, too; or if a known ledger cannot be used and may protect it. Other machines' fleets are not known. `not` says that nothing
 * was done.
 */
export const ensureUnprotected = Effect.fnUntraced(function* (
  ids: ReadonlyArray<NodeId>,
  not = "Nothing was deleted."
) {
  if (ids.length === 0) return
  const own = yield* Effect.orElseSucceed(ownAccount, () => undefined)
  if (own === undefined) return
  const ledgers = yield* knownLedgers(own)
  const protectionOf = protectionIn(ledgers)
  const found = ids.flatMap((id) => protectionOf(id) ?? [])
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
        ? `Remove its protection in the fleet file and apply, or take it out of the fleet, of which the ledger is ${known.ledger}: berth fleet forget ${first.member}`
        : ledgerHint(known)
    })
  }
  const unknown = ledgers.find(mayProtectOthers)
  if (unknown === undefined) return
  const { fleet, ledger, state } = unknown
  return yield* new FleetConflict({
    message: `The ledger ${ledger} of the fleet ${fleet} ${stateText[state]}, and it may protect ${ids.length === 1 ? "the node" : "one of the nodes"}. ${not}`,
    hint: ledgerHint(unknown)
  })
})

/**
 * By node, in words: why a fleet must not delete it although neither its file nor its ledger protects it. A ledger of the same fleet that
 * cannot be used may protect all of `members`.
 */
export const protectedBesides = Effect.fnUntraced(function* (
  own: Effect.Success<typeof ownAccount>,
  { fleet, ledger }: FleetOf,
  members: Ledger
): Effect.fn.Return<ReadonlyMap<number, string>> {
  const ledgers = yield* knownLedgers(own)
  const protectionOf = protectionIn(ledgers, ledger)
  const unknown = ledgers.find((each) => each.fleet === fleet && each.ledger !== ledger && mayProtectOthers(each))
  return new Map(
    Array.from(ownedIds(members)).flatMap((id): ReadonlyArray<readonly [number, string]> => {
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
})

/** The nodes in the ledgers of the other fleets on this machine. */
export const nodesElsewhere = Effect.fnUntraced(function* (
  account: Effect.Success<typeof ownAccount>,
  fleet: string
): Effect.fn.Return<ReadonlySet<number>> {
  const ledgers = yield* knownLedgers(account)
  return new Set(fleetOfNodes(ledgers.filter((each) => each.fleet !== fleet)).keys())
})

/**
 * Fails if a fleet that has no ledger yet has one elsewhere on this machine: this is another clone, and its first run would make each node a
 * second time.
 */
export const ensureNotElsewhere = Effect.fnUntraced(function* (
  own: Effect.Success<typeof ownAccount>,
  { fleet, ledger }: FleetOf,
  { members }: Ledger
) {
  if (members.size > 0) return
  const others = (yield* knownLedgers(own)).filter((each) => each.fleet === fleet && each.ledger !== ledger)
  const hasNodes = ({ entries }: KnownLedger) => Array.from(entries.values()).some(({ state }) => state !== "none")
  const other = others.find((each) => unusable.includes(each.state) || hasNodes(each))
  if (other === undefined) return
  return yield* new FleetConflict({
    message: `The fleet ${fleet} has the ledger ${other.ledger} on this machine, and ${ledger} has no member: nothing was changed.`,
    hint: `Work with that ledger, such as by a commit and git pull, or give this fleet another name. If the other one is given up: berth fleet forget ${fleet}`
  })
})

/** The ledgers of this account that may protect a node which no ledger shows: nobody knows what is in them, or this machine has noted it. */
export const ledgersThatMayProtect = Effect.fnUntraced(function* (node: number) {
  const ledgers = yield* knownLedgers(yield* ownAccount)
  return ledgers
    .filter((known) => mayProtectOthers(known) || known.protected.some(({ id }) => id === node))
    .map(({ ledger }) => ledger)
})

/** By node. A ledger that cannot be used is reported: its nodes seem to be in no fleet. */
export const ownMemberships = Effect.gen(function* () {
  const ledgers = yield* knownLedgers(yield* ownAccount)
  const { warn } = yield* Output
  for (const { fleet, ledger, state } of ledgers) {
    if (unusable.includes(state)) {
      yield* warn(`The ledger ${ledger} cannot be used: nodes of the fleet ${fleet} count as in no fleet.`)
    }
  }
  return fleetOfNodes(ledgers)
})
