import committed from "@berthkit/core/openapi.json" with { type: "json" }
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../src/testing.ts"
import { allowanceOf, errorsOf, send } from "../http/service.ts"

layer(TestServer.layer())("the icon that browsers ask for by themselves", (it) => {
  it.effect("is none, at no cost and outside the journal", () =>
    Effect.gen(function* () {
      const { baseUrl, journal } = yield* TestServer
      const first = yield* send(`${baseUrl}/favicon.ico`)
      const { headers, status, text } = yield* send(`${baseUrl}/favicon.ico`)
      expect([status, text, headers.get("ratelimit-remaining")]).toEqual([
        204,
        "",
        first.headers.get("ratelimit-remaining")
      ])
      expect(yield* journal).toEqual([])
    })
  )
})

layer(TestServer.layer())("the pages about the service", (it) => {
  it.effect("the description and the page about the service need no credentials and cost nothing", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const before = allowanceOf((yield* send(`${server.baseUrl}/nope`)).headers)
      const description = yield* send(`${server.baseUrl}/openapi.json`)
      expect(description.json).toEqual(committed)
      const page = yield* send(`${server.baseUrl}/docs`)
      expect([page.status, page.headers.get("content-type")]).toEqual([200, expect.stringContaining("text/html")])
      expect(allowanceOf((yield* send(`${server.baseUrl}/nope`)).headers)[1]).toBe(before[1]! - 1)
    })
  )
})

layer(TestServer.layer())("the address of the service alone", (it) => {
  it.effect("leads a browser to the page about the service, at no cost; others get the envelope", () =>
    Effect.gen(function* () {
      const { baseUrl, journal } = yield* TestServer
      const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
      for (const method of ["GET", "HEAD"]) {
        const { headers, status } = yield* send(`${baseUrl}/`, { method, headers: { accept } })
        expect([status, headers.get("location")]).toEqual([302, "/docs"])
      }
      expect(yield* journal).toEqual([])
      for (const init of [{}, { headers: { accept: "application/json" } }, { method: "POST", headers: { accept } }]) {
        errorsOf(yield* send(`${baseUrl}/`, init), 404)
      }
      expect((yield* journal).length).toBe(3)
    })
  )
})
