/**
 * Stores the allowance for the processes of one machine: their knowledge is in a small file, and next to it is a folder with a file for
 * each process. A killed process stops counting when its file has not been written for a while.
 *
 * Instants in the files are wall time, with a stamp of when they were written (`Boot.ts`): a reader in the same boot knows their age even
 * if the wall clock has been set in between. Needs `node:fs`.
 */
import { Effect, Layer, Option, Predicate, Random } from "effect"
import { parseJson } from "../../api/parseJson.ts"
import { bootClock } from "../files/Boot.ts"
import { millisBetween, type Stamp, stampNow } from "../files/Stamp.ts"
import { clockStepMillis, monotonicMillis } from "../time/Monotonic.ts"
import { FileFault, makeOwnFolder, readText, removeFile, replaceFile, withFiles } from "../files/StateFiles.ts"
import type { Settings } from "../options/Settings.ts"
import { AllowanceStore, AllowanceStoreFailed, onClockAhead, type SharedAllowance } from "./AllowanceStore.ts"

/** The content of the file. */
interface Kept extends SharedAllowance, Pick<Stamp, "bootMillis" | "bootClock"> {}

/** All our files begin like this, so a truncated file is recognised. */
const beginning = '{"version":1,"writtenAt":'

const orFailed = Effect.mapError(({ message }: FileFault) => new AllowanceStoreFailed({ detail: message }))
const refused = (message: string) => Effect.fail(new FileFault({ message }))

const isCutOff = (text: string) => {
  // After a power failure a file may have the right length and no content.
  const whole = text.replaceAll("\0", "").trim()
  return whole.startsWith(beginning) || beginning.startsWith(whole)
}

/** Decodes the file; none if it may be replaced without loss. */
const decoded = (text: string): Effect.Effect<Option.Option<Kept>, FileFault> => {
  const value = parseJson(text)
  if (value === undefined && isCutOff(text)) return Effect.succeedNone
  const version = Predicate.isObject(value) ? value["version"] : undefined
  if (version === 1) return Effect.succeedSome(value as Kept)
  return refused(
    Number.isSafeInteger(version)
      ? "a later version of Berth wrote it"
      : "it is not an allowance file; remove it, or name another"
  )
}

/** The content in this process's monotonic time. */
const onOurClock = (kept: Kept, now: Stamp): SharedAllowance => {
  const { bootClock, bootMillis, writtenAt } = kept
  const stamp = { wallMillis: writtenAt, bootMillis, bootClock }
  const ageMillis = millisBetween(stamp, now)
  const ours = onClockAhead(kept, now.bootMillis - ageMillis - writtenAt)
  const isSameBoot = bootClock !== null && bootClock === now.bootClock
  return {
    ...ours,
    // After a reboot, only the wall clock remains, and it says nothing about the service's clock.
    clock: isSameBoot ? ours.clock : undefined,
    stepped: isSameBoot && Math.abs(now.wallMillis - writtenAt - ageMillis) > clockStepMillis
  }
}

/** The store in the file at `path`. Creates missing folders with access for the user only. */
export const make = Effect.fnUntraced(function* (path: string): Effect.fn.Return<AllowanceStore> {
  const me = `${globalThis.process?.pid ?? 0}-${(yield* Random.nextIntBetween(0, 0xffffffff)).toString(36)}`
  const members = `${path}.members`
  const mine = `${members}/${me}`
  const now = stampNow(yield* bootClock)

  const show = Effect.andThen(
    makeOwnFolder(members),
    Effect.flatMap(now, (stamp) => replaceFile(mine, JSON.stringify(stamp)))
  )
  const forget = (name: string) => Effect.ignore(removeFile(`${members}/${name}`))

  return {
    name: path,
    now: monotonicMillis,
    read: Effect.flatMap(readText(path), (text) =>
      Option.isNone(text)
        ? Effect.succeedNone
        : Effect.zipWith(decoded(text.value), now, (kept, stamp) => Option.map(kept, (kept) => onOurClock(kept, stamp)))
    ).pipe(orFailed),
    write: (shared) =>
      Effect.flatMap(now, ({ bootClock, bootMillis, wallMillis }) => {
        const kept: Kept = {
          ...onClockAhead(shared, wallMillis - bootMillis),
          bootMillis: shared.writtenAt,
          bootClock
        }
        return Effect.as(replaceFile(path, JSON.stringify(kept)), true)
      }).pipe(orFailed),
    meet: Effect.fnUntraced(function* (withinMillis) {
      // Try twice, because a cleanup by another process may have removed the draft.
      yield* Effect.catch(show, () => show)
      const names = new Set(yield* withFiles((fs) => fs.readdir(members)))
      const stamp = yield* now
      let count = 0
      let before = 0
      for (const name of names) {
        const [owner] = name.split(".")
        if (owner === me) continue
        if (owner !== name) {
          if (!names.has(owner!)) yield* forget(name)
          continue
        }
        const text = yield* Effect.option(readText(`${members}/${name}`))
        const seen = parseJson(Option.getOrElse(Option.flatten(text), () => "")) as Stamp | undefined | null
        // A stamp from the future means that the clock has been set back in between.
        if (Math.abs(millisBetween(seen ?? { ...stamp, wallMillis: 0, bootClock: null }, stamp)) < withinMillis) {
          count++
          if (name < me) before++
        } else yield* forget(name)
      }
      return { count, before }
    }, orFailed),
    leave: forget(me)
  }
})

/** Shares the allowance through the file in the client's settings, if there is one. */
export const layer = ({ allowanceFile }: Pick<Settings, "allowanceFile">): Layer.Layer<never> =>
  allowanceFile === undefined ? Layer.empty : Layer.succeed(AllowanceStore, make(allowanceFile))
