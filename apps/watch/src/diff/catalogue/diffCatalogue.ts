/**
 * Decides what a read of the catalogue adds to the knowledge. Pure. A change is believed if two reads some time apart, and all reads
 * between them, have shown it. An empty catalogue proves nothing. If many entries are missing from a catalogue, they count as removed only
 * after they were missing for a day.
 */
import { sumInr } from "@berthkit/core/domain/Money"
import { type Price, priceKey } from "@berthkit/core/domain/Price"
import type { CataloguePlan, EntryFact } from "../CatalogueFact.ts"
import { between, instantsOf, ofAccount } from "../Fact.ts"
import type { Moment } from "../Observation.ts"
import { type Catalogue, type CatalogueRead, pricesOf, withPrices } from "./Catalogue.ts"
import { withNames } from "./PlanNames.ts"

/** Minimum time between the first read that shows a change and the read that proves it. */
export const agreementMillis = 10 * 60_000

/** The minimum for an entry that was reported removed and is back. It is longer, because the reply may be an old one. */
const returnMillis = 60 * 60_000

/** The minimum for entries that are missing together with many others. */
const holdMillis = 24 * 60 * 60_000

/** If two reads are further apart than this, the time in between counts as not observed. */
const gapMillis = 2 * 60 * 60_000

/**
 * The missing images or plans count as many if there are at least `minShort` of them and they are at least `shortShare` of
 * all.
 */
const minShort = 3
const shortShare = 0.25

/** A difference that is not believed yet. */
interface Doubt {
  /** The content of all reads since the first, as a string. A read with another content ends the doubt. */
  readonly shows: string
  readonly first: Moment
  /** The time of the last read that agreed with what is known: the change happened after it. */
  readonly fromMillis: number
  /** How long it must last. */
  readonly requiredMillis: number
  readonly afterGap: boolean
}

/** What only this process saw. */
export interface CatalogueEvidence {
  /** The last read of this process; null if there was none. */
  readonly lastRead: Moment | null
  /**
   * The first read, or the last later read that showed something new; null before the first read. Used until there is a
   * baseline.
   */
  readonly firstRead: Moment | null
  readonly doubts: ReadonlyMap<string, Doubt>
}

export const noEvidence: CatalogueEvidence = { lastRead: null, firstRead: null, doubts: new Map() }

export interface CatalogueDifference {
  readonly catalogue: Catalogue
  readonly evidence: CatalogueEvidence
  readonly facts: ReadonlyArray<EntryFact>
}

/** The image of each node on a plan; null if unknown. */
export type NodesOn = (plan: string) => ReadonlyArray<string | null>

type Kind = "images" | "plans"
type Entry = Catalogue[Kind][number]
type Item = Entry["item"]

const keyOf = (item: Item): string => ("image" in item ? `images/${item.image}` : `plans/${item.plan}`)

const hasSameEntries = (a: ReadonlyArray<Entry>, b: ReadonlyArray<Entry>): boolean =>
  a.length === b.length && a.every((entry, index) => entry === b[index])

/** Whether two plans have the same prices. Their prices are sorted, so they can be compared as strings. */
const hasSamePrices = (a: CataloguePlan, b: CataloguePlan): boolean =>
  a.prices.length === b.prices.length &&
  a.prices.every((price, index) => {
    const other = b.prices[index]!
    return (
      price.images.length === other.images.length &&
      priceKey(price) === priceKey(other) &&
      price.images.every((image, at) => image === other.images[at])
    )
  })

const isStated = (price: Price): boolean => price.maxPricePerHourInr !== null || price.maxPricePerMonthInr !== null

/** Whether the two prices differ in a bound that both of them state. */
const isOtherPrice = (known: Price, shown: Price): boolean =>
  (["minPricePerHourInr", "maxPricePerHourInr", "minPricePerMonthInr", "maxPricePerMonthInr"] as const).some(
    (bound) => known[bound] !== null && shown[bound] !== null && known[bound] !== shown[bound]
  )

/**
 * The changed prices of the images that both entries have, each price once, as a string; empty if there are none. The string does
 * not depend on which images are missing from a reply.
 */
