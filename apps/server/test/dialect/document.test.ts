import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../src/testing.ts"
import { send } from "../http/service.ts"
import { create, shapeOf, vector } from "./today.ts"

const describedAt = (path: string) => Effect.flatMap(TestServer, ({ baseUrl }) => send(`${baseUrl}${path}`))

layer(TestServer.layer({ dialect: "today" }))("the description of today's dialect", (it) => {
  it.effect("has a project and a location in the query of every operation", () =>
    Effect.gen(function* () {
      const { json } = yield* describedAt("/openapi.json")
      const operations = Object.values<any>(json.paths).flatMap((path) => Object.values<any>(path))
      expect(operations.length).toBe(7)
      for (const { description, operationId, parameters, responses } of operations) {
        const required = parameters.filter((one: any) => one.required && one.in === "query").map((one: any) => one.name)
        expect([operationId, required]).toEqual([operationId, ["project_id", "location"]])
        expect(description).toMatch(/\((observed: [a-z0-9+, ]+|chosen)\)/)
        expect(Object.keys(responses).filter((status) => ["202", "204", "409", "422"].includes(status))).toEqual([])
      }
    })
  )

  it.effect("calls nothing observed that nobody has seen, in the description and on the page", () =>
    Effect.gen(function* () {
      for (const path of ["/openapi.json", "/docs"]) {
        const { text } = yield* describedAt(path)
        expect(text).not.toMatch(/\bguess/)
        expect(text).toMatch(/The rate limit and its headers\. No client shows any\. \(documented\)/)
        expect(text).toMatch(/By ascending id; .{0,90} plays the other order\. \(chosen\)/)
      }
    })
  )

  it.effect("says of each statement how sure it is, and nothing is documented that is not so any more", () =>
    Effect.gen(function* () {
      const { json } = yield* describedAt("/openapi.json")
      expect(json.info.description).toContain("(observed: spec, 2+)")
      expect(json.info.description).toContain("`live` means that somebody saw it on the service")
      const create = json.paths["/myaccount/api/v1/nodes/"].post
      const { properties } = create.requestBody.content["application/json"].schema
      expect(properties.disk.description).toContain("(observed: spec, 2+)")
      expect(properties.ssh_keys.description).toContain("(observed: live)")
      expect(properties.backups.description).toContain("(documented: interface.md")
      const list = json.paths["/myaccount/api/v1/images/"].get.parameters.map(({ name }: any) => name)
      expect([list.includes("osversion"), list.includes("version")]).toEqual([true, false])
    })
  )

  it.effect("has examples in the shapes of the service, and refers to nothing that is not there", () =>
    Effect.gen(function* () {
      const { json, text } = yield* describedAt("/openapi.json")
      const exampleOf = (path: string, method: string) =>
        json.paths[`/myaccount/api/v1${path}`][method].responses[200].content["application/json"].example
      expect(shapeOf(exampleOf("/nodes/", "get"))).toEqual(shapeOf(vector("list-2026").body))
      expect(exampleOf("/update_committed_node_status/", "post")).toEqual(vector("commitment-200").body)
      expect(Object.keys(exampleOf("/nodes/", "post").data)).toEqual(Object.keys((yield* create("like-it")).json.data))
      for (const [, kind, name] of text.matchAll(/#\/components\/(\w+)\/([\w-]+)/g)) {
        expect(json.components[kind!]).toHaveProperty(name!)
      }
      for (const kind of ["headers", "responses", "schemas"]) {
        const unused = Object.keys(json.components[kind]).filter(
          (name) => !text.includes(`"#/components/${kind}/${name}"`)
        )
        expect([kind, unused]).toEqual([kind, []])
      }
    })
  )

  it.effect("is what the docs page shows", () =>
    Effect.gen(function* () {
      const { status, text } = yield* describedAt("/docs")
      expect([status, text.includes("(observed: spec, 2+)"), text.includes("osversion")]).toEqual([200, true, true])
    })
  )
})
