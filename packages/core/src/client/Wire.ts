/**
 * The client's half of the contract: for each endpoint of `BerthApi` a function from its parameters to the request. It builds
 * requests only; what a reply means is the engine's business (0003).
 */
import { Record as Records } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { BerthApi } from "../api/BerthApi.ts"
import type { WireRequest } from "./Transport.ts"

type Groups = (typeof BerthApi)["groups"]

/** What an endpoint takes, as its schemas say. */
type Input<E> = E extends HttpApiEndpoint.ConstraintRequest
  ? ([E["~Params"]] extends [never] ? {} : { readonly params: E["~Params"]["Type"] }) &
      ([E["~Query"]] extends [never] ? {} : { readonly query: E["~Query"]["Type"] }) &
      ([E["~Payload"]] extends [never] ? {} : { readonly payload: E["~Payload"]["Type"] })
  : never

type Wire = {
  readonly [Group in keyof Groups]: {
    readonly [Name in keyof Groups[Group]["endpoints"]]: (input: Input<Groups[Group]["endpoints"][Name]>) => WireRequest
  }
}

interface AnyInput {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly payload?: unknown
}

const request =
  ({ method, path }: Pick<WireRequest, "method" | "path">) =>
  ({ params = {}, payload, query = {} }: AnyInput): WireRequest => ({
    method,
    path: path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name]))),
    query: Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as const]
    ),
    body: payload === undefined ? undefined : JSON.stringify(payload)
  })

type AnyGroups = Readonly<
  Record<string, { readonly endpoints: Readonly<Record<string, Parameters<typeof request>[0]>> }>
>

export const wire = Records.map(BerthApi.groups as AnyGroups, ({ endpoints }) =>
  Records.map(endpoints, request)
) as unknown as Wire
