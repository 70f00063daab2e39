/**
 * Running nodes as targets for Prometheus. A wrongly empty list would silence every alert, so an account in doubt keeps
 * its last good list. Without a last good list, Prometheus gets an error and keeps the targets that it has. Pure.
 */
import type { AccountStatus, WatchedNode } from "./records.ts"
import { isFresh } from "./readiness.ts"
import type { TargetGroup } from "./WatchApi.ts"

/** The last good list of each account. */
export type LastGood = ReadonlyMap<string, ReadonlyArray<WatchedNode>>

export interface Targets {
  /** Null if an account in doubt never had a good list, or if no account is known yet. */
  readonly nodes: ReadonlyArray<WatchedNode> | null
  readonly lastGood: LastGood
}

/** Whether an account's nodes may differ from the known ones. */
const isInDoubt = (account: AccountStatus, nowMillis: number): boolean =>
  account.state !== "watching" || !isFresh(account, nowMillis)

/** The nodes to report as targets, and the new last good lists. `running`: the nodes that are known to run. */
export const believedNodes = (
  lastGood: LastGood,
  accounts: ReadonlyArray<AccountStatus>,
  running: ReadonlyArray<WatchedNode>,
  nowMillis: number
): Targets => {
  const known = Map.groupBy(running, ({ account }) => account)
  const lists = accounts.map((account) => {
    const nodes = known.get(account.account) ?? []
    if (!isInDoubt(account, nowMillis)) return [account.account, nodes] as const
    // Without a last good list, use the stored nodes, which the previous process believed. An added account without nodes counts as
    // empty, so that the others need not wait for it.
    const kept = nodes.length > 0 || account.added === true ? nodes : null
    return [account.account, lastGood.get(account.account) ?? kept] as const
  })
  const good = lists.filter((list): list is readonly [string, ReadonlyArray<WatchedNode>] => list[1] !== null)
  return {
    nodes: lists.length === 0 || good.length < lists.length ? null : good.flatMap(([, nodes]) => nodes),
    lastGood: new Map(good)
  }
}

/** An IPv6 address in a target has brackets. */
const hostOf = (address: string): string => (address.includes(":") ? `[${address}]` : address)

/** A node without the requested address is not a target. */
export const targetGroups = (
  nodes: ReadonlyArray<WatchedNode>,
  { address, port }: { readonly address: "public" | "private"; readonly port: number }
): ReadonlyArray<TargetGroup> =>
  nodes.flatMap((node) => {
    const ip = address === "public" ? node.publicIp : node.privateIp
    if (ip === null) return []
    const { account, id, name, plan, region } = node
    const labels = { account, node: name, node_id: String(id), plan: plan ?? "", region: region ?? "" }
    return [{ targets: [`${hostOf(ip)}:${port}`], labels }]
  })
