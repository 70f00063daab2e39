/** The node that the path of a raw request names. The path is read as it is sent. It may have any spelling that a service accepts. */
import { decodedAddress } from "../../api/rawAddress.ts"
import { prefix } from "../../api/Routes.ts"
import type { NodeId } from "../../domain/Node.ts"

/** The address that a path is sent to, without repeated slashes, the slashes around it, and parameters of its parts (`;a=b`). */
export const plainPath = (path: string): string =>
  decodedAddress(path)
    .toLowerCase()
    .split("/")
    .map((part) => part.replace(/;.*/s, "").trim())
    .filter(Boolean)
    .join("/")

const nodesPath = `${plainPath(prefix)}/nodes/`

/** The node that a path names: `/nodes/5/`. */
export const nodeOfPath = (path: string): NodeId | undefined => {
  const plain = plainPath(path)
  const digits = plain.startsWith(nodesPath) ? /^\d+$/.exec(plain.slice(nodesPath.length))?.[0] : undefined
  return digits === undefined ? undefined : (Number(digits) as NodeId)
}
