/**
 * Reads a fleet file, which describes the nodes that should exist as groups of equal nodes with a count. Reports all errors of the YAML at
 * once, each with its line and column.
 */
import { CommitmentSetting } from "@berthkit/core/domain/Commitment"
import type { NodeSpec } from "@berthkit/core/domain/NodeSpec"
import { ConfigFile, type ConfigProblem, defaulted, needed, type Read } from "@berthkit/terminal/ConfigFile"
import { Result } from "effect"
import { isMap, isScalar, type Node } from "yaml"

/** The setting at the end of a commitment, and the days of the committed option. */
export interface FleetCommitment {
  readonly setting: CommitmentSetting
  readonly days: number | null
}

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
  /** Whether its nodes are never deleted. */
  readonly protect: boolean
  readonly commitment: FleetCommitment | null
  /** The position of a setting's value in the file, or of the group if it lacks the setting. */
  readonly placeOf: (setting: Judged) => Pick<ConfigProblem, "line" | "column">
}

export interface FleetFile {
  readonly fleet: string
  readonly groups: ReadonlyArray<Group>
}

/** The largest count of a group. The JSON Schema has the same limits. */
export const maxCount = 1000
export const namePattern = "^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$"
export const commitmentPattern = "^(auto_renew [1-9][0-9]{0,3}d|(auto_terminate|hourly_billing)( [1-9][0-9]{0,3}d)?)$"

const maxNameLength = 255
const isPlainName = (text: string) => new RegExp(namePattern).test(text)
const nameExpected = "1 to 40 letters, digits, dashes or underscores, the first a letter or digit"

/** Parses a text such as `auto_renew 30d`. */
export const parseCommitment = (text: string): FleetCommitment | undefined => {
  if (!new RegExp(commitmentPattern).test(text)) return undefined
  const [word = "", days] = text.split(" ")
  const setting = CommitmentSetting.literals.find((each) => each === word)
  return setting && { setting, days: days === undefined ? null : Number(days.slice(0, -1)) }
}

/** The text of a commitment in the file and in the ledger. */
export const commitmentText = ({ days, setting }: FleetCommitment): string =>
  days === null ? setting : `${setting} ${days}d`

/** Whether a commitment in the ledger may have bought a period. */
export const mayHaveBought = (text: string): boolean => parseCommitment(text)?.days !== null

/** The placeholder for the number in a name. */
const numberMark = "{n}"

/** Returns the naming of a group: `NAME-1` and so on, or `NAME` for a single node without a count. */
const naming =
  (name: string, isCounted: boolean): Group["nameOf"] =>
  (n) =>
    name.includes(numberMark) ? name.replaceAll(numberMark, String(n)) : isCounted || n > 1 ? `${name}-${n}` : name

class FleetReader {
  readonly #file: ConfigFile

  constructor(file: ConfigFile) {
    this.#file = file
  }

  /** The slug of an image, or its number. */
  image: Read<string | number> = (place) => {
    const value = isScalar(place.node) ? place.node.value : undefined
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value
    const text = this.#file.text(place)
    return text !== undefined && /^\d+$/.test(text) ? Number(text) : text
  }

  group =
    (fleet: string | undefined, group: string): Read<Group> =>
    (place) => {
      const file = this.#file
      const texts = file.list(file.text, { max: 100 })
      const found = file.record({
        count: defaulted<number | null>(file.whole(0, maxCount), null),
        name: defaulted<string | null>(
          file.parsed(`1 to ${maxNameLength - 5} characters`, (text) =>
            text.length <= maxNameLength - 5 ? text : undefined
          ),
          null
        ),
        plan: needed(file.text),
        image: needed(this.image),
        tags: defaulted(texts, null),
        sshKeys: defaulted(texts, null),
        protect: defaulted(file.flag, false),
        commitment: defaulted<FleetCommitment | null>(
          file.parsed(
            "auto_renew with the days of a committed option, such as auto_renew 30d, or auto_terminate or hourly_billing",
            parseCommitment
          ),
          null
        ),
        backups: defaulted<boolean | null>(file.flag, null),
        savedImage: defaulted<number | null>(file.whole(0, Number.MAX_SAFE_INTEGER), null),
        disk: defaulted<number | null>(file.whole(1, Number.MAX_SAFE_INTEGER), null),
        label: defaulted<string | null>(file.text, null),
        securityGroup: defaulted<number | null>(file.whole(0, Number.MAX_SAFE_INTEGER), null),
        vpc: defaulted<string | null>(file.text, null),
        publicIp: defaulted<boolean | null>(file.flag, null),
        ipv6: defaulted<boolean | null>(file.flag, null),
        disablePassword: defaulted<boolean | null>(file.flag, null),
        startScripts: defaulted(texts, [])
      })(place)
      if (found === undefined) return undefined
      const { commitment, count, image, name, plan, protect, startScripts } = found
      const settingAt = (setting: Judged) =>
        isMap(place.node) ? (place.node.get(setting, true) as Node | undefined) : undefined
      if (protect && commitment?.setting === "auto_terminate") {
        return file.fail(
          { node: settingAt("commitment") ?? place.node, name: `${place.name}.commitment` },
          "cannot be auto_terminate beside protect: true, because the service then deletes the node"
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
          ...(found.tags !== null && { tags: found.tags }),
          ...(found.sshKeys !== null && { sshKeys: found.sshKeys }),
          ...(found.backups !== null && { backups: found.backups }),
          ...(found.savedImage !== null && { savedImageTemplateId: found.savedImage }),
          ...(found.disk !== null && { disk: found.disk }),
          ...(found.label !== null && { label: found.label }),
          ...(found.securityGroup !== null && { securityGroupId: found.securityGroup }),
          ...(found.vpc !== null && { vpcId: found.vpc }),
          ...(found.publicIp !== null && { publicIp: found.publicIp }),
          ...(found.ipv6 !== null && { ipv6: found.ipv6 }),
          ...(found.disablePassword !== null && { disablePassword: found.disablePassword })
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

  fleet(): FleetFile | undefined {
    const file = this.#file
    const name = file.parsed(nameExpected, (text) => (isPlainName(text) ? text : undefined))
    let fleet: string | undefined
    const found = file.record({
      fleet: needed<string>((place) => (fleet = name(place))),
      nodes: needed<ReadonlyArray<Group>>((place) => this.groups(fleet)(place))
    })(file.root)
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
