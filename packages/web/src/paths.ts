/** How the router and the code around it match paths: case matters, and only the trailing slash is optional. */
import type { Schema } from "effect"

/** `maxUrlBytes` is the maximum length of a URL, and therefore of each part of a URL. */
export const routerConfig = (maxUrlBytes: number) => ({
  caseSensitive: true,
  ignoreDuplicateSlashes: false,
  ignoreTrailingSlash: true,
  maxParamLength: maxUrlBytes
})

/**
 * The target of a request in canonical form: the path has no unnecessary escapes, and its `;` and `#` are escaped, so
 * that it can end only at `?`. The router decodes escapes and ends the path at `;` or `#`, so other code would otherwise
 * see another path than the router.
 */
export const canonicalTarget = (target: string): string => {
  if (!/[%;#]/.test(target)) return target
  const [path, ...query] = target.replaceAll("#", "%23").split("?")
  const canonical = path!.replaceAll(";", "%3B").replaceAll(/%[\da-f]{2}/gi, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    return /[\w.~-]/.test(character) ? character : escape.toUpperCase()
  })
  return [canonical, ...query].join("?")
}

/** The segments of a path, or of a path with `:parameters`. */
export const segmentsOf = (path: string): ReadonlyArray<string> => path.replace(/\/$/, "").split("/")

export const isParameter = (segment: string): boolean => segment.startsWith(":")

/** Whether the segments of a path match the segments of an endpoint's path. */
export const fits = (form: ReadonlyArray<string>, path: ReadonlyArray<string>): boolean =>
  form.length === path.length &&
  form.every((segment, index) => (isParameter(segment) ? path[index] !== "" : segment === path[index]))

export interface Endpoint {
  readonly path: string
  readonly method: string
  /** The schema of the query, if the endpoint takes one. */
  readonly query?: Schema.Top | undefined
  /** The bodies that the endpoint takes, if any. */
  readonly payload?: { readonly size: number } | undefined
}

/** The endpoints of an `HttpApi`. */
export const endpointsOf = (api: {
  readonly groups: Readonly<Record<string, { readonly endpoints: Readonly<Record<string, Endpoint>> }>>
}): ReadonlyArray<Endpoint> => Object.values(api.groups).flatMap(({ endpoints }) => Object.values(endpoints))

/** Adds HEAD to GET, and OPTIONS to everything. */
const allow = (methods: ReadonlyArray<string>): string =>
  ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    .filter((method) => method === "OPTIONS" || methods.includes(method === "HEAD" ? "GET" : method))
    .join(", ")

/** The value of `Allow` for a path; `undefined` if the path does not exist. */
export type AllowedMethods = (path: string) => string | undefined

/**
 * Which methods a path answers. The router cannot tell, because it matches method and path only together, so this reads the endpoints
 * themselves. The path `*` means the whole server.
 */
export const allowedMethods = (endpoints: ReadonlyArray<Endpoint>): AllowedMethods => {
  const forms = Array.from(
    Map.groupBy(endpoints, ({ path }) => segmentsOf(path).join("/")),
    ([path, same]) => ({ segments: segmentsOf(path), allow: allow(same.map(({ method }) => method)) })
  )
  const everywhere = allow(endpoints.map(({ method }) => method))
  return (path) => {
    if (path === "*") return everywhere
    const segments = segmentsOf(path)
    return forms.find((form) => fits(form.segments, segments))?.allow
  }
}
