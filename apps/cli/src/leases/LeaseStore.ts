/**
 * Keeps the leases of an account in its state folder: a file each, written whole before its node is created, and changed by one process
 * at a time. Files that are not leases, or of a later version, are left alone and reported.
 */
import { type IntentPlace, leasesOf } from "@berthkit/core/client/creation/IntentPlace"
import {
  type FileFault,
  makeOwnFolder,
  readText,
  removeFile,
  replaceFile,
  withFiles
} from "@berthkit/core/client/files/StateFiles"
import { Context, Effect, Layer, Option } from "effect"
import { LocalFileFault } from "../failure/CliFailure.ts"
import { fileReason } from "../failure/fileReason.ts"
import { underLock } from "../files/underLock.ts"
import { type Lease, parseLease } from "./Lease.ts"

/** Of the path `accounts/HASH/leases` all is made by Berth, for the user alone. */
const ownLevels = 3

const suffix = ".json"

/** What a folder has. */
interface Leases {
  readonly leases: ReadonlyArray<Lease>
  /** Files that cannot be read as leases. */
  readonly unreadable: ReadonlyArray<string>
}

export class LeaseStore extends Context.Service<
  LeaseStore,
  {
    readonly all: Effect.Effect<Leases, LocalFileFault>
    /** Writes a lease; on the disk when this ends. Fails where it cannot be kept. */
    readonly save: (lease: Lease) => Effect.Effect<void, LocalFileFault>
    readonly remove: (key: string) => Effect.Effect<void, LocalFileFault>
    /** Runs `use` with the lease as it is now, while no other process does; undefined where it is gone. */
    readonly change: <A, E, R>(
      key: string,
      use: (lease: Lease | undefined) => Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | LocalFileFault, R>
  }
>()("@berthkit/cli/leases/LeaseStore") {
  /** The store of an account; without a state folder there is nothing in it, and nothing can be kept. */
  static readonly layer = (place: IntentPlace | undefined) => Layer.sync(LeaseStore, () => make(place))
}

/** That leases cannot be read or written: without them no node is leased, because nothing would delete it. */
export const leaseFileFault = (fault: FileFault): LocalFileFault =>
  new LocalFileFault({
    path: fault.path ?? "",
    message: `The leases of nodes cannot be kept: ${fileReason(fault)}.`,
    hint: "Set HOME or XDG_STATE_HOME to a folder that can be written; see: berth doctor"
  })

const orFault = <A>(use: Effect.Effect<A, FileFault>): Effect.Effect<A, LocalFileFault> =>
  Effect.mapError(use, leaseFileFault)

const make = (place: IntentPlace | undefined): LeaseStore["Service"] => {
  if (place === undefined) {
    const none = Effect.fail(leaseFileFault({ message: "there is no home folder" }))
    return {
      all: Effect.succeed({ leases: [], unreadable: [] }),
      save: () => none,
      remove: () => Effect.void,
      change: (_, use) => use(undefined)
    }
  }
  // Another process may join the account with another one: then it is another folder.
  const folder = orFault(leasesOf(place))
  const fileOf = (key: string) => Effect.map(folder, (found) => `${found}/${key}${suffix}`)

  const read = Effect.fnUntraced(function* (key: string) {
    const text = yield* orFault(readText(yield* fileOf(key)))
    return Option.filter(Option.flatMap(text, parseLease), (lease) => lease.key === key)
  })

  const names = Effect.flatMap(folder, (found) =>
    orFault(
      Effect.catchIf(
        withFiles((fs) => fs.readdir(found)),
        ({ code }) => code === "ENOENT",
        () => Effect.succeed<Array<string>>([])
      )
    )
  )

  return {
    all: Effect.gen(function* () {
      const leases: Array<Lease> = []
      const unreadable: Array<string> = []
      for (const name of (yield* names).filter((each) => each.endsWith(suffix)).toSorted()) {
        const path = yield* fileOf(name.slice(0, -suffix.length))
        const found = yield* Effect.orElseSucceed(
          Effect.map(readText(path), (text) => Option.map(text, parseLease)),
          () => Option.some(Option.none<Lease>())
        )
        // Another process may have removed it meanwhile.
        if (Option.isNone(found)) continue
        const lease = Option.filter(found.value, ({ key }) => `${key}${suffix}` === name)
        if (Option.isSome(lease)) leases.push(lease.value)
        else unreadable.push(path)
      }
      return { leases, unreadable }
    }),
    save: (lease) =>
      Effect.gen(function* () {
        yield* orFault(makeOwnFolder(yield* folder, ownLevels))
        yield* orFault(replaceFile(yield* fileOf(lease.key), `${JSON.stringify(lease)}\n`, true))
      }),
    remove: (key) => Effect.flatMap(fileOf(key), (path) => orFault(removeFile(path))),
    change: (key, use) =>
      Effect.flatMap(folder, (found) =>
        underLock(`${found}/${key}.lock`, leaseFileFault, () =>
          Effect.flatMap(read(key), (lease) => use(Option.getOrUndefined(lease)))
        )
      )
  }
}
