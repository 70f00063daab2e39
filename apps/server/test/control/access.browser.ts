import { readFileSync } from "node:fs"
import { HttpService } from "@berthkit/testing/HttpService"
import { describe, expect, it } from "@effect/vitest"
import { visit } from "@berthkit/testing/browser"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { serve } from "../cli/berthServer.ts"

/** A form that a page can send to any address. */
const formTo = (action: string) =>
  `<form method="post" enctype="text/plain" action="${action}"><button>Go</button></form>`

/** A web server of another origin, reachable under any name. Its page has a form that is sent to `action`. */
const otherSite = (action: string) =>
  Effect.map(
    HttpService.start((_request, response) => {
      response.writeHead(200, { "content-type": "text/html" }).end(`<!doctype html>${formTo(action)}`)
    }),
    ({ url }) => Number(new URL(url).port)
  )

/** The state of the server that the control plane shows to a program. */
const stateOf = (url: string) =>
  Effect.promise(async () => {
    const read = async (path: string): Promise<any> => (await fetch(`${url}/_mock${path}`)).json()
    const { requests } = await read("/worlds/default/requests")
    const { allowance: _, ...snapshot } = await read("/worlds/default/snapshot")
    return {
      worlds: (await read("/worlds")).map(({ id }: { id: string }) => id),
      snapshot,
      // A page's request to the service is in the journal, and the service refuses it.
      requests: requests.filter(({ status }: { status: number }) => status < 400)
    }
  })

const hostilePage = readFileSync(new URL("hostilePage.js", import.meta.url), "utf8")

/** The strings that the page could read. */
const attack = (page: Page, url: string) =>
  Effect.promise(() => page.evaluate<ReadonlyArray<string>>(`${hostilePage}; attack("${url}")`))

describe("a page of another origin", () => {
  for (const name of ["localhost", "evil.test"]) {
    it.live(`on ${name} changes nothing and reads nothing`, () =>
      Effect.gen(function* () {
        const { ready } = yield* serve([
          "--port",
          "0",
          "--clock",
          "frozen",
          "--scenario",
          "small",
          "--auth",
          "key-only"
        ])
        const url = ready.url.replace("127.0.0.1", "localhost")
        const before = yield* stateOf(ready.url)
        const port = yield* otherSite(`${url}/_mock/worlds/default/reset`)
        const { page } = yield* visit(`http://${name}:${port}/`)
        expect(yield* attack(page, url)).toEqual([])
        const replied = page.waitForResponse(
          (reply) => reply.url().endsWith("/reset") && reply.request().isNavigationRequest()
        )
        yield* Effect.promise(() => page.getByRole("button", { name: "Go" }).click())
        expect((yield* Effect.promise(() => replied)).status()).toBe(403)
        expect(yield* stateOf(ready.url)).toEqual(before)
      })
    )
  }

  it.live("whose name resolves to this machine changes nothing and reads nothing", () =>
    Effect.gen(function* () {
      const { ready } = yield* serve(["--port", "0", "--clock", "frozen", "--scenario", "small"])
      const rebound = ready.url.replace("127.0.0.1", "rebound.test")
      const before = yield* stateOf(ready.url)
      // Outside the control plane the server answers under any name, so the page begins there.
      const { page } = yield* visit(`${rebound}/openapi.json`)
      expect(yield* attack(page, rebound)).toEqual([])
      const shell = yield* Effect.promise(() => page.goto(`${rebound}/_mock/`))
      expect(shell?.status()).toBe(403)
      expect(yield* stateOf(ready.url)).toEqual(before)
    })
  )

  it.live("may link to the page of the worlds, which works", () =>
    Effect.gen(function* () {
      const { ready } = yield* serve(["--port", "0", "--clock", "frozen", "--scenario", "small"])
      const port = yield* otherSite("")
      const { page } = yield* visit(`http://evil.test:${port}/`)
      yield* Effect.promise(() => page.evaluate(`location.assign("${ready.url}/_mock/")`))
      yield* Effect.promise(() => page.getByRole("row", { name: "database" }).waitFor())
      yield* Effect.promise(() => page.getByText("live", { exact: true }).waitFor())
      yield* Effect.promise(() => page.getByRole("button", { name: "Advance" }).click())
      yield* Effect.promise(() => page.getByText("Now 2026-01-01", { exact: false }).waitFor())
    })
  )
})
