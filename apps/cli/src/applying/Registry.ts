/**
 * The fleets of an account on this machine: whose they are, as ledgers have it, which ledgers there are, and which node is which member. The
 * list of ledgers, with the name that berth drew for this machine, is a small file in the account's state folder. It also keeps which nodes
 * are protected, as a second witness for when a ledger is missing or an older one. Safe to lose: the ledgers themselves say both.
 */
import { createHash } from "node:crypto"
import { basename, dirname, join } from "node:path"
import { idsOf } from "@berthkit/core/client/creation/IntentPlace"
import { withKeyLock } from "@berthkit/core/client/creation/KeyLock"
import { readText, replaceDurably, withFiles } from "@berthkit/core/client/files/StateFiles"
import { Effect, Option, Result, Schema } from "effect"
import type { NodeId } from "@berthkit/core/domain/Node"
import { FleetConflict, LocalFileFault } from "../failure/CliFailure.ts"
import { accountFolderOf } from "../settings/account.ts"
import { connection } from "../settings/client.ts"
import { makeAccountFolder } from "../files/ownFiles.ts"
import { type Ledger, ownedIds } from "../fleet/Ledger.ts"
import { anyLedger, drawnWord, type LedgerFile, type NoLedger, unkept } from "./LedgerFile.ts"
import { Output } from "../output/Output.ts"

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
  const service = accountOf(`${new URL(account.options.baseUrl).href} ${place}`)
  return { account: own, isOwn, place, service, registry: `${found.folder}/fleets.json` }
})

/** Of more fleets those that were used last are kept. */
const maxFleets = 1000

/** A node that a fleet protects. */
const Protected = Schema.Struct({ id: Schema.Int, member: Schema.String, name: Schema.String })
interface Protected extends Schema.Schema.Type<typeof Protected> {}

const Listed = Schema.Struct({
  fleet: Schema.String,
  ledger: Schema.String,
  /** Names the service and the place, whichever API key was used. */
  service: Schema.optional(Schema.String),
  /** The nodes that this machine has seen protected, and not released since; undefined where an older version listed the fleet. */
  protected: Schema.optional(Schema.Array(Protected))
})
export interface Listed extends Schema.Schema.Type<typeof Listed> {}

const Registry = Schema.fromJsonString(
  Schema.Struct({ version: Schema.Literal(1), machine: Schema.String, fleets: Schema.Array(Listed) })
)
type Registry = typeof Registry.Type
const decode = Schema.decodeUnknownOption(Registry)
const encode = Schema.encodeSync(Registry)

const read = (path: string) =>
  Effect.map(
    Effect.orElseSucceed(readText(path), () => Option.none<string>()),
    (text) => Option.flatMap(text, decode)
  )

/** The fleets that are known. */
export const knownFleets = (path: string): Effect.Effect<ReadonlyArray<Listed>> =>
  Effect.map(read(path), (found) => Option.getOrUndefined(found)?.fleets ?? [])

/** Changes the registry, which is made where there is none, and gives the name of this machine. */
export const updateRegistry = (
  path: string,
  change: (fleets: ReadonlyArray<Listed>) => ReadonlyArray<Listed>
): Effect.Effect<string, LocalFileFault> =>
  Effect.andThen(
    makeAccountFolder(dirname(path)),
    withKeyLock(`${path}.lock`, () =>
      Effect.gen(function* () {
        const found = yield* read(path)
        const machine = yield* drawnWord
        const before: Registry = Option.getOrElse(found, () => ({ version: 1, machine, fleets: [] }))
        const fleets = change(before.fleets).slice(-maxFleets)
        if (Option.isNone(found) || JSON.stringify(fleets) !== JSON.stringify(before.fleets)) {
          yield* replaceDurably(path, encode({ ...before, fleets }))
        }
        return before.machine
      })
    )
  ).pipe(Effect.mapError(unkept(path)))

/** The nodes that a ledger protects: of a member whose replacement is not finished the old one, too. */
const protectedOf = (members: Ledger["members"]): ReadonlyArray<Protected> =>
  Array.from(members.values()).flatMap(({ member, node, previous, protect }) =>
    protect === true
      ? [node, previous].flatMap((owned) => (owned === undefined ? [] : [{ id: owned.id, member, name: owned.name }]))
      : []
  )

/** Notes a fleet and the nodes that its ledger protects, and gives the name of this machine. */
export const registered = (
  path: string,
  { fleet, ledger, service }: Pick<Listed, "fleet" | "ledger" | "service">,
  { members }: Ledger
) =>
  updateRegistry(path, (fleets) => {
    const before = fleets.find((each) => each.ledger === ledger)
    const known = before?.protected ?? []
    const kept = [...known, ...protectedOf(members).filter(({ id }) => known.every((each) => each.id !== id))]
    return before?.fleet === fleet
      ? fleets.map((each) => (each === before ? { ...each, service, protected: kept } : each))
      : [...fleets.filter((each) => each !== before), { fleet, ledger, service, protected: kept }]
  })

