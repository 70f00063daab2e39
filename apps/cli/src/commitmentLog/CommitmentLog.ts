/**
 * What berth on this machine has set of an account's commitments: the service takes them and never shows them again. A small file in
 * the account's state folder, safe to lose: it knows nothing of what the portal or another machine has set, and says so wherever it
 * is shown.
 */
import { readText } from "@berthkit/core/client/files/StateFiles"
import { type CommitmentSetting, commitmentSettings, type CommittedOption } from "@berthkit/core/domain/Commitment"
import { shareInr, timesInr } from "@berthkit/core/domain/Money"
import { exactPrice, type Price } from "@berthkit/core/domain/Price"
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { writeAccountFile } from "../files/ownFiles.ts"

const dayMillis = 86_400_000
const hoursPerMonth = 730

/** Of more nodes those that were set last are kept. */
const maxEntries = 1000

const Entry = Schema.Struct({
  id: Schema.Int,
  setMillis: Schema.Int,
  /** What happens at the end; null where that was not set: then billing by the hour. */
  setting: Schema.NullOr(Schema.Literals(commitmentSettings)),
  /** The committed option that was passed last; null without one. */
  skuId: Schema.NullOr(Schema.Int),
  days: Schema.NullOr(Schema.Int),
  priceInr: Schema.NullOr(Schema.Number),
  /** End of the period that began with the create; null where berth does not know when it began. */
  untilMillis: Schema.NullOr(Schema.Int)
})
export interface Entry extends Schema.Schema.Type<typeof Entry> {}

const Log = Schema.fromJsonString(Schema.Struct({ version: Schema.Literal(1), entries: Schema.Array(Entry) }))
const decode = Schema.decodeUnknownOption(Log)
const encode = Schema.encodeSync(Log)

/** A node that was created with a committed option. */
export const created = (id: number, { days, priceInr, skuId }: CommittedOption, nowMillis: number): Entry => ({
  id,
  setMillis: nowMillis,
  setting: null,
  skuId,
  days,
  priceInr,
  untilMillis: nowMillis + days * dayMillis
})

/** A setting of a node. The period that is known to run goes on; an option that comes with the setting is for the time after it. */
export const set = (
  before: Entry | undefined,
  id: number,
  setting: CommitmentSetting,
  option: { readonly skuId: number | null; readonly days: number | null; readonly priceInr: number | null },
  nowMillis: number
): Entry =>
  before !== undefined && isRunning(before, nowMillis)
    ? { ...before, setMillis: nowMillis, setting }
    : { id, setMillis: nowMillis, setting, ...option, untilMillis: null }

const isRunning = ({ untilMillis }: Entry, nowMillis: number): boolean =>
  untilMillis !== null && untilMillis > nowMillis

/** What a node costs while its period is known to run: that of the period, spread over it. */
export const committedPrice = (entry: Entry | undefined, nowMillis: number): Price | undefined => {
  if (entry === undefined || !isRunning(entry, nowMillis) || entry.days === null || entry.priceInr === null) {
    return undefined
  }
  const hours = entry.days * 24
  return exactPrice(shareInr(entry.priceInr, hours), shareInr(timesInr(entry.priceInr, hoursPerMonth), hours))
}

/** The end of a period that is known to run. */
export const committedUntil = (entry: Entry | undefined, nowMillis: number): number | null =>
  entry !== undefined && isRunning(entry, nowMillis) ? entry.untilMillis : null

type Entries = ReadonlyMap<number, Entry>

export class CommitmentLog extends Context.Service<
  CommitmentLog,
  {
    /** The entries by node; none where the file cannot be read. */
    readonly load: Effect.Effect<Entries>
    /** Puts in what has become of a node. A file that cannot be written stays as it is. */
    readonly update: (
      id: number,
      change: (before: Entry | undefined, nowMillis: number) => Entry
    ) => Effect.Effect<void>
  }
>()("@berthkit/cli/commitmentLog/CommitmentLog") {
  /** The log in a file; without one nothing is kept. */
  static readonly layer = (path: string | undefined) => Layer.sync(CommitmentLog, () => make(path))
}

/** Keeps that a node was created with a committed option. */
export const keepCreated = (id: number, option: CommittedOption, sinceMillis: number) =>
  CommitmentLog.use((log) => log.update(id, () => created(id, option, sinceMillis)))

/** Keeps what was set of a node; `option` where the committed option is listed. */
export const keepSetting = (
  id: number,
  setting: CommitmentSetting,
  skuId: number | undefined,
  option: CommittedOption | undefined
) =>
  CommitmentLog.use((log) =>
    log.update(id, (before, now) => {
      const { days = null, priceInr = null } = option ?? {}
      return set(before, id, setting, { skuId: skuId ?? null, days, priceInr }, now)
    })
  )

const make = (path: string | undefined): CommitmentLog["Service"] => {
  if (path === undefined) return { load: Effect.succeed(new Map()), update: () => Effect.void }
  const text = Effect.orElseSucceed(readText(path), () => Option.none<string>())
  const load = Effect.map(text, (found): Entries => {
    const { entries } = Option.getOrElse(Option.flatMap(found, decode), () => ({ entries: [] }))
    return new Map(entries.map((each) => [each.id, each]))
  })
  return {
    load,
    update: (id, change) =>
      Effect.gen(function* () {
        // A file of a later version is not overwritten.
        const isLater = Option.exists(yield* text, (found) => /"version":\s*(?!1\b)\d/.test(found))
        if (isLater) return
        const entries = new Map(yield* load)
        const entry = change(entries.get(id), yield* Clock.currentTimeMillis)
        entries.delete(id)
        entries.set(id, entry)
        yield* writeAccountFile(path, encode({ version: 1, entries: Array.from(entries.values()).slice(-maxEntries) }))
      }).pipe(Effect.ignore)
  }
}
