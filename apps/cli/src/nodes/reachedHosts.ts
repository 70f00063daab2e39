/**
 * Nodes as hosts that other programs reach: the one that an argument names exactly, or all of the account, with what is said of those that are
 * left out or go by another name.
 */
import { Effect } from "effect"
import { NoAddress } from "../failure/CliFailure.ts"
import { resolveNode } from "./resolve.ts"
import { type Host, hostOf } from "../inventory/Host.ts"
import type { SshConfig } from "../inventory/sshConfig.ts"
import { nodeCount } from "../output/format.ts"
import { Output } from "../output/Output.ts"
import { shownList } from "./allNodes.ts"

/** The node and its address. What is no address is taken for none: it may become an argument of another program. */
export const publicAddress = Effect.fnUntraced(function* (given: string) {
  const node = yield* resolveNode(given, { change: false })
  const address = hostOf(node).publicIp
  if (address === null) {
    return yield* new NoAddress({ id: node.id, name: node.name, isRunning: node.status === "running" })
  }
  return { node, address }
})

/** Every node, and whether it is certain that there are no others. */
export const allHosts = Effect.map(shownList, ({ isWhole, nodes, unreadable }) => ({
  hosts: nodes.map(hostOf) as ReadonlyArray<Host>,
  isWhole: isWhole && unreadable.length === 0
}))

/** Says which nodes are missing, and how many have another name. */
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
