/**
 * Which node the path of a request names. A path counts in every spelling that a service may accept.
 */
import { Result } from "effect"
import { prefix } from "../../api/Routes.ts"
import type { NodeId } from "../../domain/Node.ts"

const plainParts = (text: string): string => text.toLowerCase().split("/").filter(Boolean).join("/")

/** The path below `prefix` without the slashes around it. Resolves dots, repeated slashes and percent-encoding. */
export const plainPath = (path: string): string => {
  const { pathname } = new URL(`http://service/${path}`)
  const decoded = plainParts(
    Result.getOrElse(
      Result.try(() => decodeURIComponent(pathname)),
      () => pathname
    )
  )
  const above = `${plainParts(prefix)}/`
  return decoded.startsWith(above) ? decoded.slice(above.length) : decoded
}

/** The node that a path names: `/nodes/5/`. */
export const nodeOfPath = (path: string): NodeId | undefined => {
  const digits = /^nodes\/(\d+)$/.exec(plainPath(path))?.[1]
  return digits === undefined ? undefined : (Number(digits) as NodeId)
}
