/**
 * What the tests of the control plane share: plain calls to it, and plain calls to the service in a world of one's own.
 */
import { assert } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestServer, type TestWorld } from "../../src/testing.ts"
import { nodeOf, prefix, type Reply, send } from "../http/service.ts"

const json = (method: string, body: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit => ({
  method,
  headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
  ...(body === undefined ? {} : { body: JSON.stringify(body) })
})

/** One request to the control plane, without any credentials. */
export const control = (method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) =>
  Effect.flatMap(TestServer, ({ baseUrl }) => send(`${baseUrl}/_mock${path}`, json(method, body, headers)))

/** One request to the service, as the account of a world. */
export const asWorld = (
  world: Pick<TestWorld, "baseUrl" | "apiKey" | "accessToken">,
  method: string,
  path: string,
  body?: unknown
): Effect.Effect<Reply> => {
  const url = new URL(world.baseUrl + prefix + path)
  url.searchParams.set("apikey", Redacted.value(world.apiKey))
  return send(url, json(method, body, { authorization: `Bearer ${Redacted.value(world.accessToken)}` }))
}

/** Creates a node in a world and gives its id. */
export const createIn = (world: TestWorld, name: string): Effect.Effect<number> =>
  Effect.map(asWorld(world, "POST", "/nodes/", nodeOf(name)), (reply) => {
    assert(reply.status === 202, reply.text)
    return reply.json.data.id
  })

/** The status a node of a world shows, `404` once it is gone. */
export const statusIn = (world: TestWorld, id: number): Effect.Effect<string> =>
  Effect.map(asWorld(world, "GET", `/nodes/${id}/`), ({ json: body, status }) =>
    status === 200 ? body.data.status : String(status)
  )
