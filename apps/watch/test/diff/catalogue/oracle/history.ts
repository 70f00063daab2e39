/**
 * Random histories of a catalogue behind its `Service`, watched by processes that are restarted and whose clock is set. The verdict: every
 * report is true and comes once, and in the end everything is known. A failed history can be repeated by its seed.
 */
import { DateTime } from "effect"
import type { CataloguePlan, EntryFact } from "../../../../src/diff/CatalogueFact.ts"
import { type CatalogueRead, offeredBy } from "../../../../src/diff/catalogue/Catalogue.ts"
import { eventId } from "../../../../src/events/Event.ts"
import { chanceFrom } from "../../Chance.ts"
import { brief, watching } from "../watching.ts"
import { type Change, type FaultKind, faultKinds, type Offer, Service, surchargeOf } from "./Service.ts"

export interface History {
  readonly seed: number
  readonly kinds: ReadonlyArray<FaultKind>
  readonly restarts: boolean
  /** Whether the wall clock is set back and forth. */
  readonly steps: boolean
}

export const historyOf = (seed: number): History => {
  const { happens, oneOf } = chanceFrom(seed)
  const share = oneOf([0.2, 0.5, 1])
  return { seed, kinds: faultKinds.filter(() => happens(share)), restarts: happens(0.5), steps: happens(0.2) }
}

export interface Watched {
  readonly history: History
  readonly facts: ReadonlyArray<EntryFact>
  readonly truth: ReadonlyArray<Change>
  /** The catalogue that the watcher knows in the end. */
  readonly known: Offer
}

const minute = 60_000
const nodesPerPlan = 3

/** The cost of a plan without the cost of its images; null if no image has a price, NaN if the images disagree. */
const basePrice = ({ prices }: CataloguePlan): number | null => {
  const bases = new Set(
    prices.flatMap(({ images, pricePerMonthInr }) =>
      pricePerMonthInr === null ? [] : images.map((image) => pricePerMonthInr - surchargeOf(image))
    )
  )
  const [base = null] = bases
  return bases.size <= 1 ? base : Number.NaN
}

/** The number of reads while the service changes and answers wrongly, and the number of reads afterwards. */
const reads = 150
const calmReads = 60

/** The baseline needs an honest service, because nothing from before it can be known. */
const baselineReads = 4

export const watch = (history: History): Watched => {
  const chance = chanceFrom(history.seed)
  const { below, happens } = chance
  const service = new Service(chance, history.kinds)
  const daemon = watching(() => ["image-0", "image-1", "image-2"].slice(0, nodesPerPlan))
  const facts: Array<EntryFact> = []
  let minutes = 0
  let order = 0
  let stepMinutes = 0
  const read = () => {
    const list = service.read(minutes)
    if (list === undefined) return
    const monotonicMillis = minutes * minute
    const atMillis = (minutes + stepMinutes) * minute
    const moment = { order: ++order, atMillis, monotonicMillis, serviceMillis: null }
    const taken: CatalogueRead = { asked: moment, answered: moment, ...offeredBy(list) }
    facts.push(...daemon.take(taken))
  }
  for (let count = 0; count < reads; count++) {
    service.calm = count < baselineReads
    if (count >= baselineReads) {
      if (happens(0.15)) service.happen(minutes)
      if (history.restarts && happens(0.05)) daemon.restart()
      if (history.steps && happens(0.05)) stepMinutes = below(3000) - 1500
    }
    read()
    minutes += Math.ceil(daemon.nextMillis() / minute) + (happens(0.1) ? below(300) : below(4))
  }
  service.calm = true
  for (let count = 0; count < calmReads; count++) {
    read()
    minutes += 30
  }
  const { images, plans } = daemon.known()
  const offered = plans.filter(({ goneMillis }) => goneMillis === null)
  return {
    history,
    facts,
    truth: service.truth,
    known: {
      plans: new Map(offered.map(({ item }) => [item.plan, basePrice(item)!])),
      images: new Set(images.flatMap(({ goneMillis, item }) => (goneMillis === null ? [item.image] : [])))
    }
  }
}

/** The state of an entry at an instant: the price of a plan, 0 for an image; undefined if it is not offered. */
const stateOf = ({ images, plans }: Offer, subject: string): number | undefined => {
  const [kind, name] = subject.split("/", 2) as [string, string]
  return kind === "plans" ? plans.get(name) : images.has(name) ? 0 : undefined
}

const statesBetween = (truth: ReadonlyArray<Change>, subject: string, fromMinutes: number, toMinutes: number) =>
  truth
    .filter(
      ({ atMinutes }, index) => atMinutes <= toMinutes && (truth[index + 1]?.atMinutes ?? Infinity) >= fromMinutes
    )
    .map(({ offer }) => stateOf(offer, subject))

const entriesOf = ({ images, plans }: Offer): string =>
  JSON.stringify([Array.from(plans).toSorted(), Array.from(images).toSorted()])

/** Complaints about the reports; none if all reports are right. */
export const judge = ({ facts, history, known, truth }: Watched): ReadonlyArray<string> => {
  const complaints: Array<string> = []
  const ids = new Set<string>()
  const first = truth[0]!.offer
  const plans = new Map(first.plans)
  const images = new Set(first.images)
  const unpriced = new Set<string>()
  for (const fact of facts) {
    const { data, subject } = fact
    const id = eventId("acme", fact.type, fact.identity)
    if (ids.has(id)) complaints.push(`${brief(fact)}: its id repeats`)
    ids.add(id)
    const name = subject.slice(subject.indexOf("/") + 1)
    const [from, to] = [DateTime.toEpochMillis(data.observedBetween[0]), fact.atMillis].map((at) => at / minute)
    // The states between the read before the first one that showed the change and the read that proved it.
    const was = statesBetween(truth, subject, from!, to!)
    const state = (item: typeof data.before | typeof data.after) =>
      // A plan without a price in any reply gets its price later, without an event.
      item === null ? undefined : "plan" in item ? (basePrice(item) ?? was.at(-1)) : 0
    const [before, after] = [state(data.before), state(data.after)]
    const known = unpriced.has(name) ? before : stateOf({ plans, images }, subject)
    if (known !== before) complaints.push(`${brief(fact)}: it goes on from something else`)
    if (data.after !== null && "plan" in data.after && basePrice(data.after) === null) unpriced.add(name)
    else unpriced.delete(name)
    if (subject.startsWith("images/")) {
      images.delete(name)
      if (after !== undefined) images.add(name)
    } else if (after === undefined) plans.delete(name)
    else plans.set(name, after)
    if (!history.steps && !was.includes(after)) complaints.push(`${brief(fact)}: it never was so`)
    if (fact.type === "berth.plan.price_changed") {
      const { differencePerMonthInr } = fact.data
      const expected = nodesPerPlan * (after! - before!)
      if (differencePerMonthInr !== null && differencePerMonthInr !== expected)
        complaints.push(`${brief(fact)}: it costs less`)
    }
  }
  for (const name of unpriced) plans.set(name, truth.at(-1)!.offer.plans.get(name)!)
  const last = entriesOf(truth.at(-1)!.offer)
  if (entriesOf({ plans, images }) !== last) complaints.push("the events do not lead to what is offered in the end")
  if (entriesOf(known) !== last) complaints.push("in the end something else is known")
  return complaints
}

/** Complaints about the histories of these seeds, each with the history, to repeat it. */
export const complaintsOf = (fromSeed: number, count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => historyOf(fromSeed + index)).flatMap((history) =>
    judge(watch(history)).map((complaint) => `${complaint} in ${JSON.stringify(history)}`)
  )
