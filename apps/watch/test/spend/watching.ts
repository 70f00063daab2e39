/**
 * An account with nodes and prices that appear, change and disappear at random, and its true spending. Sweeps and price reads, with long
 * pauses between them, watch the account. Nodes show either the slugs or the SKUs of plans that the catalogue lists under SKUs. Now
 * and then the ledger is written and read back, as in a store.
 */
import { DateTime } from "effect"
import { exactPrice } from "@berthkit/core/domain/Price"
import { numbersFrom } from "@berthkit/testing/chance"
import { unread, withPrices } from "../../src/diff/catalogue/Catalogue.ts"
import { diffCatalogue, noEvidence } from "../../src/diff/catalogue/diffCatalogue.ts"
import { unexplained } from "../../src/diff/Cause.ts"
import type { Difference } from "../../src/diff/diff.ts"
import type { Fact } from "../../src/diff/Fact.ts"
import type { NodeState } from "../../src/diff/Belief.ts"
import type { Snapshot } from "../../src/diff/Snapshot.ts"
import { beginWith, type Followed, followNodes, followPrices, plansOf } from "../../src/spend/follow.ts"
import { dayOf, monthOf } from "../../src/spend/calendar.ts"
import { type Days, daysFrom } from "../../src/spend/Days.ts"
import type { Ledger } from "../../src/spend/Ledger.ts"
import { readDay, readLedger, writeDay, writeLedger } from "../../src/spend/LedgerJson.ts"
import { openDays } from "../../src/spend/Ledger.ts"
import { aNode } from "../diff/aNode.ts"
import { anImage } from "../diff/catalogue/reading.ts"

const minute = 60_000
const hour = 60 * minute
const beginMillis = Date.UTC(2026, 0, 29, 7)

/** A real node. */
interface Life {
  readonly id: number
  readonly plan: string
  readonly image: string
  readonly createdMillis: number
  readonly goneMillis: number
  /** Whether its first record does not state its image. */
  readonly isShy: boolean
}

export interface History {
  readonly seed: number
  readonly hours: number
  readonly nodes: number
  /** Whether there are periods of hours or days in which nothing is observed. */
  readonly hasGaps: boolean
  /** Whether prices change. */
  readonly hasChanges: boolean
  /** Whether the price of a plan is missing at first, or always. */
  readonly hasUnknown: boolean
  /** Whether there is a sweep at each instant at which a node goes, and a read of prices whenever one changes. */
  readonly isExact: boolean
  /** Whether some existing nodes count as deleted and return later. */
  readonly hasReturns?: boolean
}

export interface Told {
  readonly lives: ReadonlyArray<Life>
  readonly seen: ReadonlySet<number>
  readonly priceAt: (life: Life, atMillis: number) => number | null
  /** Instants at which a price changes. */
  readonly changes: ReadonlyArray<number>
  readonly days: Days
  readonly ledger: Ledger
  readonly endMillis: number
  /** The width of each interval in which a node ended or a price changed. */
  readonly widths: ReadonlyArray<number>
  /** Writes of the ledger without a change of nodes or prices. */
  readonly idleWrites: number
}

/** The slug that a create takes; the catalogue lists the plan under its SKU. */
const slugOf = (plan: string, image: string) => `${plan}-with-${image}-not-large`

const groups = [
  ["small", "Ubuntu"],
  ["small", "Windows"],
  ["large", "Ubuntu"]
] as const

