/**
 * A service over a `World` that answers wrongly in every way that the daemon must withstand. Each kind of fault comes and goes at random,
 * alone or together with others. Lists are wrong about nodes with even ids and single reads about nodes with odd ids, so list and read deny
 * one node together only if that is the fault.
 */
import type { Node, NodeId } from "@berthkit/core/domain/Node"
import type { Chance } from "../Chance.ts"
import { aNode } from "../aNode.ts"
import { type Life, nodeAt, wasTerminating, type World } from "./World.ts"

export const faultKinds = [
  /** The list leaves out some nodes, or all. */
  "hidden",
  /** A list leaves out any node, and the next two have it, as when pages shift. */
  "blink",
  /** Reads of some nodes answer 404. */
  "denied",
  /** List and reads deny a node or two for less than the grace. */
  "flicker",
  /** List and reads deny a group of nodes that is too large to be believed. */
  "outOfSight",
  /** The list shows an older state. */
  "staleList",
  /** For a moment, a read shows an older state. */
  "staleRead",
  /** The first lists leave out most nodes. */
  "shortStart",
  /** One request in five fails, some with a rate limit. */
  "errors",
  /** All requests fail. */
  "outage",
  /** Some records cannot be read. */
  "badRecords",
  /** The order of the pages changes. */
  "disorder"
] as const
export type FaultKind = (typeof faultKinds)[number]

/** Kinds that last for some time and come back. */
const lasting = [
  "hidden",
  "blink",
  "denied",
  "flicker",
  "outOfSight",
  "staleList",
  "errors",
  "outage",
  "badRecords",
  "disorder"
] as const

/**
 * How long list and reads may deny nodes that exist: less than the grace, and less than the hold, after which the daemon would believe
 * them.
 */
const maxDurations: ReadonlyMap<FaultKind, number> = new Map([
  ["flicker", 55_000],
  ["outOfSight", 600_000]
])

/** The minimum time between two denials. If no request is answered in between, two of them close together count as one long denial. */
const minInSightMillis = 1_800_000

interface Active {
  readonly sinceMillis: number
  readonly untilMillis: number
  readonly ids: ReadonlySet<number>
}

export type Answer = Node | "missing" | "failed"

export interface Page {
  readonly nodes: ReadonlyArray<Node>
  readonly unreadable: ReadonlyArray<NodeId>
  readonly nameless: number
  /** The ids of the first and the last record, even if these are unreadable; null and 0 without records. */
  readonly firstId: NodeId | null
  readonly lastId: number
}

export class Service {
  /** The times in which all requests failed. */
  readonly outages: Array<readonly [fromMillis: number, toMillis: number]> = []
  /** Whether another account answers. */
  stranger = false
  readonly #world: World
  readonly #chance: Chance
  readonly #kinds: ReadonlySet<FaultKind>
  readonly #active = new Map<FaultKind, Active>()
  /** By node: the last sweep in which the fault `blink` hid it. */
  readonly #blinks = new Map<number, number>()
  #sweep = 0
  readonly #staleReads = new Map<number, number>()
  readonly #beganMillis: number
  #inSightUntilMillis = 0
  #calm = false

  constructor(world: World, chance: Chance, { kinds }: { readonly kinds: ReadonlyArray<FaultKind> }, atMillis: number) {
    this.#world = world
    this.#chance = chance
    this.#kinds = new Set(kinds)
    this.#beganMillis = atMillis
  }

  /** From now on every answer is true. */
  heal(): void {
    this.#calm = true
    this.stranger = false
    this.#active.clear()
  }