/** Notes that these nodes of a fleet are not protected any more. */
export const released = (path: string, fleet: string, ids: ReadonlySet<number>) =>
  updateRegistry(path, (fleets) =>
    fleets.map((each) =>
      each.fleet === fleet && each.protected?.some(({ id }) => ids.has(id))
        ? { ...each, protected: each.protected.filter(({ id }) => !ids.has(id)) }
        : each
    )
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
export const notingProtected = (
  file: LedgerFile,
  path: string,
  listed: Pick<Listed, "fleet" | "ledger" | "service">
): LedgerFile => {
  const noted = new Set<number>()
  return {
    current: file.current,
    update: (change) =>
      Effect.tap(file.update(change), (ledger) => {
        const fresh = protectedOf(ledger.members).filter(({ id }) => !noted.has(id))
        for (const { id } of fresh) noted.add(id)
        return fresh.length === 0 ? Effect.void : Effect.ignore(registered(path, listed, ledger))
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
export const knownLedgers = Effect.fnUntraced(function* ({ isOwn, registry }: Effect.Success<typeof ownAccount>) {
  return yield* Effect.forEach(
    yield* knownFleets(registry),
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

/** What may protect a node. Of an account with another key only what it has noted is known. */
type Witness = Omit<KnownLedger, "state"> & { readonly state: LedgerState | "another key" }

/**
 * Fleets with protected nodes that this machine has noted for other accounts at the same service and place. A new API key makes another
 * account for berth, but the nodes are the same.
 */
const underOtherKeys = Effect.fnUntraced(function* ({ registry, service }: Effect.Success<typeof ownAccount>) {
  const accounts = dirname(dirname(registry))
  const names = yield* Effect.orElseSucceed(
    withFiles((fs) => fs.readdir(accounts)),
    () => []
  )
  const others = names.map((name) => join(accounts, name, basename(registry))).filter((path) => path !== registry)
  const found = yield* Effect.forEach(others, knownFleets)
  return found
    .flat()
    .flatMap((listed): ReadonlyArray<Witness> =>
      listed.service === service && listed.protected !== undefined
        ? [{ ...listed, state: "another key", entries: new Map() }]
        : []
    )
})

/** All that may protect a node: the ledgers of this account, and what is noted of ledgers that only other accounts have. */
const witnesses = (own: Effect.Success<typeof ownAccount>) =>
  Effect.zipWith(knownLedgers(own), underOtherKeys(own), (ledgers, others): ReadonlyArray<Witness> => {
    const taken = new Set(ledgers.flatMap(({ ledger, state }) => (state === "ok" ? [ledger] : [])))
    return [...ledgers, ...others.filter(({ ledger }) => !taken.has(ledger))]
  })

/** Which fleet and member a node is, and the tags that berth sent, by id. */
export const fleetOfNodes = (
  ledgers: ReadonlyArray<KnownLedger>
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
const unusable: ReadonlyArray<Witness["state"]> = ["damaged", "doubled", "later", "unreadable"]

/** Whether a ledger may protect nodes that this machine does not know of. */
const mayProtectOthers = ({ protected: noted, state }: Witness): boolean =>
  unusable.includes(state) || (state === "missing" && noted === undefined)

/** That a node is protected, and by what. */
interface Protection extends Protected {
  readonly known: Witness
  /** Whether the ledger itself says so; otherwise this machine has noted it. */
  readonly isInLedger: boolean
}

/**
 * What protects a node: a ledger, or else what this machine has noted; undefined if nothing does. Without the ledger `but`, and without
 * what is noted of a node that it protects, for a run that sees itself what is in that ledger.
 */
const protectionIn = (ledgers: ReadonlyArray<Witness>, but?: string) => {
  const all = ledgers.flatMap((known): ReadonlyArray<Protection> => [
    ...protectedOf(known.entries).map((node) => ({ ...node, known, isInLedger: true })),
    ...(known.protected ?? []).map((node) => ({ ...node, known, isInLedger: false }))
  ])
  const byNode = Map.groupBy(all, ({ id }) => id)
  return (id: number): Protection | undefined => {
    const found = byNode.get(id) ?? []
    const inLedgers = found.filter(({ isInLedger }) => isInLedger)
    const other = inLedgers.find(({ known }) => known.ledger !== but)
    return other ?? (inLedgers.length > 0 ? undefined : found[0])
  }
}

const stateText: Readonly<Record<Witness["state"], string>> = {
  ok: "does not protect it",
  missing: "is not there",
  damaged: "is damaged",
  doubled: "has a member twice",
  later: "was written by a later version of berth",
  unreadable: "cannot be read",
  "another account": "is of another account or place",
  "another key": "is of an account with another API key"
}

/** How to go on where a ledger is not as this machine knew it. */
const ledgerHint = ({ fleet, ledger, state }: Witness): string =>
  state === "another key"
    ? `If the account has a new API key, run berth apply on that fleet, whose ledger is ${ledger}, and do what it says. If the fleet is given up, use the other key: berth fleet forget ${fleet}`
    : state === "ok"
      ? `If the ledger is an older one, put the current one back, such as with git checkout. To take the protection away: write protect: true in the fleet file and apply, then remove it and apply again. If the fleet is given up: berth fleet forget ${fleet}`
      : `Put the ledger right, such as with git checkout, and run the same command again. If the fleet is given up: berth fleet forget ${fleet}`

const notedText = (start: "This" | "this", { ledger, state }: Witness): string =>
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
  const ledgers = yield* witnesses(own)
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
  { fleet, ledger }: Pick<Listed, "fleet" | "ledger">,
  members: Ledger
): Effect.fn.Return<ReadonlyMap<number, string>> {
  const ledgers = yield* witnesses(own)
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
  { fleet, ledger }: Pick<Listed, "fleet" | "ledger">,
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
    .filter((known) => mayProtectOthers(known) || known.protected?.some(({ id }) => id === node))
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
