/**
 * Finds the nodes that a request of `berth api` ends. The request deletes a node, or sets its commitment so that the service deletes it.
 */
import { parseJson } from "@berthkit/core/api/parseJson"
import { routes } from "@berthkit/core/api/Routes"
import type { RawRequest } from "@berthkit/core/client/RawApi"
import { nodeOfPath, plainPath } from "@berthkit/core/client/state/nodeOfPath"
import type { NodeId } from "@berthkit/core/domain/Node"
import { Predicate } from "effect"

const settingPath = plainPath(routes.commitments.set.path)

const lettersOf = (value: unknown): string =>
  String(value)
    .toLowerCase()
    .replaceAll(/[^a-z]/g, "")

/** The nodes in a request's body, if a setting in the body makes the service delete them. */
const nodesOfSetting = (body: string | undefined): ReadonlyArray<NodeId> => {
  // Some services ignore a byte order mark, although JSON does not allow one. Ignore it here, too, so that the body can be parsed.
  const asked = body === undefined ? undefined : parseJson(body.replace(/^\uFEFF/, ""))
  if (!Predicate.isObject(asked)) return []
  const valuesOf = (name: string) =>
    Object.entries(asked).flatMap(([key, value]) => (lettersOf(key) === lettersOf(name) ? [value] : []))
  if (!valuesOf("node_status").some((setting) => lettersOf(setting) === lettersOf("auto_terminate"))) return []
  return valuesOf("vcn_id").flatMap((ids) => Array.from(String(ids).matchAll(/\d+/g), ([id]) => Number(id) as NodeId))
}

/** The nodes that a request ends, and how. */
export const endOf = ({
  body,
  method,
  path
}: Pick<RawRequest, "body" | "method" | "path">): {
  readonly ids: ReadonlyArray<NodeId>
  readonly how: "delete" | "setting"
} => {
  if (method !== "DELETE") return { ids: plainPath(path) === settingPath ? nodesOfSetting(body) : [], how: "setting" }
  const id = nodeOfPath(path)
  return { ids: id === undefined ? [] : [id], how: "delete" }
}