const otherPrices = (known: Item, shown: Item): string => {
  if (!("plan" in known) || !("plan" in shown) || hasSamePrices(known, shown)) return ""
  const before = pricesOf(known)
  const others = Array.from(pricesOf(shown)).flatMap(([image, price]) => {
    const was = before.get(image)
    return was !== undefined && isOtherPrice(was, price) ? [`${priceKey(was)} > ${priceKey(price)}`] : []
  })
  return Array.from(new Set(others)).toSorted().join(", ")
}

/**
 * The shown entry, completed with known values that it does not state. Returns the known object itself if the two are equal.
 */
const filled = (known: Item, shown: Item): Item => {
  const arePlans = "plan" in known && "plan" in shown
  const hasOtherPrices = arePlans && !hasSamePrices(known, shown)
  const stated = Object.entries(shown).filter(
    ([field, value]) => value !== null && field !== "prices" && value !== known[field as keyof Item]
  )
  if (stated.length === 0 && !hasOtherPrices) return known
  const item = { ...known, ...Object.fromEntries(stated) } as Item
  if (!hasOtherPrices || !("plan" in item)) return item
  const before = pricesOf(known)
  // If a price has changed, the known prices of other images may be outdated, so they are dropped.
  const prices = new Map(otherPrices(known, shown) === "" ? before : [])
  for (const [image, price] of pricesOf(shown)) {
    const was = before.get(image)
    prices.set(image, isStated(price) || was === undefined ? price : was)
  }
  return withPrices(item, prices)
}

interface Change {
  readonly key: string
  readonly known: Entry | undefined
  readonly shown: Item | undefined
}

/** The different prices of a plan, as a string that does not depend on which of its images are shown. */
const priceOf = (item: Item): string => ("plan" in item ? item.prices.map(priceKey).toSorted().join(", ") : "")

/** The difference between `shown` and the known entry, as a string; null if no event would report it. */
const showsOf = ({ known, shown }: Change): string | null => {
  // The first price of a plan is believed like any other price: once two reads have shown it.
  if (known === undefined || known.goneMillis !== null) return shown === undefined ? null : `offered ${priceOf(shown)}`
  if (shown === undefined) return "absent"
  return otherPrices(known.item, shown) || null
}

const changesOf = (known: Catalogue, read: CatalogueRead, kind: Kind): ReadonlyArray<Change> => {
  const entries = new Map<string, Entry>(known[kind].map((entry) => [keyOf(entry.item), entry]))
  const items = new Map<string, Item>(read[kind].map((item) => [keyOf(item), item]))
  return Array.from(new Set([...entries.keys(), ...items.keys()]), (key) => ({
    key,
    known: entries.get(key),
    shown: items.get(key)
  }))
}

/** Whether so many entries are missing that the read may show only a part of the catalogue. */
const isShort = (changes: ReadonlyArray<Change>): boolean => {
  const present = changes.filter(({ known }) => known !== undefined && known.goneMillis === null)
  const missing = present.filter(({ shown }) => shown === undefined).length
  return missing >= minShort && missing >= shortShare * present.length
}

const requiredMillis = ({ known, shown }: Change, isShort: boolean): number =>
  shown === undefined && isShort
    ? holdMillis
    : known !== undefined && known.goneMillis !== null
      ? returnMillis
      : agreementMillis

/** The doubt about an entry after a read; undefined if the read agrees with what is known. */
const doubtAfter = (
  change: Change,
  isShort: boolean,
  before: Doubt | undefined,
  now: Moment,
  { lastRead }: CatalogueEvidence,
  { readMillis }: Catalogue
): Doubt | undefined => {
  const shows = showsOf(change)
  if (shows === null) return undefined
  const required = requiredMillis(change, isShort)
  // An entry that was missing together with many others keeps the longer time, even after some of the others are back.
  if (before?.shows === shows) return { ...before, requiredMillis: Math.max(before.requiredMillis, required) }
  return {
    shows,
    first: now,
    fromMillis: before?.fromMillis ?? readMillis ?? now.atMillis,
    requiredMillis: required,
    afterGap: before?.afterGap ?? (lastRead === null || now.monotonicMillis - lastRead.monotonicMillis > gapMillis)
  }
}

