/** The fleet files, as a person edits them: one of the fleet `shop`, and one of a second fleet in the same account. */
import { type ImageName, images, type PlanName, plans } from "./service.ts"

export interface Group {
  readonly count: number
  readonly plan: PlanName
  readonly image: ImageName
  readonly tags: ReadonlyArray<string>
  readonly protect: boolean
  /** The days of a committed option that renews at its end; null for none. */
  readonly commitment: number | null
  readonly name: string | null
  readonly script: string | null
}

export type FleetFile = Readonly<Record<string, Group>>

/** The two fleets. Both have their files and ledgers in the same folder. */
export type Fleet = "shop" | "other"

/** The only group of the second fleet. No group of the first fleet has this name. */
const groupOfOther = "x"

export const fleetOfGroup = (key: string): Fleet => (key === groupOfOther ? "other" : "shop")

export const group: Group = {
  count: 2,
  plan: "small",
  image: "ubuntu",
  tags: [],
  protect: false,
  commitment: null,
  name: null,
  script: null
}

/** The file of the second fleet at the beginning. */
export const otherFile: FleetFile = { [groupOfOther]: { ...group, count: 1, plan: "tiny" } }

/** The name of the nth node of a group. */
export const nameOf = (key: string, { name }: Group, n: number): string =>
  name === null ? `${fleetOfGroup(key)}-${key}-${n}` : name.replaceAll("{n}", String(n))

/** The names of all members. */
export const namesIn = (file: FleetFile): ReadonlyArray<string> =>
  Object.entries(file).flatMap(([key, each]) => Array.from({ length: each.count }, (_, i) => nameOf(key, each, i + 1)))

/** The file as text; start scripts are files next to it. */
export const textOf = (file: FleetFile, fleet: Fleet = "shop"): string => {
  const lines = Object.entries(file).map(([key, each]) => {
    const settings = [
      `count: ${each.count}`,
      `plan: ${plans[each.plan]}`,
      `image: ${images[each.image]}`,
      ...(each.tags.length === 0 ? [] : [`tags: [${each.tags.join(", ")}]`]),
      ...(each.protect ? ["protect: true"] : []),
      ...(each.commitment === null ? [] : [`commitment: auto_renew ${each.commitment}d`]),
      ...(each.name === null ? [] : [`name: "${each.name}"`]),
      ...(each.script === null ? [] : ["startScripts: [start.sh]"])
    ]
    return `  ${key}: { ${settings.join(", ")} }\n`
  })
  return `fleet: ${fleet}\nnodes: ${lines.length === 0 ? "{}" : `\n${lines.join("")}`}\n`
}
