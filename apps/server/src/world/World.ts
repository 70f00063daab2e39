/**
 * A world: one account of the mock with its own nodes, saved images, catalogue, clock, allowance and seed. A world is plain
 * data. The rules are functions `(world, input, now)` in the modules next to this one. With the same seed, the same calls at
 * the same instants give the same replies, byte for byte.
 */
import { type ArmedFault, arm } from "../faults/ArmedFault.ts"
import { goneAt, phaseAt } from "../lifecycle/NodeLife.ts"
import * as Allowance from "./allowance.ts"
import type { Catalogue, SavedImage } from "./catalogue.ts"
import { catalogueOf } from "./catalogueOf.ts"
import { minNodeId } from "./givenNodes.ts"
import type { NodeRecord } from "./NodeRecord.ts"
import { NodeTable } from "./NodeTable.ts"
import { uniqueName } from "./Today.ts"
import type { WorldSettings } from "./WorldSettings.ts"
import * as VirtualClock from "../lifecycle/VirtualClock.ts"

/** The id of the world of the first account. */
export const defaultId = "default"

/** Keep references to a world and not to its fields, because a reset replaces the fields. */
export interface World {
  /** The world's name on the control plane: `default`, `w1`, … */
  readonly id: string
  settings: WorldSettings
  catalogue: Catalogue
  nodes: NodeTable
  savedImages: Array<SavedImage>
  /** Counts requests under the current rate limit. A reset restores the rate limit of the settings. */
  allowance: Allowance.Allowance
  clock: VirtualClock.VirtualClock
  /** The latest instant of the world, because its time must not go back even if the real clock does. */
  latest: number
  /**
   * When nodes will be gone, by id. With this map, a request need not search all nodes. It does not contain nodes that only a request can
   * end.
   */
  ends: Map<number, number>
  /** The first instant in `ends`; infinite if there is none. */
  nextEnd: number
  /** The id of the node that has a name, by `uniqueName`. Filled only if names must be unique. */
  holderOfName: Map<string, number>
  /** The most recently deleted nodes, the newest last. Faults that show the past need them. */
  gone: Array<NodeRecord>
  faults: ReadonlyArray<ArmedFault>
}

/** How many deleted nodes a world keeps. */
export const maxGone = 256

/** A world without nodes or saved images. `realMillis` is the real time at its start. */
export const make = (settings: WorldSettings, realMillis: number, id = defaultId): World => {
  const clock = VirtualClock.make(settings.clock, realMillis, settings.startAt)
  const now = VirtualClock.now(clock, realMillis)
  return {
    id,
    settings,
    catalogue: catalogueOf(settings),
    nodes: new NodeTable(minNodeId(settings)),
    savedImages: [],
    allowance: Allowance.make(settings.rateLimit),
    clock,
    latest: now,
    ends: new Map(),
    nextEnd: Number.POSITIVE_INFINITY,
    holderOfName: new Map(),
    gone: [],
    faults: arm(settings.faults, now)
  }
}

/** The world's current instant. The world's table may still contain nodes that have ended by then. */
export const instantOf = (world: World, realMillis: number): number =>
  (world.latest = Math.max(world.latest, VirtualClock.now(world.clock, realMillis)))

/** The world's current instant. Removes everything that has ended by then. */
export const enter = (world: World, realMillis: number): number => {
  const now = instantOf(world, realMillis)
  if (world.nextEnd <= now) removeGone(world, now)
  return now
}

/** Moves the world's clock on, whatever its mode, and returns the new instant. */
export const advance = (world: World, realMillis: number, byMillis: number): number => {
  world.clock = VirtualClock.advance(world.clock, realMillis, byMillis)
  return enter(world, realMillis)
}

/** Changes the speed of the world's time from now on, and returns the current instant. */
export const setClockMode = (world: World, realMillis: number, mode: VirtualClock.ClockMode): number => {
  world.clock = VirtualClock.setMode(world.clock, realMillis, mode)
  return instantOf(world, realMillis)
}

/**
 * Changes the rate limit and keeps the spent requests. Fields that `change` leaves out keep their values. Returns the new
 * rate limit; `undefined`, without any change, if such a window cannot be counted.
 */
export const changeRateLimit = (
  world: World,
  change: Partial<Allowance.RateLimit>,
  now: number
): Allowance.RateLimit | undefined => {
  const rateLimit = { ...world.allowance.rateLimit, ...change }
  if (!Allowance.canCount(rateLimit)) return undefined
  world.allowance = Allowance.withRateLimit(world.allowance, rateLimit, now)
  return rateLimit
}

/** Adds or replaces the record of a node, and notes when the node will be gone. */
export const put = (world: World, node: NodeRecord): void => {
  if (node.id === world.nodes.nextId) world.nodes.add(node)
  else world.nodes.replace(node)
  if (world.settings.uniqueNames) world.holderOfName.set(uniqueName(node.name, node.today), node.id)
  const end = goneAt(world.settings.seed, world.settings.lifecycle, node)
  if (end === Number.POSITIVE_INFINITY) return void world.ends.delete(node.id)
  world.ends.set(node.id, end)
  world.nextEnd = Math.min(world.nextEnd, end)
}

/** The status of a node at `now`. */
export const phase = (world: World, node: NodeRecord, now: number) =>
  phaseAt(world.settings.seed, world.settings.lifecycle, node, now)

/** Removes the nodes that the lifecycle says are gone, so that pages need not skip them. */
const removeGone = (world: World, now: number): void => {
  const due: Array<readonly [id: number, at: number]> = []
  world.nextEnd = Number.POSITIVE_INFINITY
  for (const end of world.ends) {
    if (end[1] <= now) due.push(end)
    else world.nextEnd = Math.min(world.nextEnd, end[1])
  }
  due.sort(([a, atA], [b, atB]) => atA - atB || a - b)
  for (const [id] of due) {
    world.ends.delete(id)
    const node = world.nodes.get(id)
    if (node === undefined) continue
    world.gone.push(node)
    if (world.gone.length > maxGone) world.gone.shift()
    const name = uniqueName(node.name, node.today)
    if (world.holderOfName.get(name) === id) world.holderOfName.delete(name)
  }
  world.nodes.removeAll(new Set(due.map(([id]) => id)))
}
