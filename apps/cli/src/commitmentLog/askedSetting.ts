/**
 * Reads from a request of `berth api` which setting of a commitment it asks for. The request is read in every spelling that a service may
 * accept. Pure.
 */
import { parseJson } from "@berthkit/core/api/parseJson"
import { routes } from "@berthkit/core/api/Routes"
import type { RawRequest } from "@berthkit/core/client/RawApi"
import { plainPath } from "@berthkit/core/client/state/nodeOfPath"
import { type CommitmentSetting, commitmentSettings } from "@berthkit/core/domain/Commitment"
import type { NodeId } from "@berthkit/core/domain/Node"
import { Predicate, Result } from "effect"
import { buysPeriod, type CommitmentOrder } from "./CommitmentLog.ts"

const settingPath = plainPath(routes.commitments.set.path)
const reads: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"])

const lettersOf = (value: unknown): string =>
  String(value)
    .toLowerCase()
    .replaceAll(/[^a-z]/g, "")

const numbersIn = (value: unknown): ReadonlyArray<number> =>
  Array.from(String(value).matchAll(/\d+/g), ([digits]) => Number(digits))

/** The setting that a request asks for. */
export interface AskedSetting {
  readonly ids: ReadonlyArray<NodeId>
  readonly order: CommitmentOrder
  /** Whether the service deletes the nodes at the end of their commitment. */
  readonly isEnding: boolean
}

const fields: ReadonlySet<string> = new Set(["vcn_id", "node_status", "committed_plan"].map(lettersOf))

/**
 * The setting that a request asks for; undefined if the request sets none. A setting that Berth does not know counts as
 * a possible purchase. Fails with the reason if the request may set something that Berth cannot read, because no
 * command would know of that purchase.
 */
export const askedSetting = ({
  body = "",
  method,
  path,
  query = []
}: RawRequest): Result.Result<AskedSetting | undefined, string> => {
  if (reads.has(method) || plainPath(path) !== settingPath) return Result.succeed(undefined)
  const inQuery = query.find(([name]) => fields.has(lettersOf(name)))
  if (inQuery !== undefined) return Result.fail(`${inQuery[0]} is in the query`)
  // Some services ignore a byte order mark, although JSON does not allow one. Ignore it here, too, so that the body can be parsed.
  const asked = parseJson(body.replace(/^\uFEFF/, ""))
  if (!Predicate.isObject(asked)) return Result.fail("the body is not a JSON object")
  const valuesOf = (name: string) =>
    Object.entries(asked).flatMap(([key, value]) => (lettersOf(key) === lettersOf(name) ? [value] : []))
  const settings = valuesOf("node_status").map((value): CommitmentSetting => {
    const known = commitmentSettings.find((setting) => lettersOf(setting) === lettersOf(value))
    return known ?? "auto_renew"
  })
  const skuIds = valuesOf("committed_plan").flatMap(numbersIn)
  const skuId = skuIds.find((id) => id !== 0) ?? skuIds[0]
  if (settings.length === 0 && (skuId ?? 0) === 0) return Result.fail("the body has no node_status")
  const isEnding = settings.includes("auto_terminate")
  const setting = settings.includes("auto_renew") ? "auto_renew" : (settings[0] ?? "auto_renew")
  const ids = Array.from(
    new Set(valuesOf("vcn_id").flatMap(numbersIn))
  ) as ReadonlyArray<number> as ReadonlyArray<NodeId>
  const order = { setting, skuId }
  if (ids.length === 0) return Result.fail("vcn_id names no node")
  if (ids.length > 1 && buysPeriod(order)) return Result.fail("vcn_id names more than one node")
  return Result.succeed({ ids, order, isEnding })
}
