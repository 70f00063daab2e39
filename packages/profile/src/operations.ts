/**
 * The operations of the interface under the names that faults and the journal use: `nodes.list`, `images.saved`. Their
 * methods and paths come from the interface itself.
 */
import { BerthApi } from "@berthkit/core/api/BerthApi"
import { fits, isParameter, segmentsOf } from "@berthkit/web/paths"

export const operations = [
  "nodes.create",
  "nodes.get",
  "nodes.list",
  "nodes.delete",
  "images.list",
  "images.saved",
  "commitments.set"
] as const
export type Operation = (typeof operations)[number]

interface Route {
  readonly operation: Operation
  readonly method: string
  readonly segments: ReadonlyArray<string>
}

const routes: ReadonlyArray<Route> = Object.values(BerthApi.groups).flatMap((group) =>
  Object.entries(group.endpoints).map(([name, endpoint]) => ({
    operation: `${group.identifier}.${name}` as Operation,
    method: endpoint.method,
    segments: segmentsOf(endpoint.path)
  }))
)

/** The operation of a request; `undefined` if it has none. HEAD counts as GET. */
export const operationOf = (method: string, path: string): Operation | undefined => {
  const asked = method === "HEAD" ? "GET" : method
  const segments = segmentsOf(path)
  const found = routes.filter((route) => route.method === asked && fits(route.segments, segments))
  return (found.find(({ segments }) => !segments.some(isParameter)) ?? found[0])?.operation
}

/** The node id in the path of a URL; `undefined` if there is none. */
export const nodeIdOf = (url: string): number | undefined => {
  const id = /^[^?]*\/nodes\/(\d{1,15})\/?(?:\?|$)/.exec(url)?.[1]
  return id === undefined ? undefined : Number(id)
}
