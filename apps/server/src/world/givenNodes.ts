/**
 * The nodes that a world has from the start: the number and names of the scenario's nodes, and the check and the records of
 * the given nodes. A record depends only on the settings and on the start of the world, so a reset brings the same nodes
 * back.
 */
import { didYouMean, nearest } from "@berthkit/terminal/usage"
import { ruleFor, phaseAt } from "../lifecycle/NodeLife.ts"
import { deriveBelow } from "../lifecycle/seed.ts"
import type { Catalogue, Offer, Plan } from "./catalogue.ts"
import { catalogueOf } from "./catalogueOf.ts"
import type { NodeRecord } from "./NodeRecord.ts"
import type { Problems } from "./Refusal.ts"
import { defaultPlace, givenDiskGb, nameProblem, type NodeToday, type Place, type Today, uniqueName } from "./Today.ts"
import { offersAt } from "./todaysCatalogue.ts"
import type { GivenNode, Scenario, WorldSettings } from "./WorldSettings.ts"

export const smallNames: ReadonlyArray<string> = ["web-1", "web-2", "database", "build", "backup"]

/** The name of a node of the scenario `fleet`. Numbers start at 1. */
export const fleetName = (number: number): string => `fleet-${number}`

export const scenarioSize = (scenario: Scenario): number =>
  scenario === "empty" ? 0 : scenario === "small" ? smallNames.length : scenario.fleet

/** Whether a node of the scenario has this name. */
const isScenarioName = (scenario: Scenario, name: string): boolean => {
  if (typeof scenario === "string") return scenario === "small" && smallNames.includes(name)
  const number = Number(/^fleet-([1-9]\d{0,8})$/.exec(name)?.[1])
  return number <= scenario.fleet && fleetName(number) === name
}

/** Maximum number of invalid nodes that get suggestions of similar slugs. A longer list most likely repeats one mistake. */
const maxHints = 20

const use = { firstNodeId: 31 } as const

/** The first id that a world of this seed hands out. */
export const firstNodeId = (seed: number): number => 10_000 + deriveBelow(90_000, seed, use.firstNodeId)

/** The smallest id that a node of the world may have. */
export const minNodeId = ({ nodes, seed }: WorldSettings): number =>
  nodes.reduce((least, { id = least }) => Math.min(least, id), firstNodeId(seed))

/** The place of a given node; undefined in a world of the documented interface, which has no places. */
const placeOf = (today: Today | undefined, { location, project }: GivenNode): Place | undefined =>
  today === undefined
    ? undefined
    : { projectId: project ?? defaultPlace.projectId, location: location ?? defaultPlace.location }

/** The extra data of an initial node of this plan and place. */
export const givenToday = (place: Place, { diskGb }: Plan): NodeToday => ({
  ...place,
  diskGb: diskGb === 0 ? givenDiskGb : diskGb
})

const offerOf = (catalogue: Catalogue, { image, plan }: GivenNode, place: Place | undefined): Offer | undefined =>
  offersAt(catalogue, place?.location).find(
    (offer) =>
      (plan === undefined || offer.plan.slug === plan) &&
      (image === undefined || offer.image.slug === image || offer.image.id === image)
  )

/**
 * What is wrong with the given nodes, by path, such as `nodes.3.plan`. No node may have been created after the world's
 * start.
 */
