/**
 * What berth has set of an account's commitments: the service takes them and never shows them again. A record for each node, safe to
 * lose: it knows nothing of what the portal has set, and berth says so wherever it is shown. It also has the purchase whose outcome is
 * unknown, so that no command sends it a second time.
 */
import { type CommitmentSetting, commitmentSettings, type CommittedOption } from "@berthkit/core/domain/Commitment"
import { shareInr, timesInr } from "@berthkit/core/domain/Money"
import { exactPrice, type Price } from "@berthkit/core/domain/Price"
import { RecordStore } from "@berthkit/core/client/state/RecordStore"
import { Clock, DateTime, Effect, Schema } from "effect"
import { recordsOf } from "../state/Kind.ts"
import { hoursPerMonth } from "./orderCost.ts"

const dayMillis = 86_400_000

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
  untilMillis: Schema.NullOr(Schema.Int),
  /** The option that the setting has bought, which may differ from that of the period that runs. */
  purchase: Schema.optional(Schema.Struct({ skuId: Schema.NullOr(Schema.Int), days: Schema.NullOr(Schema.Int) }))
})
export interface Entry extends Schema.Schema.Type<typeof Entry> {}

/** A purchase that was sent, or is about to be, and whose outcome is not known yet. */
const Open = Schema.Struct({
  id: Schema.Int,
  sentMillis: Schema.Int,
  setting: Schema.Literals(commitmentSettings),
  skuId: Schema.NullOr(Schema.Int),
  /** The length of the period, where it is known. */
  days: Schema.optional(Schema.Int)
})
export interface Open extends Schema.Schema.Type<typeof Open> {}

type Purchase = Pick<Open, "id" | "setting" | "skuId">

/** What is in the way of a purchase. */
export type Obstacle =
  | { readonly _tag: "Open"; readonly open: Open }
  /** This machine has bought the same for the node. */
  | { readonly _tag: "Bought"; readonly bought: Bought }

/** What is kept of a node. */
const OfNode = Schema.Struct({
  version: Schema.Literal(1),
  id: Schema.Int,
  entry: Schema.NullOr(Entry),
  open: Schema.NullOr(Open)
})
interface OfNode extends Schema.Schema.Type<typeof OfNode> {}

const records = recordsOf({
  kind: "commitment",
  schema: OfNode,
  keyOf: ({ id }) => String(id),
  cannot: "Berth cannot note what it buys, so it sends nothing"
})

/** What is sent. */
export interface CommitmentOrder {
  readonly setting: CommitmentSetting
  readonly skuId: number | undefined
}

/** Whether a setting pays for a period: at once, or when the running one ends. */
export const buysPeriod = ({ setting, skuId = 0 }: CommitmentOrder): boolean => setting === "auto_renew" || skuId !== 0

