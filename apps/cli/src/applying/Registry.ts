/**
 * The fleets of an account on this machine: whose they are, as ledgers have it, which ledgers there are, and which node is which member. The
 * list of ledgers, with the name that berth drew for this machine, is a small file in the account's state folder. Safe to lose: the ledgers
 * themselves say whose the nodes are.
 */
import { createHash } from "node:crypto"
import { dirname } from "node:path"
import { idsOf } from "@berthkit/core/client/creation/IntentPlace"
import { withKeyLock } from "@berthkit/core/client/creation/KeyLock"
import { readText, replaceDurably } from "@berthkit/core/client/files/StateFiles"
import { Effect, Option, Result, Schema } from "effect"
import type { NodeId } from "@berthkit/core/domain/Node"
import { FleetConflict, LocalFileFault } from "../failure/CliFailure.ts"
import { accountFolderOf } from "../settings/account.ts"
import { connection } from "../settings/client.ts"
import { makeAccountFolder } from "../files/ownFiles.ts"
import { fileReason } from "../failure/fileReason.ts"
import type { Ledger } from "../fleet/Ledger.ts"
import { anyLedger, drawnWord, type NoLedger } from "./LedgerFile.ts"
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
  return { account: own, isOwn, registry: `${found.folder}/fleets.json` }
})

/** Of more fleets those that were used last are kept. */
const maxFleets = 1000

const Listed = Schema.Struct({ fleet: Schema.String, ledger: Schema.String })
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
  ).pipe(
    Effect.mapError(
      (fault) =>
        new LocalFileFault({
          path,
          message: `${path} cannot be written: ${fileReason(fault)}.`,
          hint: "Set XDG_STATE_HOME to a folder that can be written."
        })
    )
  )

/** Notes a fleet, and gives the name of this machine. */
export const registered = (path: string, listed: Listed) =>
  updateRegistry(path, (fleets) =>
    fleets.some(({ fleet, ledger }) => fleet === listed.fleet && ledger === listed.ledger)
      ? fleets
      : [...fleets.filter(({ ledger }) => ledger !== listed.ledger), listed]
  )

/** A known fleet with its ledger, or why that cannot be read. */
export interface KnownLedger extends Listed {
  readonly state: "ok" | NoLedger | "unreadable" | "another account"
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

/** The protected members of the fleets on this machine, by the id of their node. */
const protectedNodes = (ledgers: ReadonlyArray<KnownLedger>) =>
  new Map(
    ledgers.flatMap(({ entries, fleet, ledger }) =>
      Array.from(entries.values()).flatMap(({ member, node, protect }) =>
        protect === true && node !== undefined ? [[node.id, { fleet, ledger, member, name: node.name }] as const] : []
      )
    )
  )

/**
 * Fails if one of the nodes is a protected member of a fleet that this machine knows, so that a delete by hand or by an agent holds to the
 * protection, too. Other machines' fleets are not known, and a ledger that cannot be used protects nothing.
 */
export const ensureUnprotected = Effect.fnUntraced(function* (ids: ReadonlyArray<NodeId>) {
  if (ids.length === 0) return
  const own = yield* Effect.orElseSucceed(ownAccount, () => undefined)
  if (own === undefined) return
  const known = protectedNodes(yield* knownLedgers(own))
  const found = ids.flatMap((id) => {
    const as = known.get(id)
    return as === undefined ? [] : [{ id, ...as }]
  })
  const [first] = found
  if (first === undefined) return
  const what = found.map(
    ({ fleet, id, member, name }) => `node ${id} (${name}), which is ${member} of the fleet ${fleet}`
  )
  return yield* new FleetConflict({
    message: `Protected: ${what.join("; ")}. Nothing was deleted.`,
    hint: `Remove its protection in the fleet file and apply, or take it out of the fleet, of which the ledger is ${first.ledger}: berth fleet forget ${first.member}`
  })
})

/** The nodes in the ledgers of the other fleets on this machine. */
export const nodesElsewhere = Effect.fnUntraced(function* (
  account: Effect.Success<typeof ownAccount>,
  fleet: string
): Effect.fn.Return<ReadonlySet<number>> {
  const ledgers = yield* knownLedgers(account)
  return new Set(fleetOfNodes(ledgers.filter((each) => each.fleet !== fleet)).keys())
})

/** A ledger that is not there, or is of another account, has no nodes of this one. */
const unusable: ReadonlyArray<KnownLedger["state"]> = ["damaged", "doubled", "later", "unreadable"]

/** The ledgers of this account that cannot be used: nobody knows which nodes they protect. */
export const unusableLedgers = Effect.gen(function* () {
  const ledgers = yield* knownLedgers(yield* ownAccount)
  return ledgers.flatMap(({ ledger, state }) => (unusable.includes(state) ? [ledger] : []))
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
