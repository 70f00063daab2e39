/**
 * Records the commitments that berth has set, because the service accepts commitments and never reports them. There is
 * one record per node. The log is safe to lose. It does not know commitments that were set in the portal, and berth
 * says so wherever it shows a commitment. The log also holds purchases with an unknown outcome, so that no command
 * sends them again.
 */
import { type CommitmentSetting, commitmentSettings, type CommittedOption } from "@berthkit/core/domain/Commitment"
import { shareInr, timesInr } from "@berthkit/core/domain/Money"
import { exactPrice, hoursPerMonth, type Price } from "@berthkit/core/domain/Price"
import { RecordStore } from "@berthkit/core/client/state/RecordStore"
import { Clock, DateTime, Effect, Schema } from "effect"
import { recordsOf } from "../state/Kind.ts"

const dayMillis = 86_400_000

/** At most this many nodes are kept; the oldest settings are dropped. */
const maxEntries = 1000

const Entry = Schema.Struct({
  id: Schema.Int,
  setMillis: Schema.Int,
  /** What happens at the end of the period; null if unset, which means billing by the hour. */
  setting: Schema.NullOr(Schema.Literals(commitmentSettings)),
  /** The committed option that was passed last; null if none was. */
  skuId: Schema.NullOr(Schema.Int),
  days: Schema.NullOr(Schema.Int),
  priceInr: Schema.NullOr(Schema.Number),
  /** End of the period that began with the create; null if the start of the period is unknown. */
  untilMillis: Schema.NullOr(Schema.Int),
  /** The option that the setting bought. The running period may have another option. */
  purchase: Schema.optional(Schema.Struct({ skuId: Schema.NullOr(Schema.Int), days: Schema.NullOr(Schema.Int) }))
})
export interface Entry extends Schema.Schema.Type<typeof Entry> {}

/** A purchase that was sent, or is about to be, and whose outcome is unknown. */
const Open = Schema.Struct({
  id: Schema.Int,
  sentMillis: Schema.Int,
  setting: Schema.Literals(commitmentSettings),
  skuId: Schema.NullOr(Schema.Int),
  /** The length of the period in days, if known. */
  days: Schema.optional(Schema.Int)
})
export interface Open extends Schema.Schema.Type<typeof Open> {}

type Purchase = Pick<Open, "id" | "setting" | "skuId">

/** Why a purchase must not be sent. */
export type Obstacle =
  | { readonly _tag: "Open"; readonly open: Open }
  /** This machine has already bought the same period for the node. */
  | { readonly _tag: "Bought"; readonly bought: Bought }

/** The record of a node. */
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

/** A commitment request as it is sent. */
export interface CommitmentOrder {
  readonly setting: CommitmentSetting
  readonly skuId: number | undefined
}

/** Whether a setting pays for a period, at once or when the running one ends. */
export const buysPeriod = ({ setting, skuId = 0 }: CommitmentOrder): boolean => setting === "auto_renew" || skuId !== 0

/** The record of a node that was created with a committed option. `setting` is set if the create named a setting. */
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

/** Records a new setting of a node. A running period continues; an option that was sent with the setting applies after that period. */
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

/** A period that berth has bought for a node and that another request would buy again. */
export interface Bought {
  /** Null for a period that the node's create has bought. */
  readonly setting: CommitmentSetting | null
  readonly skuId: number | null
  readonly days: number | null
  readonly setMillis: number
}

/** The period that was bought according to an entry. Undefined after the period has ended or another setting has replaced it. */
const boughtOf = (entry: Entry | undefined, nowMillis: number): Bought | undefined => {
  if (entry === undefined) return undefined
  const { days, purchase, setMillis, setting, skuId } = entry
  // The create bought the period. It may also have named the setting for the end of the period.
  if (setting === null || (purchase === undefined && setting !== "auto_renew" && isRunning(entry, nowMillis)))
    return isRunning(entry, nowMillis) ? { setting: null, skuId, days, setMillis } : undefined
  const bought = purchase ?? (setting === "auto_renew" ? { skuId, days } : undefined)
  if (bought === undefined) return undefined
  const isOver = setting !== "auto_renew" && bought.days !== null && setMillis + bought.days * dayMillis <= nowMillis
  return isOver ? undefined : { setting, setMillis, ...bought }
}

const isRunning = ({ untilMillis }: Entry, nowMillis: number): boolean =>
  untilMillis !== null && untilMillis > nowMillis

