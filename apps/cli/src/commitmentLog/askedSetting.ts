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
import { Predicate } from "effect"
import type { CommitmentOrder } from "./CommitmentLog.ts"

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

/** The setting that a request asks for; undefined if it sets nothing that can be read. A setting that Berth does not know may buy. */
export const askedSetting = ({
  body = "",
  method,
  path
}: Pick<RawRequest, "body" | "method" | "path">): AskedSetting | undefined => {
  if (reads.has(method) || plainPath(path) !== settingPath) return undefined
  // Some services ignore a byte order mark, although JSON does not allow one. Ignore it here, too, so that the body can be parsed.
  const asked = parseJson(body.replace(/^\uFEFF/, ""))
  if (!Predicate.isObject(asked)) return undefined
  const valuesOf = (name: string) =>
    Object.entries(asked).flatMap(([key, value]) => (lettersOf(key) === lettersOf(name) ? [value] : []))
  const settings = valuesOf("node_status").map((value): CommitmentSetting => {
    const known = commitmentSettings.find((setting) => lettersOf(setting) === lettersOf(value))
    return known ?? "auto_renew"
  })
  const skuIds = valuesOf("committed_plan").flatMap(numbersIn)
  const skuId = skuIds.find((id) => id !== 0) ?? skuIds[0]
  if (settings.length === 0 && (skuId ?? 0) === 0) return undefined
  const isEnding = settings.includes("auto_terminate")
  const setting = settings.includes("auto_renew") ? "auto_renew" : (settings[0] ?? "auto_renew")
  const ids = Array.from(
    new Set(valuesOf("vcn_id").flatMap(numbersIn))
  ) as ReadonlyArray<number> as ReadonlyArray<NodeId>
  return { ids, order: { setting, skuId }, isEnding }
}
