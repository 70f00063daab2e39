/**
 * Finds the node that a request of `berth api` ends. The request deletes the node, or sets its commitment so that the service deletes it. A
 * path counts in every spelling that a service may accept.
 */
import { parseJson } from "@berthkit/core/api/parseJson"
import { prefix, routes } from "@berthkit/core/api/Routes"
import type { RawRequest } from "@berthkit/core/client/RawApi"
import type { NodeId } from "@berthkit/core/domain/Node"
import { Predicate, Result } from "effect"

const plainParts = (text: string): string => text.toLowerCase().split("/").filter(Boolean).join("/")

/** The path below `prefix` without the slashes around it. Resolves dots, repeated slashes and percent-encoding. */
const plainPath = (path: string): string => {
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

/** The node in a request's body, if the setting in the body makes the service delete that node. */
const nodeOfSetting = (body: string | undefined): NodeId | undefined => {
  const asked = body === undefined ? undefined : parseJson(body)
  if (!Predicate.isObject(asked)) return undefined
  const { node_status: setting, vcn_id: id } = asked as Readonly<Record<string, unknown>>
  const isEnd = typeof setting === "string" && setting.trim().toLowerCase() === "auto_terminate"
  return isEnd && /^\s*\d+\s*$/.test(String(id)) ? (Number(id) as NodeId) : undefined
}

const settingPath = plainPath(routes.commitments.set.path)

/** The node that a request ends, and how; undefined if it ends none. */
export const endOf = ({
  body,
  method,
  path
}: Pick<RawRequest, "body" | "method" | "path">):
  | { readonly id: NodeId; readonly how: "delete" | "setting" }
  | undefined => {
  const [id, how] =
    method === "DELETE"
      ? ([nodeOfPath(path), "delete"] as const)
      : ([plainPath(path) === settingPath ? nodeOfSetting(body) : undefined, "setting"] as const)
  return id === undefined ? undefined : { id, how }
}
