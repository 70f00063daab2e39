/** Helpers for tests of the control plane: plain calls to it, and plain calls to the service in a separate world. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer, type TestWorld } from "../../src/testing.ts"
import { callAs, nodeOf, send, withJson } from "../http/service.ts"

/** One request to the control plane of a server, without any credentials. */
export const controlAt = (
  { baseUrl }: Pick<TestWorld, "baseUrl">,
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>
) => send(`${baseUrl}/_mock${path}`, withJson(method, body, headers))

/** One request to the control plane of the service under test. */
export const control = (method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) =>
  Effect.flatMap(TestServer, (server) => controlAt(server, method, path, body, headers))

/** Creates a node in a world and returns its id. */
export const createIn = (world: TestWorld, name: string): Effect.Effect<number> =>
  Effect.map(callAs(world, "POST", "/nodes/", { body: nodeOf(name) }), (reply) => {
    assert(reply.status === 202, reply.text)
    return reply.json.data.id
  })

/** The status that a node of a world shows; `404` once the node is gone. */
export const statusIn = (world: TestWorld, id: number): Effect.Effect<string> =>
  Effect.map(callAs(world, "GET", `/nodes/${id}/`), ({ json: body, status }) =>
    status === 200 ? body.data.status : String(status)
  )
