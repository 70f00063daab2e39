/**
 * Keeps the leases of an account in its state folder: a file each, written whole before its node is created, and changed by one process
 * at a time. Files that are not leases, or of a later version, are left alone and reported.
 */
import { type IntentPlace, leasesOf } from "@berthkit/core/client/creation/IntentPlace"
import type { FileFault } from "@berthkit/core/client/files/StateFiles"
import { Context, Effect, Layer, Option } from "effect"
import { LocalFileFault } from "../failure/CliFailure.ts"
import { fileReason } from "../failure/fileReason.ts"
import { filesIn } from "../files/ownFiles.ts"
import { type Lease, parseLease } from "./Lease.ts"

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
    /** The file of a lease; undefined if there is no state folder. */
    readonly fileOf: (key: string) => Effect.Effect<string | undefined>
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

const make = (place: IntentPlace | undefined): LeaseStore["Service"] => {
  if (place === undefined) {
    const none = Effect.fail(leaseFileFault({ message: "there is no home folder" }))
    return {
      all: Effect.succeed({ leases: [], unreadable: [] }),
      save: () => none,
      fileOf: () => Effect.undefined,
      remove: () => Effect.void,
      change: (_, use) => use(undefined)
    }
  }
  // Another process may join the account with another one: then it is another folder.
  const folder = leasesOf(place)
  const files = filesIn(folder, leaseFileFault)
  const nameOf = (key: string) => `${key}${suffix}`

  return {
    all: Effect.gen(function* () {
      const leases: Array<Lease> = []
      const unreadable: Array<string> = []
      for (const name of (yield* files.names).filter((each) => each.endsWith(suffix)).toSorted()) {
        const found = yield* Effect.orElseSucceed(
          Effect.map(files.read(name), (text) => Option.map(text, parseLease)),
          () => Option.some(Option.none<Lease>())
        )
        // Another process may have removed it meanwhile.
        if (Option.isNone(found)) continue
        const lease = Option.filter(found.value, ({ key }) => nameOf(key) === name)
        if (Option.isSome(lease)) leases.push(lease.value)
        else unreadable.push(`${yield* Effect.mapError(folder, leaseFileFault)}/${name}`)
      }
      return { leases, unreadable }
    }),
    save: (lease) => files.write(nameOf(lease.key), `${JSON.stringify(lease)}\n`),
    fileOf: (key) =>
      Effect.orElseSucceed(
        Effect.map(folder, (path) => `${path}/${nameOf(key)}`),
        () => undefined
      ),
    remove: (key) => files.remove(nameOf(key)),
    change: (key, use) =>
      files.locked(
        key,
        Effect.flatMap(files.read(nameOf(key)), (text) => {
          const lease = Option.filter(Option.flatMap(text, parseLease), (found) => found.key === key)
          return use(Option.getOrUndefined(lease))
        })
      )
  }
}
