/**
 * Reads and writes a fleet's ledger: the file that records which nodes belong to the fleet. A run changes the ledger under a lock, and
 * each change is fully written before the run continues. Refuses a ledger that is damaged, was written by a later version or for another
 * account, or was changed by another program during the run.
 */
import { type FileFault, readText, replaceDurably } from "@berthkit/core/client/files/StateFiles"
import { fileRemedyOf } from "@berthkit/core/domain/fileReason"
import { Effect, Fiber, Option, Random, Result, Semaphore } from "effect"
import { LocalFileFault } from "../failure/CliFailure.ts"
import { placeOfFile } from "../files/givenFile.ts"
import { underFileLock } from "../files/ownFiles.ts"
import { fileReason } from "../failure/fileReason.ts"
import { contradictionIn, decodeLedger, encodeLedger, type Ledger, newLedger } from "../fleet/Ledger.ts"
import { Output, printNote } from "../output/Output.ts"
import { underLock } from "../state/Kind.ts"

/** Maximum size of a ledger, enough for several thousand members. */
const maxBytes = 16 * 1024 * 1024

/** How long a run waits for another run before it prints a note. */
const silentMillis = 1000

/** The open ledger of a run that holds its lock. */
export interface LedgerFile {
  readonly current: Effect.Effect<Ledger>
  /** Applies the change, and writes the file only if its text changed. */
  readonly update: (change: (ledger: Ledger) => Ledger) => Effect.Effect<Ledger, LocalFileFault>
}

/** The account and the fleet that a ledger must belong to. */
export interface Owner {
  readonly account: string
  /** Whether the account id in a ledger means the current account. */
  readonly isOwn: (account: string) => Effect.Effect<boolean>
  /** The project and location of the settings, for messages. */
  readonly place: string
  readonly fleet: string
}

const refused = (path: string, message: string, hint: string) => new LocalFileFault({ path, message, hint })

const unreadable = (path: string) => (fault: FileFault) =>
  refused(path, `${path} cannot be read: ${fileReason(fault)}.`, "Correct that, and run the same command again.")

const unwritable = (path: string) => (fault: FileFault) =>
  refused(
    path,
    `The ledger ${path} cannot be written: ${fileReason(fault)}.`,
    `${fileRemedyOf(fault.code) ?? "Correct that"}, and run the same command again: it continues where this one ended.`
  )

/** The message if the list of fleets cannot be read or written, or a fleet cannot be locked. */
export const cannotList = "The list of fleets cannot be used"

/**
 * The fault of a ledger with two lines for one member. A ledger gets two lines if two branches each created a node for the member and
 * were then merged.
 */
const doubledLine = (
  path: string,
  { ids, member }: { readonly member: string; readonly ids: ReadonlyArray<number> }
) => {
  const [first, second] = ids
  return refused(
    path,
    ids.length < 2
      ? `The ledger ${path} is damaged: ${member} is in it twice.`
      : `The ledger ${path} has a member with more than one node: ${member} is in it twice, with the nodes ${ids.join(" and ")}.`,
    second === undefined
      ? "Remove one of the two lines."
      : `Each of them may exist and be billed. Keep the line of one, such as ${first}, and delete the other node: berth node delete ${second}; or adopt that one as another member`
  )
}

/** Parses a ledger and checks that it belongs to this owner. */
const ledgerIn = Effect.fnUntraced(function* (path: string, text: string, { account, fleet, isOwn, place }: Owner) {
  const read = decodeLedger(text)
  if (Result.isFailure(read)) {
    const { failure } = read
    if (failure._tag === "Doubled") return yield* doubledLine(path, failure)
    return yield* failure._tag === "Later"
      ? refused(path, `The ledger ${path} was written by a later version of berth.`, "Update berth.")
      : refused(
          path,
          `The ledger ${path} is damaged: ${failure.why}.`,
          "Restore it, for example with git checkout, or correct it; without it berth does not know which nodes are the fleet's."
        )
  }
  const { success: ledger } = read
  if (!(yield* isOwn(ledger.account))) {
    return yield* refused(
      path,
      `The ledger ${path} belongs to another account or place: ${ledger.account}, not ${account} (${place}).`,
      `Use the profile, the project and the location that its nodes were made with. Only if these are the same and the API key is new, write "account": "${account}" in the ledger. Do not do this for another place: berth would lose track of the nodes, and you would keep paying for them.`
    )
  }
  if (ledger.fleet === fleet) return ledger
  return yield* refused(
    path,
    `The ledger ${path} belongs to the fleet ${ledger.fleet}, not ${fleet}.`,
    "Restore the fleet's name, or put the new fleet into a file with another name."
  )
})

