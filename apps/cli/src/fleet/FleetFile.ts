/**
 * Reads a fleet file, which describes the nodes that should exist as groups of equal nodes with a count. Reports all errors of the YAML at
 * once, each with its line and column.
 */
import type { NodeSpec } from "@berthkit/core/domain/NodeSpec"
import { ConfigFile, type ConfigProblem, defaulted, needed, type Read, readAs } from "@berthkit/terminal/ConfigFile"
import { Result } from "effect"
import { isMap, isScalar, type Node } from "yaml"
import { commitmentToSet, type FleetCommitment } from "./FleetCommitment.ts"

/** A node's order without its name. */
export type Order = Omit<NodeSpec, "name" | "startScripts">

/** Settings of a group that only the service can judge. */
export type Judged = "plan" | "image" | "commitment"

/** A group of equal nodes. */
export interface Group {
  readonly group: string
  readonly count: number
  /** Returns the name of its `n`th node. */
  readonly nameOf: (n: number) => string
  readonly order: Order
  /** Paths relative to the folder of the fleet file. */
  readonly startScripts: ReadonlyArray<string>
  /** Whether berth must never delete the nodes of the group. */
  readonly protect: boolean
  readonly commitment: FleetCommitment | null
  /** The position of a setting's value in the file. If the group does not have the setting: the position of the group. */
  readonly placeOf: (setting: Judged) => Pick<ConfigProblem, "line" | "column">
}

export interface FleetFile {
  readonly fleet: string
  readonly groups: ReadonlyArray<Group>
}

/** The largest count of a group. */
const maxCount = 1000
const namePattern = "^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$"
const commitmentPattern = "^(auto_renew [1-9][0-9]{0,3}d|auto_terminate|hourly_billing)$"

const maxNameLength = 255
const isPlainName = (text: string) => new RegExp(namePattern).test(text)
const nameExpected = "1 to 40 letters, digits, dashes or underscores, the first a letter or digit"

/** The placeholder for the number in a name. */
const numberMark = "{n}"

/** Returns the function that names a group's nodes: `NAME-1` and so on, or `NAME` for a single node without a count. */
const naming =
  (name: string, isCounted: boolean): Group["nameOf"] =>
  (n) =>
    name.includes(numberMark) ? name.replaceAll(numberMark, String(n)) : isCounted || n > 1 ? `${name}-${n}` : name

/** Drops the settings that the file does not have. */
const withoutNull = <A extends object>(settings: A) =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null)) as {
    [K in keyof A]?: Exclude<A[K], null>
  }

class FleetReader {
  readonly #file: ConfigFile

  constructor(file: ConfigFile) {
    this.#file = file
  }

