import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../src/testing.ts"
import { nodeOf, prefix, send } from "./service.ts"

/**
 * An unmodified client of this family of services, as plain requests: it names a project and a location on every request,
 * repeats the key in a header, asks for no page, and reads an envelope after a delete.
 */
layer(TestServer.layer({ deleteStyle: "enveloped", scenario: "small" }))(
  "a client that is not changed for this mock",
  (it) => {
    const ask = (method: string, path: string, body?: unknown) =>
      Effect.flatMap(TestServer, ({ baseUrl }) =>
        send(`${baseUrl}${prefix}${path}?apikey=berth-key&project_id=8812&location=Delhi`, {
          method,
          headers: {
            authorization: "Bearer berth-token",
            "x-api-key": "berth-key",
            "content-type": "application/json",
            "user-agent": "someones-client/1.4"
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) })
        })
      )
    const success = { message: "Success", code: 200, errors: {} }

    it.effect("creates, lists, reads and deletes, with an envelope every time", () =>
      Effect.gen(function* () {
        const order = {
          ...nodeOf("theirs"),
          label: "default",
          ssh_keys: "ab:cd",
          reserve_ip: "",
          ngc_container_id: null
        }
        const created = yield* ask("POST", "/nodes/", order)
        expect([created.status, created.json]).toEqual([
          202,
          { ...success, data: expect.objectContaining({ name: "theirs" }) }
        ])
        const { id } = created.json.data
        const list = yield* ask("GET", "/nodes/")
        expect([list.status, list.json.data.length]).toEqual([200, 6])
        expect((yield* ask("GET", `/nodes/${id}/`)).json).toEqual({ ...success, data: expect.objectContaining({ id }) })
        const deleted = yield* ask("DELETE", `/nodes/${id}/`)
        expect([deleted.status, deleted.json]).toEqual([200, { ...success, data: {} }])
        expect(deleted.headers.get("content-type")).toBe("application/json")
        expect((yield* ask("GET", "/images/")).json.data.length).toBeGreaterThan(12)
        expect((yield* ask("GET", "/images/saved-images/")).json.data.length).toBe(2)
      })
    )
  }
)