const isBelieved = ({ first, requiredMillis }: Doubt, now: Moment): boolean =>
  first !== now && now.monotonicMillis - first.monotonicMillis >= requiredMillis

/** The monthly price of each node; null if its image is unknown and the plan has several prices. */
const perMonth = (plan: CataloguePlan, images: ReadonlyArray<string | null>): ReadonlyArray<number | null> => {
  const prices = pricesOf(plan)
  return images.map((image) => ((image === null ? undefined : prices.get(image)) ?? plan).pricePerMonthInr)
}

const difference = (
  before: CataloguePlan,
  after: CataloguePlan,
  images: ReadonlyArray<string | null>
): number | null => {
  const [was, is] = [perMonth(before, images), perMonth(after, images)]
  if ([...was, ...is].includes(null)) return null
  return sumInr([...is.map((price) => price ?? 0), ...was.map((price) => -(price ?? 0))])
}

const factOf = (
  { key, known, shown }: Change,
  version: number,
  doubt: Doubt,
  now: Moment,
  nodesOn: NodesOn
): EntryFact => {
  const observedBetween = instantsOf(between(doubt.fromMillis, doubt.first.atMillis))
  const common = { identity: ofAccount(`${key} ${version}`), atMillis: now.atMillis, subject: key }
  const observed = { observedBetween, ...(doubt.afterGap ? { afterGap: true as const } : {}) }
  const before = known === undefined || known.goneMillis !== null ? undefined : known.item
  const after = shown === undefined || before === undefined ? shown : filled(before, shown)
  if (before === undefined) {
    return "image" in after!
      ? { ...common, type: "berth.image.added", data: { before: null, after, ...observed } }
      : { ...common, type: "berth.plan.added", data: { before: null, after: after!, ...observed } }
  }
  if ("image" in before) return { ...common, type: "berth.image.removed", data: { before, after: null, ...observed } }
  const images = nodesOn(before.plan)
  const nodes = images.length
  if (after === undefined) {
    return { ...common, type: "berth.plan.removed", data: { before, after: null, nodes, ...observed } }
  }
  const data = { before, after: after as CataloguePlan, nodes }
  const differencePerMonthInr = difference(data.before, data.after, images)
  return { ...common, type: "berth.plan.price_changed", data: { ...data, differencePerMonthInr, ...observed } }
}

/** What `read` proves. */
export const diffCatalogue = (
  catalogue: Catalogue,
  evidence: CatalogueEvidence,
  read: CatalogueRead,
  nodesOn: NodesOn
): CatalogueDifference => {
  if (read.images.length === 0 || read.plans.length === 0) return { catalogue, evidence, facts: [] }
  const named = withOthers(catalogue, read)
  return catalogue.isBaseline ? compare(named, evidence, read, nodesOn) : gather(named, evidence, read)
}

/** The known plans. If the price of a plan is now in another currency, its old price in rupees is removed. */
const withoutRupees = (known: Catalogue["plans"], { foreignPrices = [], plans }: CatalogueRead): Catalogue["plans"] => {
  const foreign = new Set(foreignPrices.map(({ plan }) => plan))
  const shown = new Map(plans.flatMap((plan) => (foreign.has(plan.plan) ? [[plan.plan, plan] as const] : [])))
  const after = known.map((entry) => {
    const now = shown.get(entry.item.plan)
    return now === undefined || hasSamePrices(entry.item, now)
      ? entry
      : { ...entry, item: withPrices(entry.item, pricesOf(now)) }
  })
  return hasSameEntries(known, after) ? known : after
}

/** Adds the names of plans, and prices in other currencies. They are believed at once, because no event reports them. */
const withOthers = (before: Catalogue, read: CatalogueRead): Catalogue => {
  const { foreignPrices = [], names = [] } = read
  const plans = withoutRupees(before.plans, read)
  const catalogue = plans === before.plans ? before : { ...before, plans }
  const known = catalogue.names ?? []
  const all = withNames(known, names)
  const hasSamePrices = JSON.stringify(catalogue.foreignPrices ?? []) === JSON.stringify(foreignPrices)
  return all === known && hasSamePrices
    ? catalogue
    : { ...catalogue, ...(all.length > 0 && { names: all }), ...(!hasSamePrices && { foreignPrices }) }
}

