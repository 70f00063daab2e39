/**
 * Finds nodes as hosts for other programs: the node of an exact name, or all nodes of the account. Warns about nodes that are left out or
 * renamed.
 */
import { Effect } from "effect"
import { NoAddress } from "../failure/CliFailure.ts"
import { resolveNode } from "./resolve.ts"
import { type Host, hostOf } from "../inventory/Host.ts"
import type { SshConfig } from "../inventory/sshConfig.ts"
import { nodeCount } from "../output/format.ts"
import { Output } from "../output/Output.ts"
import { shownList } from "./allNodes.ts"

/** The node and its address. A string that is not an IP address is ignored, because it may become an argument of another program. */
export const publicAddress = Effect.fnUntraced(function* (given: string) {
  const node = yield* resolveNode(given, { change: false })
  const address = hostOf(node).publicIp
  if (address === null) {
    return yield* new NoAddress({ id: node.id, name: node.name, isRunning: node.status === "running" })
  }
  return { node, address }
})

/** All nodes, and whether the list is certainly complete. */
export const allHosts = Effect.map(shownList, ({ isWhole, nodes, unreadable }) => ({
  hosts: nodes.map(hostOf) as ReadonlyArray<Host>,
  isWhole: isWhole && unreadable.length === 0
}))

/** Warns about missing nodes and changed names. */
export const warnOfHosts = ({ changed, withoutAddress }: Pick<SshConfig, "changed" | "withoutAddress">) =>
  Output.use(({ chatty, warn }) => {
    const texts = [
      ...(withoutAddress === 0 ? [] : [`${nodeCount(withoutAddress)} without an address: left out.`]),
      ...(changed === 0
        ? []
        : [
            `${nodeCount(changed)} under another name: characters other than letters, digits, . _ and - became _, or it is node-ID.`
          ])
    ]
    return chatty && texts.length > 0 ? warn(texts.join(" ")) : Effect.void
  })