/** A node that was created with a committed option; `setting` where the create said what happens at its end. */
export const created = (
  id: number,
  { days, priceInr, skuId }: CommittedOption,
  nowMillis: number,
  setting?: CommitmentSetting
): Entry => ({
  id,
  setMillis: nowMillis,
  setting: setting ?? null,
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
): Entry => {
  const { days, skuId } = option
  const purchase = buysPeriod({ setting, skuId: skuId ?? undefined }) ? { purchase: { skuId, days } } : {}
  if (before !== undefined && (isRunning(before, nowMillis) || (before.untilMillis === null && skuId === null))) {
    const { purchase: _before, ...kept } = before
    return { ...kept, setMillis: nowMillis, setting, ...purchase }
  }
  return { id, setMillis: nowMillis, setting, ...option, untilMillis: null, ...purchase }
}

/** What berth has bought for a node, and another request would buy again. */
export interface Bought {
  /** Null for a period that the create of the node has bought. */
  readonly setting: CommitmentSetting | null
  readonly skuId: number | null
  readonly days: number | null
  readonly setMillis: number
}

/** What is bought for a node by its entry, until it is over or another setting has taken its place. */
const boughtOf = (entry: Entry | undefined, nowMillis: number): Bought | undefined => {
  if (entry === undefined) return undefined
  const { days, purchase, setMillis, setting, skuId } = entry
  // Bought by the create, which may also have said what happens at the end.
  if (setting === null || (purchase === undefined && setting !== "auto_renew" && isRunning(entry, nowMillis)))
    return isRunning(entry, nowMillis) ? { setting: null, skuId, days, setMillis } : undefined
  const bought = purchase ?? (setting === "auto_renew" ? { skuId, days } : undefined)
  if (bought === undefined) return undefined
  const isOver = setting !== "auto_renew" && bought.days !== null && setMillis + bought.days * dayMillis <= nowMillis
  return isOver ? undefined : { setting, setMillis, ...bought }
}

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

/**
 * What is lost if the node is deleted now: the rest of its committed period. Undefined if none is known to run. The service does not say when a
 * period began that was bought for an existing node.
 */
const lossOf = (entry: Entry | undefined, nowMillis: number): string | undefined => {
  if (entry === undefined || entry.days === null) return undefined
  const { days, priceInr, setting, untilMillis } = entry
  const period = `${days} days ${priceInr === null ? "at a price that is not known" : `for ₹${priceInr.toFixed(2)}`}`
  if (isRunning(entry, nowMillis)) {
    const end = DateTime.formatIso(DateTime.makeUnsafe(untilMillis ?? 0)).slice(0, 10)
    return `its committed period of ${period} runs until ${end}, and the rest of it is lost`
  }
  // Without a renewal it has ended by then, whenever it began.
  if (setting !== "auto_renew" && entry.setMillis + days * dayMillis <= nowMillis) return undefined
  return `its committed period of ${period} may still run, and the rest of it is lost`
}

/** Keeps that a node was created with a committed option; now where it is not known when. */
export const keepCreated = (
  id: number,
  option: CommittedOption,
  since: DateTime.Utc | null,
  setting?: CommitmentSetting
) =>
  commitmentLog.update(id, (_, nowMillis) =>
    created(id, option, since === null ? nowMillis : DateTime.toEpochMillis(since), setting)
  )

/** Keeps what was set of a node; `option` where the committed option is listed. */
export const keepSetting = (
  id: number,
  setting: CommitmentSetting,
  skuId: number | undefined,
  option: CommittedOption | undefined
) =>
  commitmentLog.update(id, (before, now) => {
    const { days = null, priceInr = null } = option ?? {}
    return set(before, id, setting, { skuId: skuId ?? null, days, priceInr }, now)
  })

/** A purchase in words. */
export const orderText = ({ days, setting, skuId }: Pick<Open, "setting" | "skuId" | "days">): string => {
  if (skuId !== null) return `${setting} with the committed option ${skuId}`
  return days === undefined ? setting : `${setting} for ${days} days`
}

/** Reads the log; the function says what is lost with a node, certainly or perhaps. */
export const lossesOf = Effect.gen(function* () {
  const entries = yield* commitmentLog.load
  const unsure = yield* commitmentLog.opens
  const nowMillis = yield* Clock.currentTimeMillis
  return (id: number) => {
    const open = unsure.get(id)
    const perhaps =
      open && `${orderText(open)} was sent for it and got no reply: a period of it may be paid, and is lost then`
    const losses = [lossOf(entries.get(id), nowMillis), perhaps].filter((loss) => loss !== undefined)
    return losses.length === 0 ? undefined : losses.join("; ")
  }
})

/** What is bought, by node, as this machine knows it. */
export const boughtByNode = Effect.gen(function* () {
  const entries = yield* commitmentLog.load
  const nowMillis = yield* Clock.currentTimeMillis
  return new Map(
    Array.from(entries.values()).flatMap((entry) => {
      const bought = boughtOf(entry, nowMillis)
      return bought === undefined ? [] : [[entry.id, bought] as const]
    })
  )
})

/** What is in the way of a purchase. */
const obstacle = (
  { entry, open }: Pick<OfNode, "entry" | "open">,
  { setting, skuId }: Purchase,
  nowMillis: number
): Obstacle | undefined => {
  if (open !== null) return { _tag: "Open", open }
  const bought = boughtOf(entry ?? undefined, nowMillis)
  return bought?.setting === setting && bought.skuId === skuId ? { _tag: "Bought", bought } : undefined
}

const nothing = { entry: null, open: null }

/** What is known of the nodes, by their ids; none where the records cannot be read. */
const byNode = <A>(of: (record: OfNode) => A | null) =>
  Effect.map(
    Effect.orElseSucceed(records.all, () => ({ values: [] })),
    ({ values }): ReadonlyMap<number, A> =>
      new Map(
        values.flatMap((record) => {
          const found = of(record)
          return found === null ? [] : [[record.id, found] as const]
        })
      )
  )

const find = (id: number) => Effect.map(records.get(String(id)), (found) => found ?? nothing)

/** Changes what is kept of a node; what stays the same is not written. Without a store nothing is kept. */
const change = <A>(
  id: number,
  by: (before: Pick<OfNode, "entry" | "open">, nowMillis: number) => readonly [result: A, after: Partial<OfNode>]
) =>
  Effect.flatMap(RecordStore, (store) =>
    store === undefined
      ? Effect.undefined
      : records.change(
          String(id),
          Effect.fnUntraced(function* (before = { version: 1, id, ...nothing }) {
            const [result, after] = by(before, yield* Clock.currentTimeMillis)
            if (Object.keys(after).length > 0) yield* records.put({ ...before, ...after })
            return result
          })
        )
  )

export const commitmentLog = {
  /** The entries by node; none where they cannot be read. */
  load: byNode(({ entry }) => entry),
  /** The purchases whose outcome is unknown, by node; none where they cannot be read. */
  opens: byNode(({ open }) => open),
  /** Keeps what has become of a node, if it can be kept. */
  update: (id: number, changed: (before: Entry | undefined, nowMillis: number) => Entry): Effect.Effect<void> =>
    change(id, ({ entry }, now) => [undefined, { entry: changed(entry ?? undefined, now) }]).pipe(
      Effect.andThen(
        records.trim(maxEntries, ({ entry, open }) => (open === null ? (entry?.setMillis ?? 0) : Number.MAX_VALUE))
      ),
      Effect.ignore
    ),
  /** The purchase for a node whose outcome is unknown. Fails if that cannot be read. */
  openOf: (id: number) => Effect.map(find(id), ({ open }) => open ?? undefined),
  /** What is in the way of a purchase: an open one, or the same one. Fails if that cannot be read. */
  obstacleTo: (purchase: Purchase) =>
    Effect.zipWith(find(purchase.id), Clock.currentTimeMillis, (found, now) => obstacle(found, purchase, now)),
  /**
   * Notes that a purchase is about to be sent; with `again` also if something is in the way. Succeeds with what is in the way otherwise.
   * The note is on the disk when this ends.
   */
  begin: (purchase: Open, again: boolean) =>
    change<Obstacle | undefined>(purchase.id, (before, nowMillis) => {
      const found = again ? undefined : obstacle(before, purchase, nowMillis)
      return [found, found === undefined ? { open: purchase } : {}]
    }),
  /** Removes that note, once the outcome is known. */
  end: (id: number) => change(id, ({ open }) => [undefined, open === null ? {} : { open: null }])
}