/**
 * Before the baseline, every offered entry becomes known without an event. The baseline is complete when a later read shows
 * nothing new.
 */
const gather = (catalogue: Catalogue, evidence: CatalogueEvidence, read: CatalogueRead): CatalogueDifference => {
  const now = read.answered
  const [images, plans] = (["images", "plans"] as const).map((kind) => changesOf(catalogue, read, kind))
  const all = [...images!, ...plans!]
  const hasNew = all.some(
    ({ known, shown }) => known === undefined || (shown !== undefined && otherPrices(known.item, shown) !== "")
  )
  const isComplete = !isShort(images!) && !isShort(plans!)
  const first = evidence.firstRead
  const required = isComplete ? agreementMillis : holdMillis
  const isBaseline = !hasNew && first !== null && now.monotonicMillis - first.monotonicMillis >= required
  const entryOf = ({ known, shown }: Change): Entry => {
    const item = known === undefined ? shown : shown === undefined ? known.item : filled(known.item, shown)
    return { item, version: 0, goneMillis: null } as Entry
  }
  return {
    catalogue: {
      ...catalogue,
      isBaseline,
      readMillis: now.atMillis,
      images: images!.map(entryOf) as Catalogue["images"],
      plans: plans!.map(entryOf) as Catalogue["plans"]
    },
    evidence: { ...evidence, lastRead: now, firstRead: hasNew ? now : (first ?? now) },
    facts: []
  }
}

const compare = (
  catalogue: Catalogue,
  evidence: CatalogueEvidence,
  read: CatalogueRead,
  nodesOn: NodesOn
): CatalogueDifference => {
  const now = read.answered
  const doubts = new Map<string, Doubt>()
  const facts: Array<EntryFact> = []
  const after = (kind: Kind): ReadonlyArray<Entry> => {
    const changes = changesOf(catalogue, read, kind)
    const short = isShort(changes)
    return changes.flatMap((change): ReadonlyArray<Entry> => {
      const { key, known, shown } = change
      const doubt = doubtAfter(change, short, evidence.doubts.get(key), now, evidence, catalogue)
      if (doubt !== undefined && isBelieved(doubt, now)) {
        const version = (known?.version ?? 0) + 1
        facts.push(factOf(change, version, doubt, now, nodesOn))
        const item = shown === undefined ? known!.item : known === undefined ? shown : filled(known.item, shown)
        return [{ item, version, goneMillis: shown === undefined ? now.atMillis : null } as Entry]
      }
      if (doubt !== undefined) doubts.set(key, doubt)
      if (known === undefined) return []
      // Differences that do not count as changes, such as a name or a first price, are taken over without an event.
      const item = doubt === undefined && shown !== undefined ? filled(known.item, shown) : known.item
      return [item === known.item ? known : ({ ...known, item } as Entry)]
    })
  }
  const images = after("images") as Catalogue["images"]
  const plans = after("plans") as Catalogue["plans"]
  const isChanged = !hasSameEntries(images, catalogue.images) || !hasSameEntries(plans, catalogue.plans)
  return {
    catalogue: { ...catalogue, ...(isChanged ? { images, plans } : {}), readMillis: now.atMillis },
    evidence: { ...evidence, lastRead: now, doubts },
    facts
  }
}

/** When to read the catalogue next: soon if a change is in doubt. */
export const nextReadMillis = (
  { isBaseline }: Catalogue,
  { doubts, lastRead }: CatalogueEvidence,
  quietMillis: number
): number => {
  if (!isBaseline) return agreementMillis
  const due = Array.from(
    doubts.values(),
    ({ first, requiredMillis }) => first.monotonicMillis + requiredMillis - (lastRead ?? first).monotonicMillis
  )
  return Math.min(quietMillis, Math.max(agreementMillis, Math.min(...due)))
}