  /** The slug of an image, or its number. */
  readonly #image = readAs<string | number>({ type: ["string", "integer"] }, (place) => {
    const value = isScalar(place.node) ? place.node.value : undefined
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value
    const text = this.#file.text(place)
    return text !== undefined && /^\d+$/.test(text) ? Number(text) : text
  })

  /** The settings of a group. */
  #settings() {
    const file = this.#file
    const texts = file.list(file.text, { max: 100 })
    const optional = <A>(read: Read<A>, description: string) => defaulted<A | null>(read, null, description)
    const most = Number.MAX_SAFE_INTEGER
    return file.record({
      count: optional(file.whole(0, maxCount), "How many nodes; default 1."),
      name: optional(
        file.parsed(
          `1 to ${maxNameLength - 5} characters`,
          (text) => (text.length <= maxNameLength - 5 ? text : undefined),
          { maxLength: maxNameLength - 5 }
        ),
        "Name of the nodes in place of FLEET-GROUP; {n} is replaced by the number."
      ),
      plan: needed(file.text, "Plan, see berth plan list."),
      image: needed(this.#image, "Image slug or id, see berth image list."),
      tags: optional(texts, "Tags to attach."),
      sshKeys: optional(
        texts,
        "Keys for root: files with public keys, relative to this file, or their texts, fingerprints or ids."
      ),
      protect: defaulted(file.flag, false, "Never delete these nodes."),
      commitment: optional(
        file.parsed(
          "auto_renew with the days of a committed option, such as auto_renew 30d, or auto_terminate or hourly_billing without days",
          commitmentToSet,
          { pattern: commitmentPattern, examples: ["auto_renew 30d"] }
        ),
        "Set once a node is created: auto_renew with the days of a committed option, or auto_terminate or hourly_billing without days."
      ),
      backups: optional(file.flag, "Automated backups; cannot be turned on later."),
      savedImage: optional(file.whole(0, most), "Template id; required for saved images."),
      disk: optional(file.whole(1, most), "Size of the disk in GB; some series need it."),
      label: optional(file.text, "Label."),
      securityGroup: optional(file.whole(0, most), "Security group."),
      vpc: optional(file.text, "Virtual private cloud."),
      publicIp: optional(file.flag, "Whether the nodes get a public address."),
      ipv6: optional(file.flag, "Whether the nodes get an IPv6 address."),
      disablePassword: optional(file.flag, "Log in with keys only."),
      startScripts: defaulted(texts, [], "Files with scripts to run at the start, relative to this file.")
    })
  }

  group =
    (fleet: string | undefined, group: string): Read<Group> =>
    (place) => {
      const file = this.#file
      const found = this.#settings()(place)
      if (found === undefined) return undefined
      const { commitment, count, image, name, plan, protect, savedImage, securityGroup, startScripts, vpc } = found
      const { backups, disablePassword, disk, ipv6, label, publicIp, sshKeys, tags } = found
      const settingAt = (setting: Judged) =>
        isMap(place.node) ? (place.node.get(setting, true) as Node | undefined) : undefined
      if (protect && commitment?.setting === "auto_terminate") {
        return file.fail(
          { node: settingAt("commitment") ?? place.node, name: `${place.name}.commitment` },
          "cannot be auto_terminate together with protect: true, because the service then deletes the node"
        )
      }
      const name0 = name ?? `${fleet ?? ""}-${group}`
      return {
        group,
        count: count ?? 1,
        nameOf: naming(name0, count !== null || name === null),
        protect,
        commitment,
        startScripts,
        placeOf: (setting) => file.positionOf(settingAt(setting) ?? place.node),
        order: {
          plan,
          image,
          ...withoutNull({ tags, sshKeys, backups, savedImageTemplateId: savedImage, disk, label }),
          ...withoutNull({ securityGroupId: securityGroup, vpcId: vpc, publicIp, ipv6, disablePassword })
        }
      }
    }

  groups =
    (fleet: string | undefined): Read<ReadonlyArray<Group>> =>
    (place) => {
      const file = this.#file
      if (!isMap(place.node))
        return file.fail(place, "has to be a block of groups, such as web: { count: 3, plan: …, image: … }")
      const names = new Set<string>()
      const groups = place.node.items.map(({ key, value }) => {
        const group = isScalar(key) ? String(key.value) : ""
        const name = `${place.name}.${group}`
        // YAML treats 1 and "1" as two keys.
        if (names.has(group)) return file.fail({ node: key as Node, name }, "is in the file twice")
        names.add(group)
        return isPlainName(group)
          ? this.group(fleet, group)({ node: value as Node | null, name })
          : file.fail({ node: key as Node, name }, `has to have a name of ${nameExpected}`)
      })
      return groups.every((group) => group !== undefined) ? groups : undefined
    }

  /** The whole file. */
  file() {
    const { parsed, record } = this.#file
    const name = parsed(nameExpected, (text) => (isPlainName(text) ? text : undefined), { pattern: namePattern })
    let fleet: string | undefined
    return record({
      fleet: needed(
        readAs(name.schema!, (place) => (fleet = name(place))),
        "Name of the fleet; nodes are named FLEET-GROUP-1 and so on."
      ),
      nodes: needed(
        readAs(
          { type: "object", propertyNames: { pattern: namePattern }, additionalProperties: this.#settings().schema },
          (place) => this.groups(fleet)(place)
        ),
        "Groups of nodes that are alike."
      )
    })
  }

  fleet(): FleetFile | undefined {
    const found = this.file()(this.#file.root)
    return found && this.#distinct({ fleet: found.fleet, groups: found.nodes })
  }

  /** Refuses equal names, because two nodes of one name could not be told apart. */
  #distinct(found: FleetFile): FleetFile | undefined {
    const owners = new Map<string, string>()
    for (const { count, group, nameOf } of found.groups) {
      for (let n = 1; n <= count; n++) {
        const name = nameOf(n)
        const owner = owners.get(name)
        if (owner !== undefined) {
          const nodes = isMap(this.#file.root.node) ? this.#file.root.node.get("nodes", true) : undefined
          const node = isMap(nodes) ? (nodes.get(group, true) as Node | undefined) : undefined
          const why =
            owner === group
              ? `gives several nodes the name ${name}: write {n} where the number goes`
              : `gives a node the name ${name}, which one of ${owner} has`
          return this.#file.fail({ node: node ?? null, name: `nodes.${group}.name` }, why)
        }
        owners.set(name, group)
      }
    }
    return found
  }
}

/** Reads a fleet file, or returns everything that is wrong with it. */
export const readFleet = (text: string): Result.Result<FleetFile, ReadonlyArray<ConfigProblem>> => {
  const file = new ConfigFile(text)
  const fleet = file.problems.length > 0 ? undefined : new FleetReader(file).fleet()
  return fleet === undefined || file.problems.length > 0
    ? Result.fail(file.problems.toSorted((a, b) => a.line - b.line || a.column - b.column))
    : Result.succeed(fleet)
}

/** The JSON Schema of a fleet file, for editors. */
export const fleetSchema = () => ({
  title: "Fleet of berth apply",
  ...new FleetReader(new ConfigFile("")).file().schema
})