export const tell = (history: History): Told => {
  const next = numbersFrom(history.seed)
  const below = (count: number) => Math.floor(next() * count)
  const length = history.hours * hour
  const end = beginMillis + length

  const prices = new Map<string, ReadonlyArray<{ readonly atMillis: number; readonly paise: number | null }>>(
    groups.map(([plan, image], index) => {
      // Prices only rise, so a price between two reads lies between the prices that those reads returned.
      const steps: Array<{ readonly atMillis: number; readonly paise: number | null }> = []
      const isUnknown = history.hasUnknown && index > 0
      let paise = 100 + below(2000)
      steps.push({ atMillis: -Infinity, paise: isUnknown ? null : paise })
      if (isUnknown && next() < 0.5) steps.push({ atMillis: beginMillis + below(length), paise })
      else if (history.hasChanges && !isUnknown) {
        for (let n = below(4); n > 0; n--)
          steps.push({ atMillis: beginMillis + below(Math.max(1, length - 6 * hour)), paise: 0 })
        steps.sort((a, b) => a.atMillis - b.atMillis)
        for (let n = 1; n < steps.length; n++) steps[n] = { ...steps[n]!, paise: (paise += 1 + below(500)) }
      }
      return [`${plan} ${image}`, steps] as const
    })
  )
  const priceOf = (key: string, atMillis: number) =>
    prices.get(key)!.findLast((step) => step.atMillis <= atMillis)!.paise

  const lives = Array.from({ length: history.nodes }, (_, index): Life => {
    const [plan, image] = groups[below(groups.length)]!
    const isOld = next() < 0.3
    const createdMillis = isOld ? beginMillis - below(60 * 24 * hour) : beginMillis + below(length)
    const goneMillis = next() < 0.4 ? Infinity : Math.max(createdMillis, beginMillis) + 1 + below(length)
    return { id: index + 1, plan, image, createdMillis, goneMillis, isShy: next() < 0.2 }
  })

  const sweeps: Array<number> = []
  for (
    let at = beginMillis;
    at < end;
    at += history.hasGaps && next() < 0.02 ? below(80 * hour) : minute * (1 + below(40))
  ) {
    sweeps.push(at)
  }
  const reads: Array<number> = []
  let nearest = 0
  const isAwake = (at: number) => {
    while (nearest + 1 < sweeps.length && sweeps[nearest + 1]! <= at) nearest++
    return at - sweeps[nearest]! < 41 * minute
  }
  for (let at = beginMillis + minute; at < end; at += 10 * minute + below(30 * minute)) if (isAwake(at)) reads.push(at)
  if (history.isExact) {
    for (const { goneMillis } of lives) if (goneMillis < end) sweeps.push(goneMillis, goneMillis - 1)
    for (const steps of prices.values()) {
      for (const { atMillis } of steps) if (atMillis > 0) reads.push(atMillis - 1, atMillis)
    }
  }
  sweeps.push(end)
  // The daemon believes a change only after another read has shown it too.
  reads.push(end - 15 * minute, end)
  const moments = [...sweeps.map((at) => ({ at, isSweep: true })), ...reads.map((at) => ({ at, isSweep: false }))].sort(
    (a, b) => a.at - b.at
  )

  let catalogue = unread
  let evidence = noEvidence
  let ledger: Ledger | null = null
  let standing = { baselineMillis: null as number | null, sweptMillis: null as number | null }
  const nodes = new Map<number, { state: NodeState }>()
  const gone = new Set<number>()
  const seen = new Set<number>()
  const widths: Array<number> = []
  let idleWrites = 0
  const store = { body: "", rows: new Map<number, string>() }
  let order = 0

  const rowsNow = (): Days =>
    new Map(Array.from(store.rows, ([day, body]) => [day, readDay(body)] as const).sort(([a], [b]) => a - b))
  const keep = (followed: Followed, isIdle: boolean) => {
    if (followed.isDurable) {
      if (isIdle) idleWrites += 1
      store.body = writeLedger(followed.ledger)
      for (const day of followed.days) {
        const row = followed.ledger.days.get(day)
        if (row !== undefined) store.rows.set(day, writeDay(row))
      }
    }
    ledger = followed.ledger
  }
  const restart = (atMillis: number) => {
    if (ledger === null) return
    ledger = readLedger(store.body, openDays(daysFrom(rowsNow(), dayOf(monthOf(atMillis).fromMillis) - 40), atMillis))
  }

  const sweep = (atMillis: number) => {
    const moment = { order: ++order, atMillis, monotonicMillis: atMillis, serviceMillis: null }
    const facts: Array<Fact> = []
    const states: Array<NodeState> = []
    const before = { nodes: new Map(nodes), standing: { ...standing } } as unknown as Snapshot
    for (const life of lives) {
      const known = nodes.get(life.id)?.state
      const isThere = life.createdMillis <= atMillis && atMillis < life.goneMillis
      const identity = { nodeId: life.id, incarnation: 1, life: 1, version: 0 }
      if (isThere && !gone.has(life.id) && (known === undefined || known.node.image === null)) {
        seen.add(life.id)
        const image = known === undefined && life.isShy ? null : life.image
        const plan = history.seed % 2 === 0 ? slugOf(life.plan, life.image) : life.plan
        const node = aNode({ id: life.id, plan, image, createdAtMillis: life.createdMillis })
        const common = { incarnation: 1, life: 1, version: 0, listed: true, stuck: false, goneMillis: null }
        states.push({ node, ...common, seenMillis: atMillis, statusSinceMillis: atMillis })
      } else if (known !== undefined && known.goneMillis !== null) {
        if (atMillis < end && next() < 0.9) continue
        widths.push(atMillis - known.goneMillis)
        states.push({ ...known, life: known.life + 1, goneMillis: null })
      } else if (!isThere || (history.hasReturns === true && known?.node.image != null && next() < 0.01)) {
        if (known === undefined || (isThere && (life.goneMillis < Infinity || atMillis === end))) continue
        const since = standing.sweptMillis!
        // A node whose image was never stated may have the price of any of the images.
        widths.push(atMillis - (known.node.image === null ? life.createdMillis : since))
        if (!isThere) gone.add(life.id)
        states.push({ ...known, goneMillis: atMillis })
        const observedBetween = [DateTime.makeUnsafe(since), DateTime.makeUnsafe(atMillis)] as const
        facts.push({
          identity,
          atMillis,
          type: "berth.node.deleted",
          subject: `nodes/${life.id}`,
          data: { before: known.node, after: null, ...unexplained, observedBetween, sweep: null }
        })
      }
    }
    const after = { baselineMillis: standing.baselineMillis ?? atMillis, sweptMillis: atMillis }
    const difference = {
      facts,
      nodes: states,
      standing: after,
      exchange: { asked: moment, answered: moment }
    } as unknown as Difference
    const plans = plansOf(catalogue)
    const first = ledger === null ? beginWith([], plans, catalogue.readMillis, atMillis) : undefined
    const followed = followNodes(first?.ledger ?? ledger!, before, difference, plans, {
      sweepMillis: minute,
      isSweep: true
    })
    const isBlind = standing.sweptMillis !== null && atMillis - standing.sweptMillis > 3 * minute
    keep(
      {
        ...followed,
        isDurable: followed.isDurable || first !== undefined,
        days: [...(first?.days ?? []), ...followed.days]
      },
      states.length === 0 && first === undefined && !isBlind
    )
    standing = after
    for (const state of states) {
      if (gone.has(state.node.id)) nodes.delete(state.node.id)
      else nodes.set(state.node.id, { state })
    }
  }

  const read = (atMillis: number) => {
    const answered = { order: ++order, atMillis, monotonicMillis: atMillis, serviceMillis: null }
    const plans = ["small", "large"].map((plan) =>
      withPrices(
        { plan, vcpus: 1, memoryMib: 1024, diskGb: 10, series: "A" },
        new Map(
          groups
            .filter(([name]) => name === plan)
            .map(([, image]) => {
              const paise = priceOf(`${plan} ${image}`, atMillis)
              return [image, exactPrice(paise === null ? null : paise / 100, null)]
            })
        )
      )
    )
    const images = ["Ubuntu", "Windows"].map(anImage)
    const names = groups.map(([sku, image]) => ({ plan: slugOf(sku, image), sku, image }))
    const shown = { asked: answered, answered, plans, images, names }
    const difference = diffCatalogue(catalogue, evidence, shown, () => [])
    if (ledger !== null) {
      const confirmedMillis = Math.min(
        difference.catalogue.readMillis ?? -Infinity,
        ...Array.from(difference.evidence.doubts.values(), ({ fromMillis }) => fromMillis)
      )
      for (const { data } of difference.facts) {
        widths.push(DateTime.toEpochMillis(data.observedBetween[1]) - DateTime.toEpochMillis(data.observedBetween[0]))
      }
      if (
        difference.facts.length === 0 &&
        JSON.stringify(difference.catalogue.plans) !== JSON.stringify(catalogue.plans)
      ) {
        widths.push(atMillis - (catalogue.readMillis ?? atMillis))
      }
      const known = new Map(Array.from(nodes, ([id, { state }]) => [id, { state }])) as unknown as Snapshot["nodes"]
      keep(
        followPrices(ledger, catalogue, difference.catalogue, difference.facts, known, {
          nowMillis: atMillis,
          confirmedMillis
        }),
        false
      )
    }
    catalogue = difference.catalogue
    evidence = difference.evidence
  }

  for (const { at, isSweep } of moments) {
    if (isSweep) sweep(at)
    else read(at)
    if (next() < 0.05) restart(at)
  }
  return {
    lives,
    seen,
    priceAt: ({ image, plan }, atMillis) => priceOf(`${plan} ${image}`, atMillis),
    changes: Array.from(prices.values()).flatMap((steps) => steps.slice(1).map(({ atMillis }) => atMillis)),
    days: rowsNow(),
    ledger: ledger!,
    endMillis: end,
    widths,
    idleWrites
  }
}

/**
 * The true spending of the seen nodes in a period; null if a price was not stated. In millionths of a rupee per hour, times milliseconds.
 */
export const truthOf = ({ changes, lives, priceAt, seen }: Told, fromMillis: number, toMillis: number) => {
  let total = 0n
  let isStated = true
  const cuts = [fromMillis, ...changes.filter((at) => at > fromMillis && at < toMillis), toMillis].sort((a, b) => a - b)
  for (const life of lives.filter(({ id }) => seen.has(id))) {
    for (const [index, cut] of cuts.slice(0, -1).entries()) {
      const from = Math.max(cut, life.createdMillis)
      const to = Math.min(cuts[index + 1]!, life.goneMillis)
      if (to <= from) continue
      const paise = priceAt(life, cut)
      if (paise === null) isStated = false
      else total += BigInt(paise) * 10_000n * BigInt(to - from)
    }
  }
  return { total, isStated }
}
