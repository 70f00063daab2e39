/**
 * The client's half of the contract: for each endpoint of `BerthApi` a function from its parameters to the request. The compiler
 * holds names, methods, paths and parameters to the contract. It builds requests only; the engine interprets the replies
 * (decision 0003).
 */
import { Record as Records } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import type { BerthApi } from "../../api/BerthApi.ts"
import { prefix, routes } from "../../api/Routes.ts"
import type { WireRequest } from "./Transport.ts"

type Groups = (typeof BerthApi)["groups"]

/** The route of an endpoint in the contract. */
type Route<E> = E extends { readonly method: infer Method; readonly path: `${typeof prefix}${infer Path}` }
  ? { readonly method: Method; readonly path: Path }
  : never

/** The input of an endpoint, from its schemas. */
type Input<E> = E extends HttpApiEndpoint.ConstraintRequest
  ? ([E["~Params"]] extends [never] ? {} : { readonly params: E["~Params"]["Type"] }) &
      ([E["~Query"]] extends [never] ? {} : { readonly query: E["~Query"]["Type"] }) &
      ([E["~Payload"]] extends [never] ? {} : { readonly payload: E["~Payload"]["Type"] })
  : never

type Endpoints<Group extends keyof Groups> = Groups[Group]["endpoints"]
type Routes = {
  readonly [Group in keyof Groups]: { readonly [Name in keyof Endpoints<Group>]: Route<Endpoints<Group>[Name]> }
}
type Wire = {
  readonly [Group in keyof Groups]: {
    readonly [Name in keyof Endpoints<Group>]: (input: Input<Endpoints<Group>[Name]>) => WireRequest
  }
}

interface AnyInput {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly payload?: unknown
}

const fill = (path: string, params: Readonly<Record<string, unknown>>) =>
  path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])))

/** The defined parameters, as texts. */
const texts = (query: AnyInput["query"] = {}) => {
  const given: Array<readonly [name: string, value: string]> = []
  for (const name of Object.keys(query)) if (query[name] !== undefined) given.push([name, String(query[name])])
  return given
}

const request =
  ({ method, path }: Pick<WireRequest, "method" | "path">) =>
  ({ params, payload, query }: AnyInput): WireRequest => ({
    method,
    path: prefix + (params === undefined ? path : fill(path, params)),
    query: texts(query),
    body: payload === undefined ? undefined : JSON.stringify(payload)
  })

const { commitments, images, nodes } = routes satisfies Routes

export const wire: Wire = {
  nodes: Records.map(nodes, request),
  images: Records.map(images, request),
  commitments: Records.map(commitments, request)
}