  /** Faults begin and end; `known` are the nodes that the daemon knows, by id when each was created. */
  turn(atMillis: number, known: ReadonlyMap<number, number>): void {
    if (this.#calm) return
    const { below, happens } = this.#chance
    for (const kind of lasting) {
      const active = this.#active.get(kind)
      if (active !== undefined) {
        if (atMillis >= active.untilMillis) this.#active.delete(kind)
      } else if (this.#kinds.has(kind) && happens(0.05)) {
        const maxMillis = maxDurations.get(kind) ?? 2_400_000
        const untilMillis = atMillis + below(happens(0.5) ? Math.min(120_000, maxMillis) : maxMillis)
        const ids = this.#chosen(kind, known)
        if (maxDurations.has(kind)) {
          if (ids.size === 0 || atMillis < this.#inSightUntilMillis) continue
          this.#inSightUntilMillis = untilMillis + minInSightMillis
        }
        this.#active.set(kind, { sinceMillis: atMillis, untilMillis, ids })
        if (kind === "outage") this.outages.push([atMillis, untilMillis])
      }
    }
  }

  /** The nodes that a fault affects. */
  #chosen(kind: FaultKind, known: ReadonlyMap<number, number>): ReadonlySet<number> {
    const { below, happens } = this.#chance
    const alive = this.#world.alive
    const isAll = happens(0.2)
    const some = (lives: ReadonlyArray<Life>) => new Set(lives.filter(() => isAll || happens(0.4)).map(({ id }) => id))
    if (kind === "hidden") return some(alive.filter(({ id }) => id % 2 === 0))
    if (kind === "denied") return some(alive.filter(({ id }) => id % 2 === 1))
    if (!maxDurations.has(kind)) return new Set()
    // A life that the daemon has not seen yet does not count in a group, even if its id is known from an earlier life.
    const candidates = alive
      .filter((life) => known.get(life.id) === life.createdMillis && !wasTerminating(life))
      .map(({ id }) => id)
    if (kind === "flicker") return new Set(candidates.filter((id) => id % 2 === 0).slice(0, 1 + below(2)))
    const min = Math.max(3, Math.ceil(known.size * 0.1))
    if (candidates.length < min) return new Set()
    return new Set(candidates.toSorted(() => below(3) - 1).slice(0, min + below(candidates.length - min + 1)))
  }

  fails(): boolean {
    return this.#active.has("outage") || (this.#active.has("errors") && this.#chance.happens(0.2))
  }

  /** A page of the list: up to `size` records from `start` on. */
  page(start: number, size: number, atMillis: number, isSweep = false): Page {
    if (isSweep && start === 0) this.#sweep++
    const listed = (this.stranger ? strangers : this.#listed(atMillis)).slice(start, start + size)
    const [firstId, lastId] = [listed[0]?.id ?? null, listed.at(-1)?.id ?? 0]
    if (this.stranger) return { nodes: listed, unreadable: [], nameless: 0, firstId, lastId }
    const nodes: Array<Node> = []
    const unreadable: Array<NodeId> = []
    let nameless = 0
    for (const node of listed) {
      const isBad = this.#active.has("badRecords") && node.id % 2 === 0 && this.#chance.happens(0.1)
      if (!isBad) nodes.push(node)
      else if (this.#chance.happens(0.7)) unreadable.push(node.id)
      else nameless++
    }
    return { nodes, unreadable, nameless, firstId, lastId }
  }

  #listed(atMillis: number): ReadonlyArray<Node> {
    const { below } = this.#chance
    const stale = this.#active.get("staleList")
    const hidden = this.#active.get("hidden")?.ids
    const asOf = stale === undefined ? atMillis : stale.sinceMillis - 300_000
    const isShort = this.#kinds.has("shortStart") && !this.#calm && atMillis < this.#beganMillis + 45_000
    // The list in its older state: with nodes that are gone now, without new ones.
    const lives = this.#world.lives.filter(({ createdMillis, goneMillis, id }) => {
      const at = id % 2 === 0 ? asOf : atMillis
      return createdMillis <= at && goneMillis > at
    })
    const nodes = lives
      .filter(({ id }) => hidden?.has(id) !== true && !this.#isDenied(id, atMillis))
      .filter(({ id }) => !this.#isBlinking(id))
      .filter(({ id }) => !isShort || id % 7 === Math.floor(atMillis / 20_000) % 7)
      .map((life) => nodeAt(life, life.id % 2 === 0 ? asOf : atMillis))
      .sort((a, b) => a.id - b.id)
    // If pages are out of order, a list may leave out any node, so reads must not deny any node at the same time.
    return this.#active.has("disorder") && !this.#kinds.has("denied") ? nodes.toSorted(() => below(3) - 1) : nodes
  }

  #isBlinking(id: number): boolean {
    if (!this.#active.has("blink")) return false
    const last = this.#blinks.get(id) ?? -Infinity
    if (last === this.#sweep) return true
    if (last + 2 >= this.#sweep || !this.#chance.happens(0.05)) return false
    this.#blinks.set(id, this.#sweep)
    return true
  }

  /** A read of one node. */
  read(id: number, atMillis: number): Answer {
    if (this.stranger) return "missing"
    const life = this.#world.find(id)
    if (this.#isDenied(id, atMillis)) return "missing"
    if (this.#active.get("denied")?.ids.has(id) === true) return "missing"
    if (this.#active.has("badRecords") && id % 2 === 0 && this.#chance.happens(0.1)) return "failed"
    if (this.#isStale(id, atMillis)) {
      const before = this.#world.lives.findLast((other) => other.id === id && other.createdMillis < atMillis - 60_000)
      if (before !== undefined) return nodeAt(before, Math.min(atMillis, before.goneMillis) - 60_000)
    }
    return life === undefined ? "missing" : nodeAt(life, atMillis)
  }

  /** Whether list and reads deny a node together. */
  #isDenied(id: number, atMillis: number): boolean {
    return [...maxDurations.keys()].some((kind) => {
      const active = this.#active.get(kind)
      return active !== undefined && atMillis < active.untilMillis && active.ids.has(id)
    })
  }

  /** Stale reads are shorter than any grace, and do not return soon. */
  #isStale(id: number, atMillis: number): boolean {
    if (this.#calm || !this.#kinds.has("staleRead") || id % 2 === 0) return false
    const since = this.#staleReads.get(id) ?? -Infinity
    if (atMillis < since + 4000) return true
    if (atMillis < since + 900_000 || !this.#chance.happens(0.2)) return false
    this.#staleReads.set(id, atMillis)
    return true
  }
}

const strangers = [1, 2, 3, 4].map((n) => aNode({ id: 1_000_000 + n }))
