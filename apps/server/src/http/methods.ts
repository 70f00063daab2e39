/**
 * Which methods a path answers, read off the interface itself: what the router, which looks for method and path together,
 * cannot say.
 */
import { BerthApi } from "@berth/core/api/BerthApi"
import { ControlApi } from "../control/ControlApi.ts"
import { pagePath } from "../control/page/page.ts"
import { docsPath, openApiPath } from "./docs.ts"

interface Row {
  readonly segments: ReadonlyArray<string>
  readonly methods: Array<string>
}

/** As the router does it: a trailing slash is of no account. */
const segmentsOf = (path: string): ReadonlyArray<string> => path.replace(/\/$/, "").split("/")

const rows: Array<Row> = []
const add = (path: string, method: string): void => {
  const segments = segmentsOf(path)
  const known = rows.find((row) => row.segments.join("/") === segments.join("/"))
  if (known === undefined) rows.push({ segments, methods: [method] })
  else known.methods.push(method)
}

for (const group of [...Object.values(BerthApi.groups), ...Object.values(ControlApi.groups)]) {
  for (const endpoint of Object.values(group.endpoints)) add(endpoint.path, endpoint.method)
}
add(openApiPath, "GET")
add(docsPath, "GET")
add(pagePath, "GET")

/** HEAD wherever GET, OPTIONS everywhere (decision 4). */
const allow = (methods: ReadonlyArray<string>): string =>
  ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    .filter((method) => method === "OPTIONS" || methods.includes(method === "HEAD" ? "GET" : method))
    .join(", ")

/** The value of `Allow` for a path, `undefined` where there is nothing. `*` stands for the whole server. */
export const allowedMethods = (path: string): string | undefined => {
  if (path === "*") return allow(["GET", "POST", "DELETE"])
  const segments = segmentsOf(path)
  const row = rows.find(
    (candidate) =>
      candidate.segments.length === segments.length &&
      candidate.segments.every((segment, index) =>
        segment.startsWith(":") ? segments[index] !== "" : segment === segments[index]
      )
  )
  return row === undefined ? undefined : allow(row.methods)
}
