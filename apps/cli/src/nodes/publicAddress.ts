/**
 * The public address of the one node that an argument names exactly.
 */
import { isIP } from "node:net"
import { Effect } from "effect"
import { NoAddress } from "../failure/CliFailure.ts"
import { resolveNode } from "./resolve.ts"

/** The node and its address. What is no address is taken for none: it may become an argument of another program. */
export const publicAddress = Effect.fnUntraced(function* (given: string) {
  const { node } = yield* resolveNode(given, { change: false })
  const address = node.publicIp?.trim() ?? ""
  if (isIP(address) === 0) {
    return yield* new NoAddress({ id: node.id, name: node.name, isRunning: node.status === "running" })
  }
  return { node, address }
})
