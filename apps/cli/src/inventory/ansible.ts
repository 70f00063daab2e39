/**
 * Formats the nodes as Ansible's dynamic inventory, in JSON with the variables of every host. Pure.
 */
import { addressOf, type Host, hostNames, reachable } from "./Host.ts"

/** Marks a string that Ansible would read as a template, because strings of the service are only data. */
const unsafe = (text: string): unknown => (/\{[{%#]/.test(text) ? { __ansible_unsafe: text } : text)

const textOrNull = (text: string | null): unknown => (text === null ? null : unsafe(text))

/** The fleet membership of a node. */
export interface Membership {
  readonly fleet: string
  /** The name of the member, such as `web-1`. */
  readonly member: string
}

/** The variables of a host. */
const variablesOf = (host: Host, membership: Membership | undefined): Readonly<Record<string, unknown>> => ({
  ansible_host: addressOf(host),
  berth_id: host.id,
  berth_name: unsafe(host.name),
  berth_status: unsafe(host.status),
  berth_created_at: host.createdAt,
  berth_public_ip: host.publicIp,
  berth_private_ip: host.privateIp,
  berth_plan: textOrNull(host.plan),
  berth_image: textOrNull(host.image),
  berth_region: textOrNull(host.region),
  berth_tags: host.tags.map(unsafe),
  ...(membership && { berth_fleet: unsafe(membership.fleet), berth_member: unsafe(membership.member) })
})

/** Replaces the characters that Ansible does not accept in group names. */
const groupWord = (text: string): string => text.replaceAll(/[^A-Za-z0-9_]/g, "_")

/** The member's group: `web` of `web-1`. */
const roleOf = (member: string): string => member.replace(/-\d+$/, "")

/** The groups of a host. Different groups with the same name are numbered. */
const groupsOf = (
  { plan, region }: Host,
  membership: Membership | undefined
): ReadonlyArray<readonly [string, string]> => {
  const group = (kind: string, ...parts: ReadonlyArray<string>) =>
    [JSON.stringify([kind, ...parts]), [kind, ...parts].map(groupWord).join("_")] as const
  return [
    ...(plan === null ? [] : [group("plan", plan)]),
    ...(region === null ? [] : [group("region", region)]),
    ...(membership === undefined
      ? []
      : [
          group("fleet", membership.fleet),
          group("fleet", membership.fleet, roleOf(membership.member)),
          group("member", membership.fleet, membership.member)
        ])
  ]
}

/** An inventory. */
export interface Inventory {
  /** The variables of each host, by its name. */
  readonly hosts: ReadonlyMap<string, Readonly<Record<string, unknown>>>
  /** The names of the hosts in each group. */
  readonly groups: ReadonlyMap<string, ReadonlyArray<string>>
  /** The number of nodes left out because they have no address. */
  readonly withoutAddress: number
  /** The number of nodes with changed names. */
  readonly changed: number
}

export const inventoryOf = (nodes: ReadonlyArray<Host>, memberships: ReadonlyMap<number, Membership>): Inventory => {
  const { reached, withoutAddress } = reachable(nodes)
  const { changed, hosts } = hostNames(reached)
  const names = new Map<string, string>()
  const taken = new Set<string>(hosts.keys())
  const nameOf = ([about, name]: readonly [string, string]): string => {
    const known = names.get(about)
    if (known !== undefined) return known
    let free = name
    for (let number = 2; taken.has(free); number++) free = `${name}_${number}`
    taken.add(free)
    names.set(about, free)
    return free
  }
  const grouped = Array.from(hosts).flatMap(([name, host]) =>
    groupsOf(host, memberships.get(host.id)).map((group) => [nameOf(group), name] as const)
  )
  const groups = Map.groupBy(grouped, ([group]) => group)
  return {
    hosts: new Map(Array.from(hosts, ([name, host]) => [name, variablesOf(host, memberships.get(host.id))])),
    groups: new Map(Array.from(groups, ([group, pairs]) => [group, pairs.map(([, name]) => name)])),
    withoutAddress,
    changed
  }
}

/** The JSON for Ansible: groups, and the variables of all hosts. With these, Ansible asks only once. */
export const ansibleList = ({ groups, hosts }: Inventory): unknown => ({
  _meta: { hostvars: Object.fromEntries(hosts) },
  all: { hosts: Array.from(hosts.keys()) },
  ...Object.fromEntries(Array.from(groups, ([name, members]) => [name, { hosts: members }]))
})