/** The hourly price of a node while its period is known to run: the price of the period divided by its hours. */
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
 * The loss if the node is deleted now: the rest of a committed period that runs or may run. Undefined if there is no such period. The
 * beginning of a period that was bought for an existing node is unknown, because the service does not report it.
 */
const lossOf = (entry: Entry | undefined, nowMillis: number): string | undefined => {
  if (entry === undefined) return undefined
  const { days, priceInr, purchase, setting, untilMillis } = entry
  if (days === null) {
    if (purchase === undefined) return undefined
    const option = purchase.skuId === null ? "" : ` of the option ${purchase.skuId}`
    return `a committed period${option}, whose length Berth does not know, may still run, and the rest of it is lost`
  }
  const period = `${days} days ${priceInr === null ? "at a price that is not known" : `for ₹${priceInr.toFixed(2)}`}`
  if (isRunning(entry, nowMillis)) {
    const end = DateTime.formatIso(DateTime.makeUnsafe(untilMillis ?? 0)).slice(0, 10)
    return `its committed period of ${period} runs until ${end}, and the rest of it is lost`
  }
  // If it is not renewed, the period has ended by now, even if its start is unknown.
  if (setting !== "auto_renew" && entry.setMillis + days * dayMillis <= nowMillis) return undefined
  return `its committed period of ${period} may still run, and the rest of it is lost`
}

/** Records that a node was created with a committed option. If the creation time is unknown, the period begins at the current time. */
export const keepCreated = (
  id: number,
  option: CommittedOption,
  since: DateTime.Utc | null,
  setting?: CommitmentSetting
) =>
  commitmentLog.update(id, (_, nowMillis) =>
    created(id, option, since === null ? nowMillis : DateTime.toEpochMillis(since), setting)
  )

/** Records a setting of a node. `option` is set if the committed option is listed. */
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

/** Describes a purchase. */
export const orderText = ({ days, setting, skuId }: Pick<Open, "setting" | "skuId" | "days">): string => {
  if (skuId !== null) return `${setting} with the committed option ${skuId}`
  return days === undefined ? setting : `${setting} for ${days} days`
}

/** Reads the log once; the returned function says what deleting a node loses, for certain or possibly. */
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

/** Purchases by node, as far as this machine knows. */
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

/** Nodes that the service deletes at the end of their period, as far as this machine knows. */
export const endingNodes = Effect.gen(function* () {
  const entries = yield* commitmentLog.load
  return new Set(Array.from(entries.values()).flatMap(({ id, setting }) => (setting === "auto_terminate" ? [id] : [])))
})

/** The obstacle to a purchase, if any. */
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

/** A field of every node's record, by id; empty if the records cannot be read. */
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

/** Changes a node's record, and writes it only if it differs. Does nothing without a store. */
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
  /** The entries by node; empty if they cannot be read. */
  load: byNode(({ entry }) => entry),
  /** The purchases with an unknown outcome, by node; empty if they cannot be read. */
  opens: byNode(({ open }) => open),
  /** Updates a node's entry, if the record can be written. */
  update: (id: number, changed: (before: Entry | undefined, nowMillis: number) => Entry): Effect.Effect<void> =>
    change(id, ({ entry }, now) => [undefined, { entry: changed(entry ?? undefined, now) }]).pipe(
      Effect.andThen(
        records.trim(maxEntries, ({ entry, open }) => (open === null ? (entry?.setMillis ?? 0) : Number.MAX_VALUE))
      ),
      Effect.ignore
    ),
  /** The node's purchase with an unknown outcome. Fails if the record cannot be read. */
  openOf: (id: number) => Effect.map(find(id), ({ open }) => open ?? undefined),
  /** The obstacle to a purchase: an earlier purchase that is unanswered or the same. Fails if the record cannot be read. */
  obstacleTo: (purchase: Purchase) =>
    Effect.zipWith(find(purchase.id), Clock.currentTimeMillis, (found, now) => obstacle(found, purchase, now)),
  /**
   * Records a purchase that is about to be sent; the record is on disk when this returns. If an obstacle exists,
   * records nothing and returns the obstacle. With `again`, ignores obstacles.
   */
  begin: (purchase: Open, again: boolean) =>
    change<Obstacle | undefined>(purchase.id, (before, nowMillis) => {
      const found = again ? undefined : obstacle(before, purchase, nowMillis)
      return [found, found === undefined ? { open: purchase } : {}]
    }),
  /** Removes the record of a purchase whose outcome is now known. */
  end: (id: number) => change(id, ({ open }) => [undefined, open === null ? {} : { open: null }])
}
