/**
 * Finds the node that a request of `berth api` ends. The request deletes the node, or sets its commitment so that the service deletes it.
 */
import { parseJson } from "@berthkit/core/api/parseJson"
import { routes } from "@berthkit/core/api/Routes"
import type { RawRequest } from "@berthkit/core/client/RawApi"
import { nodeOfPath, plainPath } from "@berthkit/core/client/state/nodeOfPath"
import type { NodeId } from "@berthkit/core/domain/Node"
import { Predicate } from "effect"

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