export const nodeProblems = (settings: WorldSettings, startMillis = Number.POSITIVE_INFINITY): Problems => {
  const { nodes, scenario, seed, today, uniqueNames } = settings
  const catalogue = catalogueOf(settings)
  const firstId = firstNodeId(seed)
  const ids = new Set<number>()
  const names = new Set<string>()
  const problems: Record<string, ReadonlyArray<string>> = {}
  let hints = 0
  const unknown = (what: string, wanted: string, known: Iterable<string>): string => {
    const near = hints++ < maxHints ? nearest(wanted, [...known]).slice(0, 3) : []
    return `There is no ${what} ${wanted}${near.length === 0 ? ": the image list of this world has them." : didYouMean(near)}`
  }
  for (const [index, node] of nodes.entries()) {
    const report = (field: keyof GivenNode, sentence: string) => (problems[`nodes.${index}.${field}`] = [sentence])
    const { createdAt, id, image, name, plan } = node
    const place = placeOf(today, node)
    if (id !== undefined) {
      if (ids.has(id)) report("id", `Another node has the id ${id}.`)
      if (id >= firstId && id < firstId + scenarioSize(scenario)) {
        report("id", `A node of the scenario has the id ${id}.`)
      }
      ids.add(id)
    }
    const unique = uniqueName(name, place)
    const isOfScenario =
      (place === undefined || place.projectId === defaultPlace.projectId) && isScenarioName(scenario, name)
    if (uniqueNames && (names.has(unique) || isOfScenario))
      report("name", "Another node has this name, and names are unique here.")
    names.add(unique)
    const wrongName = place === undefined ? undefined : nameProblem(name)
    if (wrongName !== undefined) report("name", wrongName)
    for (const field of ["project", "location"] as const)
      if (place === undefined && node[field] !== undefined) report(field, "Only with the dialect today.")
    if (plan !== undefined && !catalogue.planBySlug.has(plan)) {
      report("plan", unknown("plan", plan, catalogue.planBySlug.keys()))
    } else if (image !== undefined && !catalogue.imageBySlug.has(String(image)) && !hasImage(catalogue, image)) {
      report("image", unknown("image", String(image), catalogue.imageBySlug.keys()))
    } else if (offerOf(catalogue, node, place) === undefined) {
      const isElsewhere = place !== undefined && offerOf(catalogue, node, undefined) !== undefined
      if (isElsewhere) report("plan", `This plan is not one of ${place.location}.`)
      else report("image", `The image ${image} does not go with the plan ${plan}.`)
    }
    if (createdAt !== undefined && createdAt > startMillis) report("createdAt", "This is after the start of the world.")
  }
  return problems
}

const hasImage = (catalogue: Catalogue, image: string | number): boolean =>
  typeof image === "number" && catalogue.imageById.has(image)

/** Yields the records of the given nodes by ascending id. The nodes must be valid. */
export function* givenRecords(settings: WorldSettings, startMillis: number): Generator<NodeRecord> {
  const taken = new Set(settings.nodes.map(({ id }) => id))
  let nextId = firstNodeId(settings.seed) + scenarioSize(settings.scenario)
  const freeId = () => {
    while (taken.has(nextId)) nextId += 1
    return nextId++
  }
  const withIds = settings.nodes.map((node) => ({ node, id: node.id ?? freeId() })).sort((a, b) => a.id - b.id)
  for (const { id, node } of withIds) yield recordOf(settings, node, id, startMillis)
}

const recordOf = (settings: WorldSettings, node: GivenNode, id: number, startMillis: number): NodeRecord => {
  const { lifecycle, seed, today } = settings
  const place = placeOf(today, node)
  const { image, plan } = offerOf(catalogueOf(settings), node, place)!
  const { provisioningJitterMillis, provisioningMillis } = ruleFor(lifecycle, node.name)
  const ageMillis = node.status === "created" ? 0 : provisioningMillis + provisioningJitterMillis
  const record: NodeRecord = {
    id,
    name: node.name,
    plan,
    imageId: image.id,
    // At the world's start at the latest: if the world starts at the real time, somebody may have set the real clock
    // back before a reset.
    createdAt: Math.min(node.createdAt ?? startMillis - ageMillis, startMillis),
    deletedAt: node.status === "terminate" ? startMillis : null,
    commitment: null,
    backups: node.backups ?? false,
    locked: node.locked ?? false,
    ...(place === undefined ? {} : { today: givenToday(place, plan) })
  }
  const { status } = node
  return status === undefined || status === "terminate" || phaseAt(seed, lifecycle, record, startMillis) === status
    ? record
    : { ...record, forced: status }
}