/**
 * A random identifier. It serves as this machine's name, or as the lineage of a new ledger (the part of the ledger's
 * keys that no other ledger has).
 */
export const drawnWord = Effect.map(Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER), (drawn) => drawn.toString(36))

/** The real path of a ledger, so that every link to the file leads to the same lock and to the same fleet. */
export const realLedger = (path: string) => Effect.mapError(placeOfFile(path), unreadable(path))

const textOf = (path: string) => Effect.mapError(readText(path, maxBytes), unreadable(path))

/** Parses the text of a ledger file; a missing file is an empty ledger. */
const ledgerOf = (path: string, text: Option.Option<string>, owner: Owner) =>
  Option.match(text, {
    onNone: () => Effect.map(drawnWord, (lineage) => newLedger(owner.account, owner.fleet, lineage)),
    onSome: (found) => ledgerIn(path, found, owner)
  })

/** Reads the current ledger. */
export const readLedger = (named: string, owner: Owner) =>
  Effect.flatMap(realLedger(named), (path) => Effect.flatMap(textOf(path), (text) => ledgerOf(path, text, owner)))

/** Why a file holds no usable ledger. */
export type NoLedger = "missing" | "damaged" | "doubled" | "later"

const states = { Damaged: "damaged", Doubled: "doubled", Later: "later" } as const

/** Reads the ledger in a file without checking whose it is. */
export const anyLedger = Effect.fnUntraced(function* (
  named: string
): Effect.fn.Return<Result.Result<Ledger, NoLedger>, LocalFileFault> {
  const text = yield* textOf(yield* realLedger(named))
  if (Option.isNone(text)) return Result.fail("missing")
  return Result.mapError(decodeLedger(text.value), ({ _tag }) => states[_tag])
})

/** Fails if the next run would refuse this ledger. */
const ensureReadable = (path: string, { members }: Ledger, text: string) => {
  const why =
    contradictionIn(members) ?? (Buffer.byteLength(text) > maxBytes ? "it would be larger than berth reads" : undefined)
  return why === undefined
    ? Effect.void
    : Effect.fail(
        refused(
          path,
          `The ledger ${path} was not written: ${why}.`,
          "See its members with berth diff, and remove the wrong one: berth fleet forget MEMBER"
        )
      )
}

/**
 * Runs `use` while holding the locks of the ledger and of the fleet's name. If another run holds them, waits and prints a note.
 */
export const withLedger = <A, E, R>(
  named: string,
  owner: Owner,
  use: (file: LedgerFile) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | LocalFileFault, R | Output> =>
  Effect.gen(function* () {
    const path = yield* realLedger(named)
    const waiting = yield* Effect.forkChild(
      Effect.delay(printNote(`Waiting for another run of berth on ${path} to end.`), silentMillis)
    )
    const locked = underFileLock(`${path}.lock`, unwritable(path), ({ confirm }) =>
      Effect.gen(function* () {
        yield* Fiber.interrupt(waiting)
        const { noteChange } = yield* Output
        const before = yield* textOf(path)
        let ledger = yield* ledgerOf(path, before, owner)
        let written = Option.getOrUndefined(before)
        const oneAtATime = yield* Semaphore.make(1)
        const write = (next: Ledger) =>
          Effect.gen(function* () {
            const text = encodeLedger(next)
            if (text !== written) {
              yield* ensureReadable(path, next, text)
              const found = Option.getOrUndefined(yield* textOf(path))
              if (found === undefined && written !== undefined) {
                return yield* refused(
                  path,
                  `The ledger ${path} was removed while this command ran, so it was not written again.`,
                  "Put it back, for example with git checkout, and run the same command again."
                )
              }
              if (found !== written) {
                return yield* refused(
                  path,
                  `Another program changed the ledger ${path} while this command ran, so it was not overwritten.`,
                  "See what changed, for example with git diff, and run the same command again."
                )
              }
              yield* Effect.mapError(Effect.andThen(confirm, replaceDurably(path, text)), unwritable(path))
              yield* noteChange
              written = text
            }
            ledger = next
            return next
          })
        const file: LedgerFile = {
          current: Effect.sync(() => ledger),
          update: (change) =>
            oneAtATime.withPermits(1)(
              Effect.uninterruptible(
                Effect.suspend(() => {
                  const next = change(ledger)
                  return next === ledger ? Effect.succeed(ledger) : write(next)
                })
              )
            )
        }
        return yield* use(file)
      })
    )
    // Two checkouts of a new fleet do not share a ledger file yet, so lock the fleet's name too.
    const ofFleet = underLock(cannotList, `fleet.run-${owner.fleet}`, locked)
    return yield* Effect.ensuring(ofFleet, Fiber.interrupt(waiting))
  })
