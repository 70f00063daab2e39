/**
 * Fills a new world with its given nodes and with the nodes of its scenario (none, a few with saved images, or a fleet). The
 * scenario's nodes were created before the world's start, one minute apart, so they are running when the world starts.
 */
import { ruleFor } from "../lifecycle/NodeLife.ts"
import type { Offer } from "./catalogue.ts"
import { firstNodeId, fleetName, givenRecords, givenToday, scenarioSize, smallNames } from "./givenNodes.ts"
import type { NodeRecord } from "./NodeRecord.ts"
import { addSavedImage } from "./savedImages.ts"
import { deriveBelow } from "../lifecycle/seed.ts"
import { defaultPlace } from "./Today.ts"
import { offersAt } from "./todaysCatalogue.ts"
import * as World from "./World.ts"
import type { Scenario, WorldSettings } from "./WorldSettings.ts"

const use = { fleetOffer: 41 } as const

const minuteMillis = 60_000

/** A world at its start, as its settings describe it. */
export const begin = (settings: WorldSettings, realMillis: number, id?: string): World.World => {
  const world = World.make(settings, realMillis, id)
  const given = [...givenRecords(settings, world.latest)]
  const firstId = firstNodeId(settings.seed)
  const put = (node: NodeRecord) => {
    world.nodes.skipTo(node.id)
    World.put(world, node)
  }
  // Nodes are added by ascending id, and some given nodes may have ids below the first id that the world hands out.
  for (const node of given) if (node.id < firstId) put(node)
  world.nodes.skipTo(firstId)
  populate(world, settings.scenario)
  for (const node of given) if (node.id >= firstId) put(node)
  return world
}

/** How many nodes a world of these settings has at the start. */
export const startSize = ({ nodes, scenario }: WorldSettings): number => scenarioSize(scenario) + nodes.length

export const populate = (world: World.World, scenario: Scenario): void => {
  if (scenario === "empty") return
  if (scenario === "small") return populateSmall(world)
  for (let i = 1; i <= scenario.fleet; i++) {
    addRunning(world, fleetName(i), fleetOffer(world, i), scenario.fleet + 1 - i)
  }
}

const populateSmall = (world: World.World): void => {
  smallNames.forEach((name, index) => addRunning(world, name, fleetOffer(world, index), smallNames.length - index))
  for (const [index, name] of ["golden-web", "golden-database"].entries()) {
    addSavedImage(world, name, fleetOffer(world, 100 + index))
  }
}

const fleetOffer = (world: World.World, index: number): Offer => {
  const offers = offersAt(world.catalogue, world.settings.today && defaultPlace.location)
  return offers[deriveBelow(offers.length, world.settings.seed, use.fleetOffer, index)]!
}

const addRunning = (world: World.World, name: string, { image, plan }: Offer, minutesAgo: number): void => {
  const { provisioningJitterMillis, provisioningMillis } = ruleFor(world.settings.lifecycle, name)
  World.put(world, {
    id: world.nodes.nextId,
    name,
    plan,
    imageId: image.id,
    createdAt: world.latest - provisioningMillis - provisioningJitterMillis - minutesAgo * minuteMillis,
    deletedAt: null,
    commitment: null,
    backups: false,
    locked: false,
    ...(world.settings.today === undefined ? {} : { today: givenToday(defaultPlace, plan) })
  })
}
