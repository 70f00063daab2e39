/**
 * Which ledgers there are on this machine for an account, and the name that berth drew for this machine: a small file in the account's
 * state folder. Safe to lose: the ledgers themselves say whose the nodes are.
 */
import { withKeyLock } from "@berthkit/core/client/creation/KeyLock"
import { makeOwnFolder, readText, replaceFile } from "@berthkit/core/client/files/StateFiles"
import { Effect, Option, Random, Result, Schema } from "effect"
import { LocalFileFault } from "../failure/CliFailure.ts"
import { fileReason } from "../failure/fileReason.ts"
import { entriesOf, type Ledger } from "../fleet/Ledger.ts"
import { anyLedger, type NoLedger, type Owner } from "./LedgerFile.ts"

/** Of the path `accounts/HASH` all is made by Berth, for the user alone. */
const ownLevels = 2

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
): Effect.Effect<string, LocalFileFault> => {
  const folder = path.replace(/[\\/][^\\/]*$/, "")
  return Effect.andThen(
    makeOwnFolder(folder, ownLevels),
    withKeyLock(`${path}.lock`, () =>
      Effect.gen(function* () {
        const found = yield* read(path)
        const drawn = (yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)).toString(36)
        const before: Registry = Option.getOrElse(found, () => ({ version: 1, machine: drawn, fleets: [] }))
        const fleets = change(before.fleets).slice(-maxFleets)
        if (Option.isNone(found) || JSON.stringify(fleets) !== JSON.stringify(before.fleets)) {
          yield* replaceFile(path, encode({ ...before, fleets }), true)
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
}

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
export const knownLedgers = Effect.fnUntraced(function* (path: string, isOwn: Owner["isOwn"]) {
  return yield* Effect.forEach(
    yield* knownFleets(path),
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
      entriesOf({ account: "", fleet, lineage: "", members: entries }).flatMap(({ member, node, previous, sent }) => {
        const tags = sent?.["tags"]
        const known = { fleet, member, tags: Array.isArray(tags) ? tags.map(String) : [] }
        return [node, previous].flatMap((owned) => (owned === undefined ? [] : [[owned.id, known] as const]))
      })
    )
  )
