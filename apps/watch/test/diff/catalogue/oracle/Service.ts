/**
 * A catalogue that changes at random, behind a service that answers wrongly in every way that the daemon must withstand. Faults come alone
 * or together. Each lasts for less time than the daemon's repeated reads and its patience cover.
 */
import type { Image } from "@berthkit/core/domain/Image"
import type { Chance } from "../../Chance.ts"

export const faultKinds = [
  /** A reply shows an older state, never twice in a row. */
  "stale",
  /** For hours, each reply leaves out a different half of the plans or images. */
  "short",
  /** A reply leaves out one or two entries, never two in a row. */
  "blink",
  /** A reply has no images at all. */
  "empty",
  /** A reply has another price, never two in a row. */
  "price",
  /** A reply has no prices. */
  "unpriced",
  /** The order of the list changes, and so does the first image of a plan. */
  "disorder",
  /** A request fails. */
  "failed"
] as const
export type FaultKind = (typeof faultKinds)[number]

/** The offer: the monthly price of each plan, and the images. */
export interface Offer {
  readonly plans: ReadonlyMap<string, number>
  readonly images: ReadonlySet<string>
}

export interface Change {
  readonly atMinutes: number
  readonly offer: Offer
}

/** Less than the day after which a short catalogue is believed. */
const maxShortMinutes = 20 * 60

/** If half of this many entries is missing, at least three known ones are missing, even if many are new. */
const minOffered = 11

/** The price that an image adds to any plan. */
export const surchargeOf = (image: string): number => (/[02468]$/.test(image) ? 7 : 0)

const without = <A>(all: Iterable<A>, gone: ReadonlySet<A>): ReadonlyArray<A> =>
  Array.from(all).filter((each) => !gone.has(each))

export class Service {
  readonly truth: Array<Change>
  readonly #chance: Chance
  readonly #kinds: ReadonlySet<FaultKind>
  #serial = 0
  #shortUntilMinutes = -Infinity
  #isShortOfPlans = false
  /** Whether the last reply had a fault that the daemon would believe if two replies in a row showed it. */
  #wasWrong = true
  #calm = true

  constructor(chance: Chance, kinds: ReadonlyArray<FaultKind>) {
    const plans = new Map(Array.from({ length: 16 }, (_, index) => [`plan-${index}`, 100]))
    const images = new Set(Array.from({ length: 14 }, (_, index) => `image-${index}`))
    this.truth = [{ atMinutes: 0, offer: { plans, images } }]
    this.#chance = chance
    this.#kinds = new Set(kinds)
  }

  get offer(): Offer {
    return this.truth.at(-1)!.offer
  }

  /** From now on answers may be wrong, or all of them are true. */
  set calm(calm: boolean) {
    this.#calm = calm
  }

  /** The offer changes. */
  happen(atMinutes: number): void {
    const { below, happens, oneOf } = this.#chance
    const plans = new Map(this.offer.plans)
    const images = new Set(this.offer.images)
    this.#serial++
    if (happens(0.4)) {
      const image = happens(0.5) ? `new-${this.#serial}` : `image-${below(14)}`
      if (images.has(image) && images.size > minOffered) images.delete(image)
      else images.add(image)
    } else {
      const plan = oneOf([...plans.keys()])
      const kind = below(4)
      if (kind === 0) plans.set(`new-${this.#serial}`, 100 + this.#serial)
      else if (kind === 1 && plans.size > minOffered) plans.delete(plan)
      else if (kind === 2) plans.set(`plan-${below(16)}`, 300 + this.#serial)
      else plans.set(plan, plans.get(plan)! + 1 + below(9))
    }
    this.truth.push({ atMinutes, offer: { plans, images } })
  }

  #fires(kind: FaultKind, probability: number): boolean {
    return !this.#calm && this.#kinds.has(kind) && this.#chance.happens(probability)
  }

  /** A reply; undefined if the request fails. */
  read(atMinutes: number): ReadonlyArray<Image> | undefined {
    if (this.#fires("failed", 0.2)) return undefined
    if (this.#fires("empty", 0.1)) return []
    const { offer, isWrong } = this.#shown(atMinutes)
    this.#wasWrong = isWrong
    return this.#records(offer)
  }

  #shown(atMinutes: number): { readonly offer: Offer; readonly isWrong: boolean } {
    const { below, happens, oneOf } = this.#chance
    const { offer } = this
    if (this.#fires("short", 0.05) && atMinutes > this.#shortUntilMinutes) {
      this.#shortUntilMinutes = atMinutes + below(maxShortMinutes)
      this.#isShortOfPlans = happens(0.5)
    }
    if (!this.#calm && atMinutes < this.#shortUntilMinutes) return { offer: this.#half(offer), isWrong: false }
    if (this.#wasWrong) return { offer, isWrong: false }
    if (this.#fires("stale", 0.2)) return { offer: oneOf(this.truth.slice(-4)).offer, isWrong: true }
    if (this.#fires("blink", 0.2)) {
      const gonePlans = new Set([oneOf([...offer.plans.keys()]), oneOf([...offer.plans.keys()])])
      const goneImages = new Set([oneOf([...offer.images])])
      const plans = new Map([...offer.plans].filter(([plan]) => !gonePlans.has(plan)))
      return { offer: { plans, images: new Set(without(offer.images, goneImages)) }, isWrong: true }
    }
    if (this.#fires("price", 0.2)) {
      const plans = new Map(offer.plans)
      plans.set(oneOf([...plans.keys()]), below(1000))
      return { offer: { ...offer, plans }, isWrong: true }
    }
    return { offer, isWrong: false }
  }

  /** Removes half of the plans or of the images, and leaves the rest unchanged. */
  #half({ images, plans }: Offer): Offer {
    const drawn = <A>(all: Iterable<A>) => {
      const order = Array.from(all, (each) => [this.#chance.below(1_000_000), each] as const)
      return order.toSorted(([a], [b]) => a - b).map(([, each]) => each)
    }
    return this.#isShortOfPlans
      ? { images, plans: new Map(drawn(plans).slice(0, Math.floor(plans.size / 2))) }
      : { plans, images: new Set(drawn(images).slice(0, Math.floor(images.size / 2))) }
  }

  /** Each image with each plan. Some images cost more. */
  #records({ images, plans }: Offer): ReadonlyArray<Image> {
    const { below } = this.#chance
    const isUnpriced = this.#fires("unpriced", 0.2)
    const records = Array.from(images).flatMap((image) =>
      Array.from(plans, ([plan, price]) => record(image, plan, isUnpriced ? null : price + surchargeOf(image)))
    )
    return this.#fires("disorder", 0.5) ? records.toSorted(() => below(3) - 1) : records
  }
}

const record = (image: string, plan: string, price: number | null): Image => ({
  name: image,
  plan,
  image,
  os: { name: "Ubuntu", version: "24.04", image: null },
  zone: null,
  sku: null,
  available: null,
  specs: {
    memoryMib: 1024,
    vcpus: 1,
    diskGb: 15,
    pricePerMonthInr: price,
    pricePerHourInr: price === null ? null : price / 730,
    series: "A",
    minimumBillingInr: null,
    foreignPrice: null,
    committedOptions: []
  },
  extra: {}
})
