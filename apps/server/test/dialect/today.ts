/** Helpers for tests of today's dialect: calls to a place, a plan of the catalogue, and the shapes of the vectors. */
import { readFileSync } from "node:fs"
import { Effect } from "effect"
import { TestServer } from "../../src/testing.ts"
import { callAs, type CallOptions, type Reply } from "../http/service.ts"

export const delhi = { project_id: 1, location: "Delhi" }

/** A call to a place; Delhi of project 1 by default. */
export const at =
  (place: CallOptions["query"] = delhi) =>
  (method: string, path: string, options: CallOptions = {}): Effect.Effect<Reply, never, TestServer> =>
    Effect.flatMap(TestServer, (server) =>
      callAs(server, method, path, { ...options, query: { ...place, ...options.query } })
    )

export const call = at()

/** A record of the catalogue that shows this SKU; with Ubuntu. */
export const offer = (sku: string, place: CallOptions["query"] = delhi) =>
  Effect.map(at(place)("GET", "/images/", { query: { os: "Ubuntu" } }), ({ json }) =>
    json.data.find(({ name }: { name: string }) => name === sku)
  )

/** The body of a create on a plan of that SKU. */
export const bodyOf = (name: string, sku = "C3.8GB", place: CallOptions["query"] = delhi) =>
  Effect.map(offer(sku, place), ({ image, plan }) => ({ name, plan, image }))

export const create = (name: string, more: object = {}, place: CallOptions["query"] = delhi) =>
  Effect.flatMap(bodyOf(name, "C3.8GB", place), (body) => at(place)("POST", "/nodes/", { body: { ...body, ...more } }))

interface Vector {
  readonly name: string
  readonly status: number
  readonly body: any
}

const vectors: ReadonlyArray<Vector> = JSON.parse(
  readFileSync(new URL("../../../../packages/testing/vectors/service-today.json", import.meta.url), "utf8")
)

export const vector = (name: string): Vector => {
  const found = vectors.find((one) => one.name === name)
  if (found === undefined) throw new Error(`There is no vector ${name}.`)
  return found
}

/** The type of a value; the numbers zero and one are numbers, an empty list is a list of anything. */
export const shapeOf = (value: unknown): unknown => {
  if (value === null) return "null"
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])]
  if (typeof value !== "object") return typeof value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shapeOf(part)]))
}
