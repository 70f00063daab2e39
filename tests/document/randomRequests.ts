/**
 * Random requests to the endpoints of the interface, for a validating proxy. They are well-formed HTTP and JSON, with valid, slightly wrong
 * or invalid values. The same seed gives the same requests.
 */
import { CommitmentUpdate } from "@berthkit/core/api/CommitmentsGroup"
import { NodeCreation } from "@berthkit/core/api/NodeRecords"
import { prefix } from "@berthkit/core/api/Routes"
import { Arbitrary, Effect, Schema } from "effect"
import fc from "fast-check"

export interface RandomRequest {
  readonly method: string
  /** The path with the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** A sample of values that the schema allows. */
const valuesOf = (schema: Schema.Top, seed: number) =>
  Effect.map(Arbitrary.sampleEffect(Arbitrary.schema(Schema.toEncoded(schema)), { count: 100, seed }), (values) =>
    fc.constantFrom<unknown>(...values)
  )

const order = { name: "random", region: "ncr", plan: "C-4VCPU-16RAM-100DISK", image: "Ubuntu-24.04" }

/** The object with a random JSON value in one of these fields. */
const bent = (object: object, fields: ReadonlyArray<string>) =>
  fc.tuple(fc.constantFrom(...fields), fc.jsonValue()).map(([field, value]) => ({ ...object, [field]: value }))

const wholeNumber = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer()).map(String)
const word = fc.oneof(
  fc.constantFrom("", "1.5", "1e1", "C", "Ubuntu", "22.04", "public", "private", "Public"),
  fc.string({ maxLength: 10 })
)

/** Up to three of these parameters. */
const queryOf = (...names: readonly [string, ...Array<string>]) =>
  fc.uniqueArray(fc.tuple(fc.constantFrom(...names), fc.oneof(wholeNumber, word)), {
    maxLength: 3,
    selector: ([name]) => name
  })

const noQuery = fc.constant<ReadonlyArray<readonly [string, string]>>([])

/** The credentials. Sometimes one of them is missing or wrong. */
const credentials = (apiKey: string, accessToken: string) =>
  fc.oneof(
    { weight: 9, arbitrary: fc.constant([apiKey, accessToken] as const) },
    fc.constantFrom([null, accessToken] as const, [apiKey, null] as const, ["wrong", "wrong"] as const)
  )

/** Makes `count` requests for an account whose nodes have these `ids`. */
export const randomRequests = Effect.fnUntraced(function* (
  seed: number,
  count: number,
  account: { readonly apiKey: string; readonly accessToken: string; readonly ids: ReadonlyArray<number> }
) {
  const id = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...account.ids).map(String) }, wholeNumber, word)
  const node = id.map((id) => `/nodes/${encodeURIComponent(id)}/`).filter((path) => path !== "/nodes//")
  const setting = { vcn_id: account.ids[0], node_status: "hourly_billing" }
  const creation = fc.oneof(
    fc.constant(order),
    bent(order, Object.keys(NodeCreation.fields)),
    yield* valuesOf(NodeCreation, seed)
  )
  const update = fc.oneof(
    fc.constantFrom(...account.ids).map((vcn_id) => ({ ...setting, vcn_id })),
    bent(setting, Object.keys(CommitmentUpdate.fields)),
    yield* valuesOf(CommitmentUpdate, seed),
    fc.jsonValue()
  )
  const noBody = fc.constant(undefined)
  const endpoint = (
    method: string,
    path: fc.Arbitrary<string> | string,
    query: typeof noQuery,
    body: fc.Arbitrary<unknown>
  ) =>
    fc.record({ method: fc.constant(method), path: typeof path === "string" ? fc.constant(path) : path, query, body })
  const call = fc.oneof(
    endpoint("POST", "/nodes/", noQuery, creation),
    endpoint("GET", "/nodes/", queryOf("page_no", "page", "per_page", "project_id"), noBody),
    endpoint("GET", node, noQuery, noBody),
    endpoint("DELETE", node, noQuery, noBody),
    endpoint("POST", "/update_committed_node_status/", noQuery, update),
    endpoint("GET", "/images/", queryOf("image_type", "cpu", "ram", "series", "os", "version"), noBody),
    endpoint("GET", "/images/saved-images/", queryOf("image_type"), noBody)
  )
  const mediaType = fc.oneof({ weight: 19, arbitrary: fc.constant("application/json") }, fc.constant("text/plain"))
  const request = fc
    .tuple(call, credentials(account.apiKey, account.accessToken), mediaType)
    .map(([{ body, method, path, query }, [key, token], contentType]): RandomRequest => {
      const search = new URLSearchParams([
        ...(key === null ? [] : [["apikey", key]]),
        ...query.map((pair) => [...pair])
      ])
      return {
        method,
        path: `${prefix}${path}?${search}`,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { "content-type": contentType })
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      }
    })
  return fc.sample(request, { seed, numRuns: count })
})
