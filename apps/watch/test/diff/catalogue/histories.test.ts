/**
 * Random histories of a catalogue behind a service that is stale, short, empty or fails, watched by processes that are restarted: what
 * is reported was so, once each, and in the end everything is known. A history that fails is repeated by its seed.
 */
import { describe, expect, it } from "@effect/vitest"
import { DateTime } from "effect"
import { eventId } from "../../../src/events/eventId.ts"
import type { CataloguePlan, EntryFact } from "../../../src/diff/CatalogueFact.ts"
import { type Chance, chanceFrom } from "../Chance.ts"
import { aPlan, readAt } from "./reading.ts"
import { brief, watching } from "./watching.ts"

type Offer = ReadonlyMap<string, number>

interface Change {
  readonly atMinutes: number
  readonly offer: Offer
}

/** What a plan is at an instant: its price; undefined where it is not offered. */
const statesBetween = (truth: ReadonlyArray<Change>, plan: string, from: number, to: number) =>
  truth
    .filter(({ atMinutes }, index) => atMinutes <= to && (truth[index + 1]?.atMinutes ?? Infinity) > from)
    .map(({ offer }) => offer.get(plan))

const changed = (chance: Chance, offer: Offer, serial: number): Offer => {
  const next = new Map(offer)
  const plans = [...offer.keys()]
  const plan = chance.oneOf(plans)
  const kind = chance.below(4)
  if (kind === 0) next.set(`plan-${serial}`, 100 + serial)
  else if (kind === 1 && plans.length > 8) next.delete(plan)
  else if (kind === 2) next.set(`plan-${chance.below(14)}`, 100 + serial)
  else next.set(plan, offer.get(plan)! + 1 + chance.below(9))
  return next
}

const shown = (offer: Offer): ReadonlyArray<CataloguePlan> => Array.from(offer, ([plan, price]) => aPlan(plan, price))

/** Half of the offer. */
const short = (chance: Chance, offer: Offer): Offer => {
  const plans = [...offer].map((entry) => [chance.below(1000), entry] as const).toSorted(([a], [b]) => a - b)
  return new Map(plans.slice(0, Math.floor(plans.length / 2)).map(([, entry]) => entry))
}

interface History {
  readonly facts: ReadonlyArray<EntryFact>
  readonly truth: ReadonlyArray<Change>
  readonly known: Offer
}

/** The service is stale in no two replies in a row; everything else it does at random. */
const history = (seed: number): History => {
  const chance = chanceFrom(seed)
  const watch = watching()
  const facts: Array<EntryFact> = []
  const first: Offer = new Map(Array.from({ length: 12 }, (_, index) => [`plan-${index}`, 100]))
  const truth: Array<Change> = [{ atMinutes: 0, offer: first }]
  let now = 0
  let wasStale = true
  let shortUntil = -1
  const read = (offer: Offer) => facts.push(...watch.take(readAt(now, shown(offer))))
  const readNow = (offer: Offer, isHonest: boolean) => {
    if (!isHonest && now < shortUntil) return read(short(chance, offer))
    if (!isHonest && chance.happens(0.1)) return facts.push(...watch.take(readAt(now, [])))
    if (!isHonest && chance.happens(0.05)) shortUntil = now + chance.below(12 * 60)
    if (!isHonest && !wasStale && chance.happens(0.2)) {
      wasStale = true
      return read(chance.oneOf(truth.slice(-3)).offer)
    }
    wasStale = false
    return read(offer)
  }
  for (let step = 0; step < 150; step++) {
    const { offer } = truth.at(-1)!
    // The baseline is of an honest service: what existed before it cannot be known.
    const isHonest = step < 4
    if (!isHonest && chance.happens(0.15)) truth.push({ atMinutes: now, offer: changed(chance, offer, step) })
    if (isHonest || !chance.happens(0.15)) readNow(truth.at(-1)!.offer, isHonest)
    if (!isHonest && chance.happens(0.05)) watch.restart()
    now += Math.ceil(watch.nextMillis() / 60_000) + (chance.happens(0.1) ? chance.below(300) : chance.below(4))
  }
  for (let step = 0; step < 60; step++) {
    read(truth.at(-1)!.offer)
    now += 30
  }
  const { plans } = watch.known()
  const offered = plans.filter(({ goneMillis }) => goneMillis === null)
  return { facts, truth, known: new Map(offered.map(({ item }) => [item.plan, item.pricePerMonthInr!])) }
}

const complaintsOf = ({ facts, known, truth }: History): ReadonlyArray<string> => {
  const complaints: Array<string> = []
  const ids = new Set<string>()
  const offered = new Map<string, number>(truth[0]!.offer)
  for (const fact of facts) {
    const id = eventId("acme", fact.type, fact.identity)
    if (ids.has(id)) complaints.push(`${brief(fact)}: its id repeats`)
    ids.add(id)
    if (!("before" in fact.data)) continue
    const { after, before, observedBetween } = fact.data
    const plan = fact.subject.slice("plans/".length)
    const price = (item: typeof before) => (item !== null && "plan" in item ? item.pricePerMonthInr! : undefined)
    if (offered.get(plan) !== price(before)) complaints.push(`${brief(fact)}: it goes on from something else`)
    if (after === null) offered.delete(plan)
    else offered.set(plan, price(after)!)
    const from = DateTime.toEpochMillis(observedBetween[0]) / 60_000
    if (!statesBetween(truth, plan, from, fact.atMillis / 60_000).includes(price(after))) {
      complaints.push(`${brief(fact)}: it never was so`)
    }
  }
  const last = truth.at(-1)!.offer
  const sorted = (offer: Offer) => JSON.stringify([...offer].toSorted())
  if (sorted(offered) !== sorted(last)) complaints.push("the events do not lead to what is offered in the end")
  if (sorted(known) !== sorted(last)) complaints.push("in the end something else is known")
  return complaints
}

describe("events about a catalogue with faults", () => {
  it("are the truth, once each, and complete", () => {
    let reported = 0
    for (let seed = 1; seed <= 60; seed++) {
      const watched = history(seed)
      reported += watched.facts.length
      expect([seed, complaintsOf(watched)]).toEqual([seed, []])
    }
    expect(reported).toBeGreaterThan(600)
  })

  it("are the same when a history is repeated", () => expect(history(7).facts).toEqual(history(7).facts))
})
